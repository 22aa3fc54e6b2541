/**
 * Logs that a worker lacks the key of sealed messages. Each message is tried again every minute, so a line for each try
 * would flood the log.
 */
import { missingKeyOf } from '@fantail/delivery'
import type { Logger } from '@fantail/runtime'
import { NUMBER, passingTime, type SealKeyError } from '@fantail/store'
import type { Metrics } from '@fantail/telemetry'

/** How long a locked message waits until it is tried again, and how often a missing key is logged. */
export const LOCKED_RETRY_MS = NUMBER.LOCKED_MS
/** Missing keys that a worker remembers. Past it: all are forgotten, and are logged again. */
const REASONS_MAX = 100

interface MissingKeysOptions {
  log: Pick<Logger, 'warn'>
  metrics: Pick<Metrics, 'attemptsMisconfigured'>
}

interface Reported {
  /** By passingTime.now(). */
  at: number
  /** Messages since then that were not logged. */
  unlogged: number
}

export class MissingKeys {
  readonly #options: MissingKeysOptions
  readonly #reported = new Map<string, Reported>()

  constructor(options: MissingKeysOptions) {
    this.#options = options
  }

  /**
   * Counts the message. Logs the first message of each key, and then at most one line a minute with the number since
   * the last line.
   */
  report(topicArn: string, { message: reason, cause }: SealKeyError): void {
    this.#options.metrics.attemptsMisconfigured.of({ credential: missingKeyOf(cause) }).add()
    const now = passingTime.now()
    const known = this.#reported.get(reason)
    if (known && now - known.at < LOCKED_RETRY_MS) {
      known.unlogged++
      return
    }
    if (this.#reported.size >= REASONS_MAX) this.#reported.clear()
    this.#reported.set(reason, { at: now, unlogged: 0 })
    this.#options.log.warn({ topicArn, reason, messages: 1 + (known?.unlogged ?? 0) }, 'message.locked')
  }
}
