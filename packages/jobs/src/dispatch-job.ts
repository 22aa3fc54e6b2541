/**
 * The data of a dispatch job. A job holds one group of messages with their bodies. A part of a job holds only a range
 * of that job's messages. Rings of topics keep copies of jobs (store/src/kept/kept-jobs.ts), which must stay readable.
 */
import type { SummedMessage } from '@fantail/store'

export const DISPATCH_JOB = 'dispatch'

export interface DispatchJobData {
  /** Version of this shape. */
  v: 1
  m: SummedMessage[]
}

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

/** The messages in a job's data, not verified yet (checkMessage). Throws if the data is not a dispatch job's. */
export function dispatchMessages(data: unknown): SummedMessage[] {
  const job = data as Partial<DispatchJobData> | null
  if (job?.v !== 1 || !Array.isArray(job.m)) throw new TypeError('not the data of a dispatch job')
  return job.m
}

/** undefined: it is no part. */
export function partOf(data: unknown): PartJobData | undefined {
  const job = data as Partial<PartJobData> | null
  return job?.v === 1 && job.part && Array.isArray(job.of) ? (job as PartJobData) : undefined
}
