/**
 * Redis's time by shard. Scripts use the clock of their shard's master, so there is one clock for each master. A single
 * Redis has one clock.
 */
import { RedisClock } from './redis-clock.ts'

export class ShardClocks {
  /** Called when a master's clock was set back. `clock` continues as before until the shards have been corrected. */
  onSetBack: ((master: string, clock: RedisClock) => void) | undefined
  /** Called before this process adopts the time of a master's clock that was set forward, or seems so. */
  onSetForward: (() => void) | undefined
  readonly #masterOf: ((shard: number) => string) | undefined
  readonly #clocks = new Map<string, RedisClock>()
  #last = new RedisClock()

  /** Shards with the same value share a master. Absent if there is only one master. */
  constructor(masterOf?: (shard: number) => string) {
    this.#masterOf = masterOf
  }

  of(shard: number): RedisClock {
    if (!this.#masterOf) return this.#last
    const master = this.#masterOf(shard)
    let clock = this.#clocks.get(master)
    if (!clock) {
      clock = this.#newClock()
      this.#clocks.set(master, clock)
    }
    return clock
  }

  /** `askedAt`: when the request was made, by performance.now(), if that is known. */
  report(shard: number, redisNow: number, askedAt?: number): void {
    this.#last = this.of(shard)
    if (this.#last.isSetForward(redisNow)) this.onSetForward?.()
    if (this.onSetBack && this.#last.isSetBack(redisNow))
      this.onSetBack(this.#masterOf?.(shard) ?? '', this.#last)
    else this.#last.report(redisNow, askedAt)
  }

  /** The time of the master that replied last, for work that belongs to no shard. */
  now(): number {
    return this.#last.now()
  }

  /**
   * A master without a reply yet gets another master's time. A request that is too early thereby learns the right time.
   * One that is too late would lose time.
   */
  #newClock(): RedisClock {
    if (this.#clocks.size === 0) return new RedisClock()
    return new RedisClock(Math.max(...[...this.#clocks.values()].map((clock) => clock.now())))
  }
}
