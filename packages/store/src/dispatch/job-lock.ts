/** Takes the lock of a dispatch job again after it expired, also when memory is full. The lock is BullMQ's. */
import type { Redis } from 'ioredis'
import { dispatchJobKey, JOB_PARTS } from '../keys/keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

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

/** Stores the parts of a dispatch job in the job itself. They are then deleted together with the job. */
const NOTE_PARTS = readScript('note-parts-1')

interface StartedJob {
  /** Number of the dispatch queue. */
  queue: number
  id: string
  start: number
}

/** Returns false, and stores nothing, if the job is gone or was started again since. */
export async function noteParts(
  redis: Redis,
  { queue, id, start }: StartedJob,
  parts: string,
): Promise<boolean> {
  return (await runScript(redis, NOTE_PARTS, { job: dispatchJobKey(queue, id), start, parts })) === 1
}

export async function readParts(
  redis: Redis,
  { queue, id }: Pick<StartedJob, 'queue' | 'id'>,
): Promise<string | null> {
  return redis.hget(dispatchJobKey(queue, id), JOB_PARTS)
}
