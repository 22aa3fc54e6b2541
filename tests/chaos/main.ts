/** `npm run test:chaos` runs one seed for some minutes, or all faults that stay, one after the other. */
import { parseArgs } from 'node:util'
import { LASTING_FAULTS } from './lasting/lasting-faults.ts'
import { runLasting } from './lasting/lasting-run.ts'
import { createSchedule, scheduleLines } from './plan/schedule.ts'
import { runChaos } from './run.ts'

const USAGE = `usage: npm run test:chaos -- [options]
  --seed N      whole number that determines all inputs and faults; default: one by the clock
  --minutes M   length of the schedule (1), or of each lasting fault (5)
  --print       the schedule alone, a line of JSON per step
  --lasting     each fault stays until the run has judged
  --fault NAME  only this one of the lasting faults
  --keep        the folder of the run stays, also when it is good`

/** All other processes of the run end when this process ends. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(`chaos: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

async function main(words: string[]): Promise<number> {
  const { values } = parseArgs({
    // `pnpm test:chaos -- --seed 1` and `npm run test:chaos -- --seed 1` mean the same.
    args: words.filter((word) => word !== '--'),
    options: {
      seed: { type: 'string', default: String(Math.floor(Date.now() / 1_000) % 1_000_000) },
      minutes: { type: 'string' },
      lasting: { type: 'boolean', default: false },
      fault: { type: 'string' },
      print: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  })
  const seed = Number(values.seed)
  const minutes = Number(values.minutes ?? (values.lasting ? 5 : 1))
  if (!Number.isInteger(seed) || !(minutes > 0)) throw new Error(USAGE)
  if (values.lasting)
    return runAllLasting(values.fault ? [values.fault] : Object.keys(LASTING_FAULTS), minutes)
  const schedule = createSchedule(seed, minutes * 60)
  if (values.print) {
    console.log(scheduleLines(schedule).join('\n'))
    return 0
  }
  const { inputs, faults, replicated } = schedule
  console.log(
    `chaos: seed ${seed}, ${minutes} min, ${inputs.length} inputs, ${faults.length} faults${replicated ? ', with a replica' : ''}`,
  )
  const { findings, folder, account, rounds, throttles, settleSeconds } = await runChaos(schedule, {
    keep: values.keep,
  })
  if (account) {
    const { accepted, unknown, refused } = account
    const owed = Object.values(account.endpoints).reduce((sum, endpoint) => sum + endpoint.owed, 0)
    const fullest = Object.fromEntries(throttles.map(({ name, most, max }) => [name, `${most} of ${max}`]))
    const beside = Object.fromEntries(rounds.map(({ hung, tookMs }) => [hung, `${Math.round(tookMs)} ms`]))
    const unknowns = Object.values(account.endpoints).reduce((sum, { lostTrack }) => sum + lostTrack, 0)
    const figures = {
      accepted,
      unknown,
      refused,
      owed,
      ...account.counted,
      ...fullest,
      settleSeconds,
      unknowns,
      beside,
    }
    console.log(JSON.stringify(figures))
  }
  for (const finding of findings) console.log(`chaos: ${finding}`)
  if (findings.length > 0 || values.keep) console.log(`chaos: what happened is in ${folder}`)
  console.log(`chaos: seed ${seed} ${findings.length === 0 ? 'kept every promise' : 'broke a promise'}`)
  return findings.length === 0 ? 0 : 1
}

async function runAllLasting(names: string[], minutes: number): Promise<number> {
  let isGood = true
  for (const name of names) {
    const problem = LASTING_FAULTS[name]?.problem?.()
    if (problem) {
      console.log(`chaos: ${name} is skipped: ${problem}`)
      continue
    }
    const { findings, folder, ...figures } = await runLasting(name, minutes * 60_000)
    console.log(`chaos: ${name} for ${minutes} min: ${JSON.stringify(figures)}`)
    for (const finding of findings) console.log(`chaos: ${name}: ${finding}`)
    if (findings.length === 0) continue
    isGood = false
    console.log(`chaos: what happened is in ${folder}`)
  }
  console.log(`chaos: lasting faults ${isGood ? 'kept every promise' : 'broke a promise'}`)
  return isGood ? 0 : 1
}
