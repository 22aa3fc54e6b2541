/**
 * Compares Fantail with a fan-out written by hand with BullMQ, and with a loop without a queue. All use the same
 * machine, receiver, publishers and Redis settings in one run. Contestants take turns, so that other load of the
 * machine affects all alike.
 */
import type { ChildProcess } from 'node:child_process'
import { availableParallelism, cpus } from 'node:os'
import { commandReport } from '../processes/bench-redis.ts'
import { end, startOwn } from '../processes/children.ts'
import { profileReports } from '../processes/cpu-profile.ts'
import { ask } from '../processes/ipc.ts'
import type { Rounds } from '../report/summary.ts'
import type { Contestant, Load, Name } from './contestant.ts'
import { START } from './contestants.ts'
import { type Measurement, measure } from './measure.ts'

const CONNECTIONS = 64
const BODY_BYTES = 1_024
/** A receiver accepts fewer deliveries than this. More publishes would only make the last phase longer. */
const DELIVERIES_PER_SECOND_MAX = 60_000

export interface ContestOptions {
  rounds: number
  seconds: number
  /** Duration of the warm-up of each contestant in each scenario, before the first round. */
  warmUpSeconds: number
  /** A round does not begin if it would end after this time. */
  budgetSeconds: number
  fanOuts: number[]
  names: Name[]
  /** Folder of the tree of the contestant `earlier`. */
  earlierTree?: string | undefined
  profileDir: string | undefined
  /** Progress, for people. */
  report: (text: string) => void
}

interface Stage {
  options: ContestOptions
  receiver: ChildProcess
  publishers: ChildProcess
  contestants: Map<Name, Contestant>
}

/** Starts all contestants at once. A contestant without load does not disturb the measurement of another. */
async function setUp(options: ContestOptions): Promise<Stage> {
  const receiver = await startOwn('./receiver-process.ts')
  const publishers = await startOwn('./publishers-process.ts')
  const receiverPort = await ask<number>(receiver, 'port')
  const contestants = new Map<Name, Contestant>()
  for (const name of options.names) {
    const { profileDir, earlierTree } = options
    contestants.set(name, await START[name]({ receiverPort, publishers, profileDir, earlierTree }))
  }
  return { options, receiver, publishers, contestants }
}

/**
 * Runs every scenario once for every contestant. All contestants of one scenario run directly one after the other,
 * because they are compared.
 */
async function runRound(stage: Stage, seconds: number, done: (lap: Lap, measured: Measurement) => void) {
  for (const fanOut of stage.options.fanOuts) {
    for (const [name, contestant] of stage.contestants) {
      const direct = name === 'bare'
      // A loop without a queue needs little time to reach a steady rate.
      const load = direct ? loadFor(seconds / 2, 1) : loadFor(seconds, fanOut)
      const measured = await measure({ contestant, receiver: stage.receiver, fanOut, direct, load })
      done({ name, fanOut }, measured)
    }
  }
}

interface Lap {
  name: Name
  fanOut: number
}

function loadFor(seconds: number, fanOut: number): Load {
  return {
    connections: CONNECTIONS,
    bodyBytes: BODY_BYTES,
    durationMs: seconds * 1_000,
    requestsMax: Math.ceil((seconds * DELIVERIES_PER_SECOND_MAX) / fanOut),
  }
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

export function conditions({ seconds }: ContestOptions, scenarios: Map<string, Rounds>): string {
  const cores = availableParallelism()
  const rounds = Object.values([...scenarios.values()][0] ?? {})[0]?.length ?? 0
  return (
    `Medians (min–max) of ${rounds} x ${seconds} s of publishing by ${CONNECTIONS} connections, bodies of ${BODY_BYTES} bytes, Redis with ` +
    `appendfsync always; Node ${process.versions.node}, ${cores} cores (${cpus()[0]?.model ?? 'unknown'}).`
  )
}

/** Every scenario's rounds, by its name. */
export async function contest(options: ContestOptions): Promise<Map<string, Rounds>> {
  const { report } = options
  const stage = await setUp(options)
  await runRound(stage, options.warmUpSeconds, ({ name, fanOut }, measured) => {
    report(`warm-up, fan-out ${fanOut}, ${name}: ${brief(measured)}`)
  })
  const scenarios = new Map<string, Rounds>(options.fanOuts.map((fanOut) => [`fanout-${fanOut}`, {}]))
  for (let round = 1; round <= options.rounds; round++) {
    const startedAt = performance.now()
    await runRound(stage, options.seconds, ({ name, fanOut }, measured) => {
      const rounds = scenarios.get(`fanout-${fanOut}`) ?? {}
      rounds[name] = [...(rounds[name] ?? []), measured]
      report(`round ${round}, fan-out ${fanOut}, ${name}: ${brief(measured)}`)
    })
    // The time since the start, plus the time that this round took.
    const nextEndsMs = 2 * performance.now() - startedAt
    if (nextEndsMs > options.budgetSeconds * 1_000) break
  }
  await tearDown(stage)
  return scenarios
}

async function tearDown({
  options: { profileDir, report },
  receiver,
  publishers,
  contestants,
}: Stage): Promise<void> {
  for (const [name, contestant] of contestants) {
    if (profileDir && contestant.redis) {
      report(`Redis of ${name}:\n${await commandReport(contestant.redis.url)}`)
    }
    await contestant.stop()
  }
  await Promise.all([end(receiver), end(publishers)])
  if (profileDir) report(profileReports(profileDir))
}
