/**
 * The data of a dispatch job. A job holds one group of messages with their bodies (store: message-bodies.ts). A part of
 * a job holds only a range of that job's messages. Rings of topics keep copies of jobs (store/src/kept/kept-jobs.ts),
 * which must stay readable.
 */
import { isJobText } from '@fantail/store'

export const DISPATCH_JOB = 'dispatch'

/** A part of a job that is too large for one worker (dispatch-parts.ts). */
export interface DispatchPart {
  /** The range of its messages. The second number is not included. */
  messages: [from: number, to: number]
  /** The range of slices that it is for. The second number is not included; null: all slices from the first on. */
  slices: [from: number, to: number | null]
}

export interface PartJobData {
  v: 1
  part: DispatchPart
  /** The job that holds the messages: its id, and when it was added (epoch ms). */
  of: [id: string, addedAt: number]
}

/** undefined: it is no part. Throws if the text is not JSON. */
export function partOf(text: string): PartJobData | undefined {
  if (isJobText(text)) return undefined
  const job = JSON.parse(text) as Partial<PartJobData> | null
  return job?.v === 1 && job.part && Array.isArray(job.of) ? (job as PartJobData) : undefined
}
