/**
 * Redis's time: the time of a reply, carried on by this process's monotonic clock.
 *
 * A slow reply carries an old time. That does not matter for the next poll, but claims that are sent by it would crowd
 * those of the next reply. Send times therefore use the fastest recent reply. A reply whose request time is known says
 * more: Redis's clock was read after the request. If earlier replies make that impossible, the clock was set back,
 * however little. Otherwise every claim would seem late until the allowed drift has made up for it, which takes an hour
 * for two seconds.
 */

/** How fast the two clocks may drift apart. The fastest reply loses this much accuracy over time. */
const DRIFT = 0.0005
/** No reply is so late (a command fails after 1.5 s): Redis's clock has been set back. */
export const SET_BACK_MS = 2_000
/** Except for the first replies, no reply is this much faster than all recent ones. */
const SET_FORWARD_MS = 200
/** Redis's time comes in whole ms, and that of scripts is rounded down. */
const ROUNDING_MS = 2

export class RedisClock {
  #told: number
  #at = performance.now()
  /** Redis's time less this process's, by the fastest reply. */
  #ahead = Number.NEGATIVE_INFINITY

  /** Epoch ms until Redis has answered; default: this machine's time. */
  constructor(now = Date.now()) {
    this.#told = now
  }

  /** Whether Redis's clock was set back since its last reply. */
  isSetBack(redisNow: number): boolean {
    return this.#ahead > Number.NEGATIVE_INFINITY && redisNow < this.now() - SET_BACK_MS
  }

  /** Whether Redis's clock was, or may have been, set forward since its last reply. */
  isSetForward(redisNow: number): boolean {
    return (
      this.#ahead > Number.NEGATIVE_INFINITY && redisNow - performance.now() > this.#ahead + SET_FORWARD_MS
    )
  }

  /** `askedAt`: by performance.now(), where that is known. */
  report(redisNow: number, askedAt = Number.NEGATIVE_INFINITY): void {
    const at = performance.now()
    const ahead = redisNow - at
    const kept = this.#ahead - (at - this.#at) * DRIFT
    const setBack = ahead < kept - SET_BACK_MS || redisNow - askedAt < kept - ROUNDING_MS
    this.#ahead = ahead > kept || setBack ? ahead : kept
    this.#told = redisNow
    this.#at = at
  }

  /** Epoch ms. */
  now(at = performance.now()): number {
    return this.#told + (at - this.#at)
  }

  /** The value of performance.now() at that time of Redis. */
  localTime(redisTime: number): number {
    return redisTime - (this.#ahead > Number.NEGATIVE_INFINITY ? this.#ahead : this.#told - this.#at)
  }
}
