/** Takes the lock of a dispatch job again after it expired, also when memory is full. The lock is BullMQ's. */
import type { Redis } from 'ioredis'
import { dispatchJobKey } from '../keys/keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import type { StartedJob } from './note-parts.ts'

const HOLD = readScript('hold-lock-1')

interface LockedJob extends StartedJob {
  /** Epoch ms. */
  addedAt: number
  /** The token of the start. */
  token: string
}

/** The holders, by the number that the script returns. */
const HOLDERS = ['other', 'own', 'next'] as const

/**
 * own: this start holds the lock. next: the job's next start holds it, by the same worker. other: another process holds
 * it.
 */
type LockHolder = (typeof HOLDERS)[number]

/** Returns who holds the lock. If nobody does, this start takes it for `forMs`. */
export async function holdJobLock(redis: Redis, job: LockedJob, forMs: number): Promise<LockHolder> {
  const { queue, id, start, addedAt, token } = job
  const args = { job: dispatchJobKey(queue, id), start, addedAt, token, lockMs: forMs }
  return HOLDERS[Number(await runScript(redis, HOLD, args))] ?? 'other'
}
