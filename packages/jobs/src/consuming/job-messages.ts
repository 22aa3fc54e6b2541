/** The messages of a job that starts. Messages that cannot be decoded go to the quarantine (unreadable-jobs.ts). */
import { bodiesOfJob } from '@fantail/store'
import { DelayedError, WaitingError } from 'bullmq'
import type { TextJob } from '../bullmq/text-jobs.ts'
import { type PartJobData, partOf } from '../dispatch-job.ts'
import type { DispatchParts } from './dispatch-parts.ts'
import type { RunEntries } from './run-entries.ts'
import type { RunStarts } from './run-starts.ts'
import type { UnreadableJobs } from './unreadable-jobs.ts'

/**
 * Starts of a job whose data is JSON of an unknown form. Past it: the job goes to the quarantine. Before this number of
 * starts, a worker of a newer release may have been able to read the job.
 */
const STARTS_MAX = 60
/** Pause before the next start of a job for which the quarantine had no capacity. */
const FULL_QUARANTINE_START_MS = 60_000

interface JobMessagesOptions {
  unreadable: Pick<UnreadableJobs, 'check' | 'addPart'>
  parts: Pick<DispatchParts, 'messagesOf'>
  starts: Pick<RunStarts, 'entryOf' | 'marks'>
  runs: Pick<RunEntries, 'remember'>
}

export class JobMessages {
  readonly #options: JobMessagesOptions

  constructor(options: JobMessagesOptions) {
    this.#options = options
  }

  /** Their bodies, not verified yet. undefined: there is nothing to do, and the job may be completed. */
  async of(job: TextJob, token: string): Promise<string[] | undefined> {
    if (isSuspicious(job) || job.attemptsStarted > STARTS_MAX) await this.#quarantineUnreadable(job, token)
    try {
      const part = partOf(job.data.text)
      return part ? await this.#ofPart(job, part, token) : bodiesOfJob(job.data.text)
    } catch (error) {
      if (error instanceof SyntaxError) await this.#quarantineUnreadable(job, token)
      throw error
    }
  }

  async #ofPart(job: TextJob, data: PartJobData, token: string): Promise<string[] | undefined> {
    const { parts, starts, runs, unreadable } = this.#options
    const entry = starts.entryOf(job)
    const marks = starts.marks(entry)
    const messages = await parts.messagesOf(job, data)
    if (messages) return messages
    if (messages === null) {
      const result = await unreadable.addPart(entry.id, job.timestamp, data)
      if (result === 'full') await postpone(job, token, FULL_QUARANTINE_START_MS)
    }
    for (const mark of marks) entry.copies.wrote(mark)
    runs.remember(entry)
    return undefined
  }

  /**
   * Resolves if the job is readable. Rejects if the job is gone, or if it must wait until the quarantine has capacity.
   */
  async #quarantineUnreadable(job: TextJob, token: string): Promise<void> {
    const found = await this.#options.unreadable.check(job.id ?? '')
    if (found === 'gone') throw new WaitingError()
    if (found === 'full') await postpone(job, token, FULL_QUARANTINE_START_MS)
  }
}

/** Always rejects, with the error at which BullMQ leaves the job as it is. */
export async function postpone(job: TextJob, token: string, delayMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + delayMs, token)
  throw new DelayedError()
}

/** BullMQ reads a job without data as one with the data `{}`, and a wrong counter as NaN. */
function isSuspicious({ data, attemptsMade, stalledCounter }: TextJob): boolean {
  return data.text === '{}' || !(attemptsMade >= 0 && stalledCounter >= 0)
}
