/** `npm run test:chaos` runs one seed for some minutes. */
import { parseArgs } from 'node:util'
import { createSchedule, scheduleLines } from './plan/schedule.ts'
import { runChaos } from './run.ts'

const USAGE = `usage: npm run test:chaos -- [options]
  --seed N      whole number that determines all inputs and faults; default: one by the clock
  --minutes M   length of the schedule (1)
  --print       the schedule alone, a line of JSON per step
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
      minutes: { type: 'string', default: '1' },
      print: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  })
  const seed = Number(values.seed)
  const minutes = Number(values.minutes)
  if (!Number.isInteger(seed) || !(minutes > 0)) throw new Error(USAGE)
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
