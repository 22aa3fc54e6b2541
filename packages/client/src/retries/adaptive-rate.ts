/**
 * The send rate of adaptive mode, on top of the retry quota. Nothing is limited until the first throttled answer. Then
 * the rate falls to 70 % of the rate at which requests were sent, and recovers by CUBIC. The constants are those of the
 * AWS SDKs.
 */
const BETA = 0.7
const SCALE = 0.4
const SMOOTHING = 0.8
const BUCKETS_A_SECOND = 2
/** Requests per second that adaptive mode allows at least. Below it: the rate stays at this value. */
const SEND_RATE_MIN = 0.5
const CAPACITY = 1

export class AdaptiveRate {
  #limited = false
  #rate = 0
  #tokens = 0
  #filledAt = 0
  /** Requests per second that were sent, smoothed over half seconds. */
  #measured = 0
  #sent = 0
  #bucketAt: number | undefined
  /** The rate before the last throttled answer, and the time of that answer. */
  #before = 0
  #throttledAt = 0

  /** Requests per second, or undefined while nothing is limited. */
  get rate(): number | undefined {
    return this.#limited ? this.#rate : undefined
  }

  /** Takes a token, and returns the ms until the request may be sent. Times are in seconds. */
  takeAt(now: number): number {
    if (!this.#limited) return 0
    this.#fill(now)
    this.#tokens -= 1
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#rate) * 1_000
  }

  /** Gives back the token of a request that was not sent. */
  return(): void {
    if (this.#limited) this.#tokens += 1
  }

  /** After each answer. */
  note(isThrottled: boolean, now: number): void {
    this.#measure(now)
    if (isThrottled) {
      this.#before = this.#limited ? Math.min(this.#measured, this.#rate) : this.#measured
      this.#throttledAt = now
      this.#fill(now)
      this.#limited = true
      this.#set(this.#before * BETA)
    } else if (this.#limited) {
      this.#fill(now)
      this.#set(SCALE * (now - this.#throttledAt - this.#window()) ** 3 + this.#before)
    }
  }

  /** Seconds until the rate reaches its value from before it fell. */
  #window(): number {
    return Math.cbrt((this.#before * (1 - BETA)) / SCALE)
  }

  #set(rate: number): void {
    this.#rate = Math.max(SEND_RATE_MIN, Math.min(rate, 2 * this.#measured))
    this.#tokens = Math.min(this.#tokens, Math.max(CAPACITY, this.#rate))
  }

  #fill(now: number): void {
    const elapsed = Math.max(0, now - this.#filledAt)
    this.#filledAt = now
    if (!this.#limited) return
    this.#tokens = Math.min(Math.max(CAPACITY, this.#rate), this.#tokens + elapsed * this.#rate)
  }

  #measure(now: number): void {
    this.#sent += 1
    const bucket = Math.floor(now * BUCKETS_A_SECOND) / BUCKETS_A_SECOND
    this.#bucketAt ??= bucket
    if (bucket <= this.#bucketAt) return
    const rate = this.#sent / (bucket - this.#bucketAt)
    this.#measured = SMOOTHING * rate + (1 - SMOOTHING) * this.#measured
    this.#sent = 0
    this.#bucketAt = bucket
  }
}
