/**
 * Keeps Redis's time for each shard. A script uses the clock of its shard's master, so there is one clock for each
 * master. A single Redis has one clock.
 */
import { RedisClock } from './redis-clock.ts'

export class ShardClocks {
  /** Called when a master's clock was set back. `clock` continues as before until the shards have been corrected. */
  onSetBack: ((master: string, clock: RedisClock) => void) | undefined
  /** Called if a master's clock was set forward, or seems so, before this process takes over its new time. */
  onSetForward: (() => void) | undefined
  readonly #masterOf: ((shard: number) => string) | undefined
  readonly #clocks = new Map<string, RedisClock>()
  #last = new RedisClock()

  /** Shards with the same value share a master. Absent if there is only one master. */
  constructor(masterOf?: (shard: number) => string) {
    this.#masterOf = masterOf
  }

  /** The clock of the master that replied last. */
  get last(): RedisClock {
    return this.#last
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

  /**
   * The time of the master that replied last, for work that belongs to no shard. `at`: the moment, by
   * performance.now(). Default: the present.
   */
  now(at?: number): number {
    return this.#last.now(at)
  }

  /**
   * The clock of a master that has not replied yet begins with the latest time of the other masters. The first request
   * to the master may then be too early. That does no harm, because its reply has the right time. A request that is too
   * late would lose time.
   */
  #newClock(): RedisClock {
    if (this.#clocks.size === 0) return new RedisClock()
    return new RedisClock(Math.max(...[...this.#clocks.values()].map((clock) => clock.now())))
  }
}
