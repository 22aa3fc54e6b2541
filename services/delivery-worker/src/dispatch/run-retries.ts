/** Repeats a failed command of Redis while this process has the run. Failures of Redis therefore only delay a job. */
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import { UnreadableRecordError } from '@fantail/store'

const RUN_RETRY_MS = 200

export class RunRetries {
  readonly #report: ReportState

  constructor(log: Logger) {
    this.#report = createStateLog({ log, what: 'dispatch', initial: 'up' })
  }

  /**
   * Returns the result, or undefined if the run is lost. An UnreadableRecordError is thrown at once, because repeating
   * does not help.
   */
  async untilDone<T>(run: { lost: boolean }, attempt: () => Promise<T> | T): Promise<T | undefined> {
    while (!run.lost) {
      try {
        const value = await attempt()
        this.#report('up')
        return value
      } catch (error) {
        if (error instanceof UnreadableRecordError) throw error
        this.#report('down', error)
        await new Promise((resolve) => setTimeout(resolve, RUN_RETRY_MS * (0.5 + Math.random())))
      }
    }
    return undefined
  }
}
