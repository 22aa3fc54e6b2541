/**
 * Finds due shards beside wakes and replies: a poll of the busy-shards hint once a second (a wake may be lost), and a
 * look at all shards once a minute (a hint may be lost). The same round trip reads Redis's time.
 */
import { type LaneStore, SHARD_COUNT, type ShardTimes } from '@fantail/store'
import type { ShardClocks } from '../clocks/shard-clocks.ts'
import type { ReportPart } from '../shards/part-states.ts'

const HINTS_MS = 1_000
const HINT_SWEEP_MS = 60_000
/** Comes by all shards, and soon by each master. */
const TIMED_STEP = 17

interface LaneHintsOptions {
  lanes: Pick<LaneStore, 'dueTimes' | 'busyShards' | 'noteDue' | 'noteTurn' | 'now'>
  clocks: ShardClocks
  report: ReportPart
  /** Something of the shard is due at this Redis time; null: nothing is. */
  dueAt(shard: number, at: number | null): void
  /** Like dueAt, for the first of the lanes that wait for their turn. */
  turnAt(shard: number, at: number | null): void
  /** A clock has got the time. */
  onTime(): void
  /** Sends what `ask` asks of Redis in one trip. */
  inOneWrite<T>(ask: () => T): T
  /** Called once a second: what else asks Redis something then shares the trip. */
  onLook(): void
}

export class LaneHints {
  readonly #options: LaneHintsOptions
  /** Shards that a hint reported as due. The take's result replaces it. */
  readonly #hinted = new Set<number>()
  /** Like #hinted, for turns. */
  readonly #hintedTurns = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #sweptAt = Number.NEGATIVE_INFINITY
  /** The shard whose time is asked next. */
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

  /** Much may have been missed: the next look is at all shards. */
  reconnected(): void {
    this.#sweptAt = Number.NEGATIVE_INFINITY
  }

  /** A hint that stays when its time is past would have its shard looked at every second, for ever. */
  correct(shard: number, dueAt: number | null): void {
    if (this.#hinted.delete(shard)) this.#options.lanes.noteDue(shard, dueAt).catch(laterAgain)
  }

  /** Like `correct`, after a take that has looked at the turns. */
  correctTurn(shard: number, turnAt: number | null): void {
    if (this.#hintedTurns.delete(shard)) this.#options.lanes.noteTurn(shard, turnAt).catch(laterAgain)
  }

  /**
   * Hints once a second, all shards once a minute. Lost wakes cost a second, lost hints a minute. The time comes in the
   * same trip: a worker whose own clock is behind would else wait for its first take by as much.
   */
  async #read(): Promise<void> {
    try {
      await this.#options.inOneWrite(() => {
        void this.#reportTime()
        this.#options.onLook()
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
    this.#note(times.turns, this.#hintedTurns)
    this.#reportTimes(times)
  }

  #reportTimes({ due, turns }: ShardTimes): void {
    for (const [shard, at] of due) this.#options.dueAt(shard, at)
    for (const [shard, at] of turns) this.#options.turnAt(shard, at)
  }

  #note(times: Map<number, number>, hinted: Set<number>): void {
    for (const [shard, at] of times) if (at <= this.#options.clocks.of(shard).now()) hinted.add(shard)
  }

  /** Reads one master after the other, if there are several. */
  async #reportTime(): Promise<void> {
    try {
      const shard = this.#timed
      this.#timed = (shard + TIMED_STEP) % SHARD_COUNT
      const askedAt = performance.now()
      this.#options.clocks.report(shard, await this.#options.lanes.now(shard), askedAt)
      this.#options.onTime()
    } catch {
      // The hints in the same round trip report it.
    }
  }
}

function laterAgain(): void {
  // The next look at the hints brings it here again.
}
