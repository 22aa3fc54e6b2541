/**
 * Fantail against a fan-out written by hand with BullMQ, and against no queue at all: one run, one machine, the same
 * receiver, the same publishers, the same Redis settings. Contestants take turns within a round, so that whatever else
 * the machine does meets all of them. See USAGE in options.ts.
 */
import type { ChildProcess } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { endAll, endOnSignals, startOwn } from './children.ts'
import { type Contestant, type Load, type Name, START } from './contestants.ts'
import { profileReport } from './cpu-profile.ts'
import { ask } from './ipc.ts'
import { type Measurement, measure } from './measure.ts'
import { type BenchOptions, readOptions } from './options.ts'
import { commandReport, removeAllData } from './redis.ts'
import { jsonLine, tables } from './report.ts'
import { type Rounds, sum } from './summary.ts'

const CONNECTIONS = 64
const BODY_BYTES = 1_024

interface Stage {
  options: BenchOptions
  receiver: ChildProcess
  receiverPort: number
  publishers: ChildProcess
}

/** Every contestant once, each on processes and a Redis of its own; the scenarios share them. */
async function runRound(stage: Stage, round: number, scenarios: Map<number, Rounds>): Promise<void> {
  const { options, receiverPort, publishers } = stage
  for (const name of options.names) {
    const contestant = await START[name]({ receiverPort, publishers, profileDir: options.profileDir })
    for (const [fanOut, rounds] of scenarios) {
      const measured = await measureOne(stage, { name, contestant, fanOut })
      rounds[name] = [...(rounds[name] ?? []), measured]
      tell(`round ${round}, fan-out ${fanOut}, ${name}: ${brief(measured)}`)
    }
    if (options.profileDir && contestant.redisUrl) {
      tell(`Redis of ${name}:\n${await commandReport(contestant.redisUrl)}`)
    }
    await contestant.stop()
  }
}

interface Turn {
  name: Name
  contestant: Contestant
  fanOut: number
}

function measureOne({ options, receiver }: Stage, { name, contestant, fanOut }: Turn): Promise<Measurement> {
  const load = (seconds: number): Load => ({
    connections: CONNECTIONS,
    bodyBytes: BODY_BYTES,
    durationMs: seconds * 1_000,
  })
  return measure({
    contestant,
    receiver,
    fanOut,
    direct: name === 'bare',
    warmUp: load(options.warmUpSeconds),
    load: load(options.seconds),
  })
}

function brief({ deliveriesPerSecond, publishesPerSecond, drainSeconds, ...measured }: Measurement): string {
  const { lost, duplicates, refused, cpuMicros } = measured
  const micros = Object.entries(cpuMicros).map(([process, value]) => `${process} ${value.toFixed(0)}`)
  const amiss =
    lost + duplicates + refused > 0 ? `; ${lost} lost, ${duplicates} twice, ${refused} refused` : ''
  return (
    `${deliveriesPerSecond.toFixed(0)} deliveries/s, ${publishesPerSecond.toFixed(0)} requests/s, ` +
    `drained in ${drainSeconds.toFixed(1)} s, CPU µs: ${micros.join(', ')}${amiss}`
  )
}

function conditions({ rounds, seconds }: BenchOptions): string {
  const cores = availableParallelism()
  return (
    `${rounds} x ${seconds} s of publishing by ${CONNECTIONS} connections, bodies of ${BODY_BYTES} bytes, Redis with ` +
    `appendfsync always; Node ${process.versions.node}, ${cores} cores (${cpus()[0]?.model ?? 'unknown'}).`
  )
}

/** Progress goes to stderr, results alone to stdout. */
function tell(text: string): void {
  console.error(text)
}

async function bench(options: BenchOptions): Promise<number> {
  const receiver = await startOwn('./receiver-process.ts')
  const publishers = await startOwn('./publishers-process.ts')
  const stage = { options, receiver, publishers, receiverPort: await ask<number>(receiver, 'port') }
  const scenarios = new Map<number, Rounds>(options.fanOuts.map((fanOut) => [fanOut, {}]))
  for (let round = 1; round <= options.rounds; round++) await runRound(stage, round, scenarios)
  const named = new Map(Array.from(scenarios, ([fanOut, rounds]) => [`fanout-${fanOut}`, rounds]))
  if (options.json) for (const [name, rounds] of named) console.log(jsonLine(name, rounds))
  else console.log(`\n${tables(named)}\n\n${conditions(options)}`)
  if (options.profileDir) tellProfiles(options.profileDir)
  return [...named.values()].some(({ fantail }) => sum(fantail, 'lost') > 0) ? 1 : 0
}

function tellProfiles(dir: string): void {
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.cpuprofile'))) {
    tell(profileReport(join(dir, file)))
  }
}

endOnSignals(removeAllData)
try {
  process.exitCode = await bench(readOptions(process.argv.slice(2)))
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
} finally {
  await endAll()
  await removeAllData()
}
