/** Puts messages of a job into the quarantine if they, or the records of their topics, cannot be decoded. */
import { type NewEntry, QUARANTINE_BASE, type Quarantined } from '@fantail/store'
import type { JobRun } from '../runs/job-run.ts'
import type { RunRetries } from './run-retries.ts'

/** A message that cannot be decoded, and its position in the job. */
export interface Unreadable {
  index: number
  body: string
  error: unknown
}

interface RunQuarantineOptions {
  retries: RunRetries
  /** Puts data that cannot be decoded into the quarantine. Safe to repeat. */
  quarantine(entry: NewEntry): Promise<Quarantined>
}

export class RunQuarantine {
  readonly #options: RunQuarantineOptions

  constructor(options: RunQuarantineOptions) {
    this.#options = options
  }

  async add(run: JobRun, entry: NewEntry): Promise<void> {
    const { retries, quarantine } = this.#options
    const result = await retries.untilDone(run, async () => {
      const mark = run.copies.mark(QUARANTINE_BASE)
      const added = await quarantine(entry)
      if (added !== 'full') run.copies.wrote(mark)
      return added
    })
    if (result === 'full') run.awaitsQuarantine = true
  }

  async addUnreadable(run: JobRun, { index, body, error }: Unreadable): Promise<void> {
    const detail = `message ${index} of its job cannot be decoded: ${error instanceof Error ? error.message : error}`
    const id = `job.${run.jobName.replaceAll(':', '.')}.${index}`
    await this.add(run, { id, reason: 'messageUnreadable', detail, raw: body })
  }
}
