/** How a dispatch job is cut, noted in the job itself, so that the note lives exactly as long as the job. */
import type { Redis } from 'ioredis'
import { dispatchJobKey, JOB_PARTS } from '../keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const NOTE_PARTS = readScript('note-parts-1')

export interface StartedJob {
  /** Number of the dispatch queue. */
  queue: number
  id: string
  /** Which start of the job it is. */
  start: number
}

/** False where the job is gone, or was started again since: nothing is noted then. */
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
