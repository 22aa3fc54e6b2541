/**
 * One contestant in one scenario. It publishes as fast as possible for a set time, or until it has sent more than can
 * be delivered in that time. Then it waits until everything is delivered.
 *
 * Throughput counts every delivery of accepted messages, from the first publish to the arrival of the last. Accepting
 * faster than delivering therefore gains nothing, and no contestant leaves work behind.
 */
import type { ChildProcess } from 'node:child_process'
import { cpuMs } from '../processes/children.ts'
import { type Arrived, ask } from '../processes/ipc.ts'
import type { Contestant, Load } from './contestant.ts'

export interface Measurement {
  deliveriesPerSecond: number
  publishesPerSecond: number
  publishP50Ms: number
  publishP99Ms: number
  deliveries: number
  /** From the end of publishing to the last arrival. */
  drainSeconds: number
  lost: number
  duplicates: number
  refused: number
  /** CPU microseconds per delivery, by process. */
  cpuMicros: Record<string, number>
}

interface MeasureOptions {
  contestant: Contestant
  receiver: ChildProcess
  fanOut: number
  /** Without a queue a request is a delivery. */
  direct: boolean
  load: Load
}

const DRAIN_POLL_MS = 25
/** Longer than the delay of the first retry. If nothing arrives for this time, missing deliveries count as lost. */
const SILENCE_MS = 30_000

export async function measure({
  contestant,
  receiver,
  fanOut,
  direct,
  load,
}: MeasureOptions): Promise<Measurement> {
  const paths = Array.from({ length: fanOut }, (_, number) => `/s${number}`)
  await ask(receiver, 'reset')
  const before = await cpuOf(contestant)
  const sent = await contestant.load(paths, load)
  const deliveries = sent.accepted * (direct ? 1 : fanOut)
  const arrived = await whenArrived(receiver, deliveries)
  const after = await cpuOf(contestant)
  const micros = Object.entries(after).map(([name, ms]): [string, number] => [
    name,
    ((ms - (before[name] ?? 0)) * 1_000) / arrived.total,
  ])
  return {
    deliveriesPerSecond: (arrived.distinct * 1_000) / (arrived.lastAt - sent.startedAt),
    publishesPerSecond: (sent.accepted * 1_000) / (sent.endedAt - sent.startedAt),
    publishP50Ms: sent.p50Ms,
    publishP99Ms: sent.p99Ms,
    deliveries,
    drainSeconds: Math.max(0, arrived.lastAt - sent.endedAt) / 1_000,
    lost: Math.max(0, deliveries - arrived.distinct),
    duplicates: arrived.total - arrived.distinct,
    refused: sent.refused,
    cpuMicros: Object.fromEntries(micros),
  }
}

/** Resolves when `deliveries` have arrived, or when no more arrive. */
export async function whenArrived(receiver: ChildProcess, deliveries: number): Promise<Arrived> {
  let latest = await ask<Arrived>(receiver, 'arrived')
  let changedAt = performance.now()
  while (latest.distinct < deliveries && performance.now() - changedAt < SILENCE_MS) {
    await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS))
    const now = await ask<Arrived>(receiver, 'arrived')
    if (now.total !== latest.total) changedAt = performance.now()
    latest = now
  }
  return latest
}

async function cpuOf({ processes, redis }: Contestant): Promise<Record<string, number>> {
  const used = Object.entries(processes).map(([name, pid]): [string, number] => [name, cpuMs(pid)])
  if (redis) used.push(['redis', await redis.cpuMs()])
  return Object.fromEntries(used)
}
