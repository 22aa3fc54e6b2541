/**
 * Decides whether a topic's ring keeps all messages of a job together, as one copy of the job's record (kept-jobs.ts).
 */
import { isWorthKeepingWhole, type KeptJob, type NewKept } from '@fantail/store'
import type { JobRun } from '../runs/job-run.ts'

type KeptRun = Pick<JobRun, 'record' | 'part' | 'fence' | 'hasUnreadable' | 'messages'>

/**
 * The job, if its ring may keep it whole, or if an earlier start may have kept it so. `messages` are those of one
 * topic, because a ring gets no others. A later start never copies the job, because the first one may have kept
 * messages one by one. A part of a job has only some messages, and an earlier start may have kept the whole job before
 * a later one cut it.
 */
export function wholeJob(run: KeptRun, messages: NewKept[]): KeptJob | undefined {
  const { record, part, fence } = run
  const [first] = messages
  if (!record || !first) return undefined
  const copies = fence === 1 && !part
  if (copies && !isWhole(run, messages)) return undefined
  const { arn, uid } = first
  return { arn, uid, record: record.jobKey, name: record.jobName, addedAt: record.addedAt, copies, messages }
}

function isWhole(run: KeptRun, messages: NewKept[]): boolean {
  if (run.hasUnreadable || messages.length !== run.messages.length) return false
  const bytes = run.messages.reduce((sum, { message }) => sum + message.message.length, 0)
  return isWorthKeepingWhole(messages, bytes)
}
