/**
 * Keeps Redis's time. It takes the time from a reply, and continues it with the monotonic clock of this process.
 *
 * The time in a slow reply is already old when it arrives. If claims were sent by this old time, they would be late,
 * and come too close to later claims. Send times are therefore computed from the fastest recent reply. Even that one
 * may have been slow, as in a worker that starts on a busy machine, and `doubtMs` says by how much at most.
 *
 * Redis reads its clock after the request was made. So if the time of the request is known, Redis's clock cannot be
 * further ahead of this process's than the difference of the two times. If earlier replies say that it is, it was set
 * back, perhaps only a little. This must be noticed. Otherwise every claim would seem late until the allowed drift has
 * made up for it: an hour for two seconds.
 */

/**
 * How fast the two clocks may drift apart, in ms per ms. The estimate from the fastest reply loses this much accuracy
 * over time.
 */
const DRIFT = 0.0005
/** A reply cannot be this late, because a command fails after 1.5 s. If it seems so, Redis's clock was set back. */
export const SET_BACK_MS = 2_000
/**
 * Apart from the first few, no reply is this much faster than all recent ones. If one seems so, Redis's clock may have
 * been set forward.
 */
const SET_FORWARD_MS = 200
/** Redis's time has whole ms, and scripts round down. */
const ROUNDING_MS = 2

export class RedisClock {
  #told: number
  #at = performance.now()
  /** Redis's time minus this process's time, by the fastest reply. */
  #ahead = Number.NEGATIVE_INFINITY
  /** The highest value that `#ahead` may have, by the requests whose time is known. */
  #aheadMax = Number.POSITIVE_INFINITY
  /** How long the latest request took whose time is known. */
  roundTripMs = 0
  /** How much later than the fastest recent reply the latest one came. */
  lateMs = 0

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
    if (Number.isFinite(askedAt)) this.roundTripMs = at - askedAt
    const ahead = redisNow - at
    const kept = this.#ahead - (at - this.#at) * DRIFT
    const setBack = ahead < kept - SET_BACK_MS || redisNow - askedAt < kept - ROUNDING_MS
    const aheadMax = redisNow + ROUNDING_MS - askedAt
    const keptMax = this.#aheadMax + (at - this.#at) * DRIFT
    this.#aheadMax = setBack || ahead > keptMax ? aheadMax : Math.min(aheadMax, keptMax)
    this.#ahead = ahead > kept || setBack ? ahead : kept
    this.lateMs = this.#ahead - ahead
    this.#told = redisNow
    this.#at = at
  }

  /** By how much `localTime` may be too late. 0: no request's time is known. */
  get doubtMs(): number {
    const doubt = this.#aheadMax - this.#ahead
    return Number.isFinite(doubt) ? Math.max(0, doubt - ROUNDING_MS) : 0
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
