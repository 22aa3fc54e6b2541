/** What a dispatch job holds: one group of messages, bodies included. */
import type { Message } from '@fantail/contracts'

export const DISPATCH_JOB = 'dispatch'

export interface DispatchJobData {
  /** Version of this shape. */
  v: 1
  m: Message[]
  /** It is a part of another job, which was more than one worker should have by itself (dispatch-parts.ts). */
  part?: DispatchPart
}

export interface DispatchPart {
  /** Numbers of the slices that it is for: from the first to before the second, null to the last there is. */
  slices: [from: number, to: number | null]
}

/** The messages of a job's data; throws where the data is not a dispatch job's. */
export function dispatchMessages(data: unknown): Message[] {
  const job = data as Partial<DispatchJobData> | null
  if (job?.v !== 1 || !Array.isArray(job.m)) throw new TypeError('not the data of a dispatch job')
  return job.m
}
