/**
 * Redis's time by shard: one clock for each master, as the scripts of a shard go by the clock of the master that has
 * it.
 * A single Redis has one.
 */
import { RedisClock } from './redis-clock.ts'

export class ShardClocks {
  /**
   * Called with the clock of a master that was set back, and which goes on as it was until the shards have caught up.
   */
  onSetBack: ((master: string, clock: RedisClock) => void) | undefined
  /** Called before a master's clock is followed that was set forward, or seems so. */
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

  /** `askedAt`: by performance.now(), where that is known. */
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
   * A master without a reply yet uses another master's time: a request that is too early learns the right time, one
   * that is too late would be late.
   */
  #newClock(): RedisClock {
    if (this.#clocks.size === 0) return new RedisClock()
    return new RedisClock(Math.max(...[...this.#clocks.values()].map((clock) => clock.now())))
  }
}
