/**
 * Redis's time, as of the last reply that told it, carried on by this process's monotonic clock.
 *
 * A reply that was long on its way tells a time that is over. That is of no consequence for when to ask next, but
 * claims sent by it would crowd those of the next reply; so send times go by the reply that was fastest of late. Of a
 * reply of which it is known when it was asked for, more is known: Redis's clock was read after that. Where this is not
 * possible by what was told before, the clock was set back, by however little; else every claim would seem late until
 * the drift allowed for has made up for it, an hour for two seconds.
 */

/** How fast the two clocks may drift apart: what the fastest reply told is worth less by so much. */
const DRIFT = 0.0005
/** No reply is so late (a command fails after 1.5 s): Redis's clock has been set back. */
export const SET_BACK_MS = 2_000
/** No reply is told so much faster than all of late, but while the first ones come. */
const SET_FORWARD_MS = 200
/** Redis's time is told in whole ms, and scripts' without what is behind the point. */
const ROUNDING_MS = 2

export class RedisClock {
  #told: number
  #at = performance.now()
  /** Redis's time less this process's, by the fastest reply. */
  #ahead = Number.NEGATIVE_INFINITY

  /** Epoch ms to go by until Redis has told it; default: this machine's. */
  constructor(now = Date.now()) {
    this.#told = now
  }

  /** Whether Redis's clock was set back since it last told its time. */
  isSetBack(redisNow: number): boolean {
    return this.#ahead > Number.NEGATIVE_INFINITY && redisNow < this.now() - SET_BACK_MS
  }

  /** Whether Redis's clock was, or may have been, set forward since it last told its time. */
  isSetForward(redisNow: number): boolean {
    return (
      this.#ahead > Number.NEGATIVE_INFINITY && redisNow - performance.now() > this.#ahead + SET_FORWARD_MS
    )
  }

  /** `askedAt`: by performance.now(), where that is known. */
  tell(redisNow: number, askedAt = Number.NEGATIVE_INFINITY): void {
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

  /** What performance.now() is at that time of Redis's. */
  localTime(redisTime: number): number {
    return redisTime - (this.#ahead > Number.NEGATIVE_INFINITY ? this.#ahead : this.#told - this.#at)
  }
}
