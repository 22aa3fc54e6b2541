/** What a dispatch job holds: one group of messages, bodies included. */
import type { Message } from '@fantail/contracts'

export const DISPATCH_JOB = 'dispatch'

export interface DispatchJobData {
  /** Version of this shape. */
  v: 1
  m: Message[]
}

/** The messages of a job's data; throws where the data is not a dispatch job's. */
export function dispatchMessages(data: unknown): Message[] {
  const job = data as Partial<DispatchJobData> | null
  if (job?.v !== 1 || !Array.isArray(job.m)) throw new TypeError('not the data of a dispatch job')
  return job.m
}
