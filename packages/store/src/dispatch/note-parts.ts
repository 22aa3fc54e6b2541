/** Stores the parts of a dispatch job in the job itself. They are then deleted together with the job. */
import type { Redis } from 'ioredis'
import { dispatchJobKey, JOB_PARTS } from '../keys/keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const NOTE_PARTS = readScript('note-parts-1')

export interface StartedJob {
  /** Number of the dispatch queue. */
  queue: number
  id: string
  /** The number of this start of the job. */
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
