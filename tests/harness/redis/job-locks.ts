/** Brings the time forward at which BullMQ gives jobs of dead workers to others. Redis's own time cannot be moved. */
import type { Redis } from '@fantail/store'

/** The one dispatch queue of a stack on a single Redis. */
export const DISPATCH_JOBS = 'ft:{dispatch-0}:dispatch-0'
export const REDRIVE_JOBS = 'ft:{redrive}:redrive'

/**
 * Ends the locks of all running jobs, and prepares Redis as if a stalled check had seen these jobs without locks. The
 * next check gives the jobs out again. A worker checks when it starts.
 */
export async function endJobLocks(redis: Redis, jobs: string): Promise<void> {
  const ids = await redis.lrange(`${jobs}:active`, 0, -1)
  if (ids.length === 0) return
  await redis.del(...ids.map((id) => `${jobs}:${id}:lock`), `${jobs}:stalled-check`)
  await redis.sadd(`${jobs}:stalled`, ...ids)
}
