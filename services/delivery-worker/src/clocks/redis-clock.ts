/**
 * Redis's time: the time in a reply, continued by this process's monotonic clock.
 *
 * A slow reply brings an old time. For the next poll that does not matter. But claims that are sent by an old time
 * would come too close to those of the next reply. Send times therefore use the fastest recent reply.
 *
 * If the time of a request is known, its reply says more, because Redis's clock was read after the request. If earlier
 * replies contradict that, the clock was set back, perhaps by little. This must be noticed. Otherwise every claim would
 * seem late until the allowed drift has caught up, which takes an hour for two seconds.
 */

/** How fast the two clocks may drift apart. The fastest reply loses this much accuracy over time. */
const DRIFT = 0.0005
/** No reply is this late, because a command fails after 1.5 s. So Redis's clock has been set back. */
export const SET_BACK_MS = 2_000
/** No reply but the first few is this much faster than all recent ones. */
const SET_FORWARD_MS = 200
/** Redis's time has whole ms, and scripts round down. */
const ROUNDING_MS = 2

export class RedisClock {
  #told: number
  #at = performance.now()
  /** Redis's time minus this process's time, by the fastest reply. */
  #ahead = Number.NEGATIVE_INFINITY

  /** `now`: epoch ms that is used until Redis has answered. Default: this machine's time. */
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

  /** `askedAt`: when the request was made, by performance.now(), if that is known. */
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

  /** The value of performance.now() at this time of Redis. */
  localTime(redisTime: number): number {
    return redisTime - (this.#ahead > Number.NEGATIVE_INFINITY ? this.#ahead : this.#told - this.#at)
  }
}
