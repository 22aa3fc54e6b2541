/** Repeats a failed command of Redis while this process has the run. Failures of Redis therefore only delay a job. */
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import { CorruptRecordError, type NewEntry, QUARANTINE_BASE, type Quarantined } from '@fantail/store'
import type { JobRun } from '../runs/job-run.ts'

const RUN_RETRY_MS = 200

export class RunRetries {
  readonly #report: ReportState

  constructor(log: Logger) {
    this.#report = createStateLog({ log, what: 'dispatch', initial: 'up' })
  }

  /**
   * Returns the result, or undefined if the run is lost. A CorruptRecordError is thrown at once, because repeating does
   * not help.
   */
  async untilDone<T>(run: { lost: boolean }, attempt: () => Promise<T> | T): Promise<T | undefined> {
    while (!run.lost) {
      try {
        const value = await attempt()
        this.#report('up')
        return value
      } catch (error) {
        if (error instanceof CorruptRecordError) throw error
        this.#report('down', error)
        await new Promise((resolve) => setTimeout(resolve, RUN_RETRY_MS * (0.5 + Math.random())))
      }
    }
    return undefined
  }
}

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

/** Puts messages of a job that cannot be decoded into the quarantine. */
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
    const id = `job.${run.key.replaceAll(':', '.')}.${index}`
    await this.add(run, { id, reason: 'messageUnreadable', detail, raw: body })
  }
}
