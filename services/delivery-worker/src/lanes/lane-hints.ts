/**
 * Finds due shards that no wake and no reply has named. The busy-shards hint is read once a second, because a wake may
 * be lost. All shards are read once a minute, because a hint may be lost. The same round trip reads Redis's time.
 */
import type { ReportMember } from '@fantail/runtime'
import { type Lanes, SHARD_COUNT, type ShardTimes } from '@fantail/store'
import type { ShardClocks } from '../clocks/shard-clocks.ts'

const HINTS_MS = 1_000
const HINT_SWEEP_MS = 60_000
/**
 * Distance to the next shard whose time is read. It reaches every shard in turn, and soon a shard of each master.
 */
const TIMED_DISTANCE = 17

interface LaneHintsOptions {
  lanes: Pick<Lanes, 'dueTimes' | 'busyShards' | 'noteDue' | 'noteUnproven' | 'now'>
  clocks: ShardClocks
  report: ReportMember
  /** A delivery of the shard is due at this Redis time. null: none is due. */
  dueAt(shard: number, at: number | null): void
  /** Like `dueAt`, for the first lane in the line of unproven endpoints. */
  unprovenAt(shard: number, at: number | null): void
  /** Called when a clock has got the time. */
  onTime(): void
  /** Sends all commands of `ask` in one round trip. */
  inOneWrite<T>(ask: () => T): T
  /** Called once a second. Its commands are sent in the same round trip as the read of the hints. */
  onPoll(): void
}

export class LaneHints {
  readonly #options: LaneHintsOptions
  /** Shards that a hint has reported as due. The result of a take replaces it. */
  readonly #hinted = new Set<number>()
  /** Like #hinted, for lanes of unproven endpoints. */
  readonly #hintedUnproven = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #sweptAt = Number.NEGATIVE_INFINITY
  /** The shard whose time is read next. */
  #timed = 0
  #stopped = false

  constructor(options: LaneHintsOptions) {
    this.#options = options
  }

  start(): void {
    void this.#read()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  /** Hints may be lost, so the next read is of all shards. */
  reconnected(): void {
    this.#sweptAt = Number.NEGATIVE_INFINITY
  }

  /** Called when time travel has moved the time. Resolves when it is known. */
  moved(): Promise<void> {
    return this.#options.inOneWrite(() => this.#reportTime())
  }

  /** Replaces a hint whose time has passed. Otherwise the worker would take from its shard every second, for ever. */
  correct(shard: number, dueAt: number | null): void {
    if (this.#hinted.delete(shard)) this.#options.lanes.noteDue(shard, dueAt).catch(laterAgain)
  }

  /** Like `correct`, after a take that has read the line of unproven endpoints. */
  correctUnproven(shard: number, unprovenAt: number | null): void {
    if (this.#hintedUnproven.delete(shard))
      this.#options.lanes.noteUnproven(shard, unprovenAt).catch(laterAgain)
  }

  /**
   * Reads hints once a second and all shards once a minute. A lost wake therefore delays a delivery by a second, and a
   * lost hint by a minute. Redis's time comes in the same round trip. Otherwise a worker whose clock is slow would make
   * its first take too late.
   */
  async #read(): Promise<void> {
    try {
      await this.#options.inOneWrite(() => {
        void this.#reportTime()
        this.#options.onPoll()
        return performance.now() - this.#sweptAt > HINT_SWEEP_MS ? this.#readAll() : this.#readHints()
      })
      this.#options.report('hints', 'up')
    } catch (error) {
      this.#options.report('hints', 'down', error)
    }
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#read(), HINTS_MS)
  }

  async #readAll(): Promise<void> {
    this.#reportTimes(await this.#options.lanes.dueTimes())
    this.#sweptAt = performance.now()
  }

  async #readHints(): Promise<void> {
    const times = await this.#options.lanes.busyShards()
    this.#note(times.due, this.#hinted)
    this.#note(times.unproven, this.#hintedUnproven)
    this.#reportTimes(times)
  }

  #reportTimes({ due, unproven }: ShardTimes): void {
    for (const [shard, at] of due) this.#options.dueAt(shard, at)
    for (const [shard, at] of unproven) this.#options.unprovenAt(shard, at)
  }

  #note(times: Map<number, number>, hinted: Set<number>): void {
    for (const [shard, at] of times) if (at <= this.#options.clocks.of(shard).now()) hinted.add(shard)
  }

  /** Reads the time of one master after the other, if there are several. */
  async #reportTime(): Promise<void> {
    try {
      const shard = this.#timed
      this.#timed = (shard + TIMED_DISTANCE) % SHARD_COUNT
      const askedAt = performance.now()
      this.#options.clocks.report(shard, await this.#options.lanes.now(shard), askedAt)
      this.#options.onTime()
    } catch {
      // The read of the hints in the same round trip reports the error.
    }
  }
}

function laterAgain(): void {
  // The next read of the hints tries this again.
}
