/** Takes the lock of a dispatch job again after it expired, also when memory is full. The lock is BullMQ's. */
import type { Redis } from 'ioredis'
import { dispatchJobKey } from '../keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import type { StartedJob } from './note-parts.ts'

const HOLD = readScript('hold-lock-1')

interface LockedJob extends StartedJob {
  /** Epoch ms. */
  addedAt: number
  /** The start's token. */
  token: string
}

/** Whether the start has the lock. A lock that is taken again lasts `forMs`. */
export async function holdJobLock(redis: Redis, job: LockedJob, forMs: number): Promise<boolean> {
  const { queue, id, start, addedAt, token } = job
  const args = { job: dispatchJobKey(queue, id), start, addedAt, token, lockMs: forMs }
  return (await runScript(redis, HOLD, args)) === 1
}
