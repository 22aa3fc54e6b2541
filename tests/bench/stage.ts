/**
 * Common parts of the scenarios of throughput and cost: a receiver, publishers, Fantails to compare, and laps of equal
 * work.
 */
import type { ChildProcess } from 'node:child_process'
import type { Contestant, Load } from './contest/contestant.ts'
import { type FantailOptions, startFantail } from './contest/fantail.ts'
import { type Measurement, measure } from './contest/measure.ts'
import { commandReport } from './processes/bench-redis.ts'
import { end, startOwn } from './processes/children.ts'
import { profileReports } from './processes/cpu-profile.ts'
import { ask } from './processes/ipc.ts'
import type { ScenarioOptions } from './scenario.ts'

export const CONNECTIONS = 64
export const BODY_BYTES = 1_024
/** A lap is a fixed amount of work, not of time. This limit only ends a lap that would never end. */
const TURN_MS_MAX = 60_000

export interface Stage {
  receiver: ChildProcess
  publishers: ChildProcess
  receiverPort: number
}

/** Runs `use` between start and end of receiver and publishers. */
export async function withStage<T>(use: (stage: Stage) => Promise<T>): Promise<T> {
  const [receiver, publishers] = await Promise.all([
    startOwn('./receiver-process.ts'),
    startOwn('./publishers-process.ts'),
  ])
  try {
    return await use({ receiver, publishers, receiverPort: await ask<number>(receiver, 'port') })
  } finally {
    await Promise.all([end(receiver), end(publishers)])
  }
}

export type Settings = Pick<
  FantailOptions,
  'env' | 'topic' | 'subscription' | 'services' | 'tree' | 'webhookKeys'
>

export function fantailOn(stage: Stage, { profileDir }: ScenarioOptions, settings: Settings = {}) {
  return startFantail({ ...stage, profileDir, ...settings })
}

/** Ends the Fantail, and prints its profiles if there are any. */
export async function endFantail(
  fantail: Contestant,
  { profileDir, report }: ScenarioOptions,
): Promise<void> {
  if (profileDir && fantail.redis) report(`Redis:\n${await commandReport(fantail.redis.url)}`)
  await fantail.stop()
  if (profileDir) report(profileReports(profileDir))
}

interface Lap {
  fanOut: number
  deliveries: number
  /** Messages in a request. If it is absent, each request publishes one message by its own route. */
  batch?: number
}

/** Publishes as fast as possible until enough deliveries are under way, and waits for the last one. */
export async function lap(
  { receiver }: Stage,
  contestant: Contestant,
  { fanOut, deliveries, batch }: Lap,
): Promise<Measurement> {
  const load: Load = {
    connections: CONNECTIONS,
    bodyBytes: BODY_BYTES,
    durationMs: TURN_MS_MAX,
    requestsMax: Math.max(1, Math.round(deliveries / fanOut / (batch ?? 1))),
    ...(batch === undefined ? {} : { batch }),
  }
  const measured = await measure({ contestant, receiver, fanOut, direct: false, load })
  if (measured.lost > 0) throw new Error(`${measured.lost} deliveries were lost`)
  return measured
}

/** CPU of processes and Redis together. */
export function cpuMicrosOf({ cpuMicros }: Measurement): number {
  return Object.values(cpuMicros).reduce((sum, micros) => sum + micros, 0)
}

export function told({ deliveriesPerSecond, cpuMicros }: Measurement): string {
  const micros = Object.entries(cpuMicros).map(([name, value]) => `${name} ${value.toFixed(1)}`)
  return `${deliveriesPerSecond.toFixed(0)} deliveries/s, CPU µs: ${micros.join(', ')}`
}

/** Runs `first` and `second` in turn. The order changes every round, so that neither always has a warmer machine. */
export async function interleaved<T>(rounds: number, first: () => Promise<T>, second: () => Promise<T>) {
  const pairs: [T, T][] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const a = await first()
      pairs.push([a, await second()])
    } else {
      const b = await second()
      pairs.push([await first(), b])
    }
  }
  return pairs
}
