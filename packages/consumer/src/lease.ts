/**
 * Keeps one received message hidden while it is handled (heartbeat).
 *
 * hidden ─ renewed at half of the visibility time ─▶ hidden
 * hidden ─ the queue says that the receive is over, or its time passes without a renewal ─▶ lost
 * hidden ─ `end` ─▶ ended: no renewal is under way any more, so a later request of the handler's is the last one
 */
import type { HandleRequests } from './handle-requests.ts'
import { HIDDEN_SECONDS_MAX, type QueueMessage } from './sources/messages.ts'

/**
 * Why a lease was lost. `taken`: the queue says that the receive is over. `unreachable`: the queue did not answer until
 * the message was visible again. `limit`: 12 hours have passed since the receive, and a queue hides no message longer.
 * `noHeartbeat`: the visibility time has passed, and there is no heartbeat.
 */
export type LostReason = 'taken' | 'unreachable' | 'limit' | 'noHeartbeat'

interface LeaseEvents {
  extended(seconds: number): void
  lost(reason: LostReason): void
  /** A renewal failed. It is tried again until the message is visible. */
  failed(error: unknown): void
}

interface LeaseOptions {
  requests: HandleRequests
  events: LeaseEvents
  visibilitySeconds: number
  heartbeat: boolean
  /** By performance.now(). The message was received before this moment. */
  receivedAt: number
}

/** Pause before a renewal that failed is tried again, as a share of the time that is left. */
const RENEWAL_PAUSE = 0.25

export class Lease {
  readonly #message: QueueMessage
  readonly #options: LeaseOptions
  #hiddenUntil: number
  #seconds: number
  #timer: NodeJS.Timeout | undefined
  #renewing: Promise<void> | undefined
  #lost: LostReason | undefined
  #ended = false
  readonly #whenLost = Promise.withResolvers<void>()

  constructor(message: QueueMessage, options: LeaseOptions) {
    this.#message = message
    this.#options = options
    this.#seconds = options.visibilitySeconds
    this.#hiddenUntil = options.receivedAt + options.visibilitySeconds * 1_000
    this.#arm()
  }

  /** Undefined while the message is hidden from other consumers. */
  get lost(): LostReason | undefined {
    return this.#lost
  }

  /** Resolves if the message is lost. */
  get whenLost(): Promise<void> {
    return this.#whenLost.promise
  }

  /** The largest number of seconds for which the message can still be hidden from now on. */
  get secondsLeft(): number {
    const untilLimit = this.#options.receivedAt + HIDDEN_SECONDS_MAX * 1_000 - performance.now()
    return Math.max(0, Math.floor(untilLimit / 1_000))
  }

  /**
   * Hides the message for this number of seconds from now. The heartbeat then renews for this time. Rejects if the
   * queue fails.
   */
  async extend(seconds: number): Promise<void> {
    await this.#renewing
    if (this.#lost || this.#ended) return
    this.#seconds = seconds
    clearTimeout(this.#timer)
    await this.#renew()
  }

  /** Ends the heartbeat, and waits for a renewal that is under way. */
  async end(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#timer)
    await this.#renewing
  }

  #arm(): void {
    if (this.#lost || this.#ended) return
    const leftMs = this.#hiddenUntil - performance.now()
    if (leftMs <= 0) {
      this.#lose(this.#options.heartbeat ? 'unreachable' : 'noHeartbeat')
      return
    }
    const waitMs = this.#options.heartbeat ? leftMs / 2 : leftMs
    this.#timer = setTimeout(() => this.#beat(), waitMs)
  }

  #beat(): void {
    if (!this.#options.heartbeat) {
      this.#arm()
      return
    }
    this.#renewing = this.#renew()
      .catch((error) => {
        this.#options.events.failed(error)
        this.#retrySoon()
      })
      .finally(() => {
        this.#renewing = undefined
      })
  }

  #retrySoon(): void {
    if (this.#lost || this.#ended) return
    const leftMs = this.#hiddenUntil - performance.now()
    if (leftMs <= 0) this.#lose('unreachable')
    else this.#timer = setTimeout(() => this.#beat(), Math.max(10, leftMs * RENEWAL_PAUSE))
  }

  async #renew(): Promise<void> {
    const { requests, events } = this.#options
    const seconds = Math.min(this.#seconds, this.secondsLeft)
    if (seconds === 0) {
      this.#armLimit()
      return
    }
    const askedAt = performance.now()
    const result = await requests.hide(this.#message.receiptHandle, seconds)
    if (result === 'lost') this.#lose('taken')
    else if (result === 'limit') this.#armLimit()
    else {
      this.#hiddenUntil = askedAt + seconds * 1_000
      events.extended(seconds)
      this.#arm()
    }
  }

  /** Starts the timer of the last renewal. When it fires, the message is lost. */
  #armLimit(): void {
    if (this.#ended) return
    const leftMs = Math.max(0, this.#hiddenUntil - performance.now())
    this.#timer = setTimeout(() => this.#lose('limit'), leftMs)
  }

  #lose(reason: LostReason): void {
    if (this.#lost || this.#ended) return
    this.#lost = reason
    clearTimeout(this.#timer)
    this.#options.events.lost(reason)
    this.#whenLost.resolve()
  }
}
