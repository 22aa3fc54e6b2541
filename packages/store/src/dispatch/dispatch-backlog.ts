/** The dispatch jobs that no worker has fetched yet. */
import type { Redis } from 'ioredis'
import { dispatchJobKey } from '../keys/keys.ts'
import { DISPATCH_QUEUES_MAX } from '../keys/slots.ts'
import { batch } from '../redis/batch.ts'
import { readNow } from '../redis/clock.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const READ_BACKLOG = readScript('read-backlog-1')

export interface DispatchBacklog {
  jobs: number
  /** Seconds since the publish of the oldest message. 0: no job waits. */
  oldestSeconds: number
}

/** Reads all queues, also those that a lower FANTAIL_QUEUES has left. */
export async function readDispatchBacklog(redis: Redis): Promise<DispatchBacklog> {
  const queues = Array.from({ length: DISPATCH_QUEUES_MAX }, (_, n) => dispatchJobKey(n, '').slice(0, -1))
  const asked = batch(redis)
  for (const queue of queues) asked.exists(`${queue}:wait`)
  const found = (await replies(asked)) as number[]
  const filled = queues.filter((_, n) => found[n])
  if (filled.length === 0) return { jobs: 0, oldestSeconds: 0 }
  const [now, ...backlogs] = await Promise.all([
    readNow(redis, 0),
    ...filled.map(async (queue) => (await runScript(redis, READ_BACKLOG, { queue })) as [number, number]),
  ])
  const waiting = backlogs.filter(([jobs]) => jobs > 0)
  return {
    jobs: waiting.reduce((sum, [jobs]) => sum + jobs, 0),
    oldestSeconds: Math.max(0, ...waiting.map(([, publishedAt]) => now - publishedAt)) / 1_000,
  }
}
