/** The gauges of a bounded number of used queues, for scrapes. */
import { createLoop, type Logger, type WakeableLoop } from '@fantail/runtime'
import { type Queues, queueFigures, type Redis, SERVICE_NOTE_MS } from '@fantail/store'
import type { QueueSource } from '@fantail/telemetry'

/** @limit Queues that the gauges show. Past it: the others are left out. */
const QUEUES_SHOWN_MAX = 500

interface QueueGaugesOptions {
  redis: Redis
  queues: Pick<Queues, 'getWithCounts'>
  /** Epoch ms. */
  now(): number
}

/** A queue that was shown once is shown while it exists, so that a graph also shows when it is empty. */
export function createQueueSource({ redis, queues, now }: QueueGaugesOptions): QueueSource {
  let shown = new Set<string>()
  return async () => {
    const figures = await queueFigures(redis, queues, QUEUES_SHOWN_MAX)
    const inUse = figures.filter(({ queue, counts }) => {
      return counts.visible + counts.inFlight + counts.delayed > 0 || shown.has(queue.arn)
    })
    shown = new Set(inUse.map(({ queue }) => queue.arn))
    const age = (since: number | null) => (since === null ? null : Math.max(0, now() - since) / 1_000)
    return inUse.map(({ queue, counts, oldestSince, groups }) => ({
      queue: queue.name,
      ...counts,
      oldestSeconds: age(oldestSince),
      ...(groups && { groups: { ...groups, quietOldestSeconds: age(groups.quietOldestSince) } }),
    }))
  }
}

interface ServiceNotes {
  queues: Pick<Queues, 'noteService'>
  log: Logger
}

/** Notes every few seconds that this API serves the queues, because a lease ends only after a time of service. */
export function createServiceNotes({ queues, log }: ServiceNotes): WakeableLoop {
  return createLoop({
    name: 'service_notes',
    log,
    round: async () => {
      await queues.noteService()
      return SERVICE_NOTE_MS
    },
  })
}
