/** Redis's time, as of the last reply that told it, carried on by this process's monotonic clock. */
export class RedisClock {
  #told = Date.now()
  #at = performance.now()

  tell(redisNow: number): void {
    this.#told = redisNow
    this.#at = performance.now()
  }

  /** Epoch ms; until Redis has told it, this machine's. */
  now(): number {
    return this.#told + (performance.now() - this.#at)
  }
}
