/**
 * Reports sealed messages whose key this worker lacks. Each is tried again every minute, so a line for each would flood
 * the log.
 */
import type { Logger } from '@fantail/runtime'
import { NUMBER, passingTime, type SealKeyError } from '@fantail/store'

/** How long a locked message waits until it is tried again, and how often a missing key is logged. */
export const LOCKED_RETRY_MS = NUMBER.LOCKED_MS
/** Missing keys that a worker remembers. Past it: all are forgotten, and are logged again. */
const REASONS_MAX = 100

interface Reported {
  /** By passingTime.now(). */
  at: number
  /** Messages since then that were not logged. */
  unlogged: number
}

export class LockedMessages {
  readonly #log: Pick<Logger, 'warn'>
  readonly #reported = new Map<string, Reported>()

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log
  }

  /** Logs the first message of each key, and then at most one line a minute with the number since the last line. */
  add(topicArn: string, { message: reason }: SealKeyError): void {
    const now = passingTime.now()
    const known = this.#reported.get(reason)
    if (known && now - known.at < LOCKED_RETRY_MS) {
      known.unlogged++
      return
    }
    if (this.#reported.size >= REASONS_MAX) this.#reported.clear()
    this.#reported.set(reason, { at: now, unlogged: 0 })
    this.#log.warn({ topicArn, reason, messages: 1 + (known?.unlogged ?? 0) }, 'message.locked')
  }
}
