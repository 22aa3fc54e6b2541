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

/** By the script's answer. */
const HOLDERS = ['other', 'own', 'next'] as const

/**
 * own: this start holds the lock. next: the job's next start holds it, by the same worker. other: another process holds
 * it.
 */
type LockHolder = (typeof HOLDERS)[number]

/** Tells who holds the lock now. If nobody does, it is taken for this start, for `forMs`. */
export async function holdJobLock(redis: Redis, job: LockedJob, forMs: number): Promise<LockHolder> {
  const { queue, id, start, addedAt, token } = job
  const args = { job: dispatchJobKey(queue, id), start, addedAt, token, lockMs: forMs }
  return HOLDERS[Number(await runScript(redis, HOLD, args))] ?? 'other'
}
