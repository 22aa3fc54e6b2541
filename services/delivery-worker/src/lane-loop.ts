/**
 * Decides when which shard's lanes are taken from, and hands the claims on.
 *
 * For each shard it knows when something is next due: told by every script's reply, by wakes (pub/sub), by a poll of the
 * busy-shards hint and a look at all shards (lane-hints.ts). A worker takes only what it has free slots for; several
 * workers share a shard by taking in turn.
 */
import { createStateLog } from '@fantail/runtime'
import type { LaneStore, TakeResult } from '@fantail/store'
import { LEASE_MARGIN_MS } from './express.ts'
import type { LogReaders } from './fifo/log-readers.ts'
import { LaneClaims, type LaneClaimsOptions } from './lane-claims.ts'
import { LaneHints } from './lane-hints.ts'
import { type TellPart, tellParts } from './part-states.ts'

const LANES_PER_TAKE = 100
const DELIVERIES_PER_TAKE_MAX = 500
/** Send times are at most this far ahead; the lease covers it. */
const AHEAD_MS = 250
const TAKES_AT_ONCE_MAX = 8
const WAIT_MAX_MS = 60_000
const RECONNECT_JITTER_MS = 500
const RETRY_MS = 500

export interface LaneLoopOptions extends Omit<LaneClaimsOptions, 'onStarved'> {
  lanes: LaneStore
  readers: Pick<LogReaders, 'read' | 'room'>
  attemptTimeoutMs: number
  /** Called once a second with the look at the hints: what else asks Redis something then shares their trip. */
  onLook(): void
}

export class LaneLoop {
  readonly #options: LaneLoopOptions
  readonly #tell: TellPart
  readonly #hints: LaneHints
  readonly #claims: LaneClaims
  /** Shard → Redis time of its next due delivery. */
  readonly #due = new Map<number, number>()
  readonly #taking = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #notBefore = 0
  #starved = false
  #stopped = false

  constructor(options: LaneLoopOptions) {
    this.#options = options
    this.#tell = tellParts(createStateLog({ log: options.log, what: 'lanes', initial: 'up' }))
    const { dueAt } = this
    const onTime = () => this.#schedule()
    this.#hints = new LaneHints({ ...options, tell: this.#tell, dueAt, onTime })
    const onStarved = () => {
      this.#starved = true
    }
    this.#claims = new LaneClaims({ ...options, onStarved })
  }

  start(): void {
    this.#hints.start()
  }

  /** Takes no more; resolves when no take is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#hints.stop()
    while (this.#taking.size > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  /** Something of the shard is due at this Redis time; null: a script said that nothing is. */
  readonly dueAt = (shard: number, at: number | null): void => {
    if (at === null) return
    if ((this.#due.get(shard) ?? Number.POSITIVE_INFINITY) <= at) return
    this.#due.set(shard, at)
    this.#schedule()
  }

  /** Slots came free. */
  readonly roomChanged = (): void => {
    if (!this.#starved || this.#options.slots.free <= 0) return
    this.#starved = false
    this.#schedule()
  }

  /** The connection is back: what has ended is settled first, and the workers do not all come at once. */
  reconnected(): void {
    this.#notBefore = performance.now() + Math.random() * RECONNECT_JITTER_MS
    this.#hints.reconnected()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#stopped || this.#starved || this.#taking.size >= TAKES_AT_ONCE_MAX) return
    const next = this.#nextShard()
    if (!next) return
    const wait = Math.max(next.inMs, this.#notBefore - performance.now())
    if (wait <= 0) setImmediate(() => this.#takeDue())
    else this.#timer = setTimeout(() => this.#takeDue(), Math.min(Math.ceil(wait), WAIT_MAX_MS))
  }

  #nextShard(): { shard: number; inMs: number } | undefined {
    const now = performance.now()
    let next: { shard: number; inMs: number } | undefined
    for (const [shard, at] of this.#due) {
      if (this.#taking.has(shard)) continue
      const inMs = at - this.#options.clocks.of(shard).now(now)
      if (!next || inMs < next.inMs) next = { shard, inMs }
    }
    return next
  }

  #takeDue(): void {
    while (!this.#stopped && this.#taking.size < TAKES_AT_ONCE_MAX) {
      const next = this.#nextShard()
      if (!next || next.inMs > 0 || performance.now() < this.#notBefore) break
      if (this.#options.slots.free <= 0) {
        this.#starved = true
        return
      }
      void this.#take(next.shard)
    }
    this.#schedule()
  }

  async #take(shard: number): Promise<void> {
    const { lanes, slots, readers, attemptTimeoutMs } = this.#options
    this.#taking.add(shard)
    this.#due.delete(shard)
    const askedAt = performance.now()
    try {
      const result = await lanes.take(shard, {
        lanesMax: LANES_PER_TAKE,
        // Takes under way share what is free; what one claims beyond it would have to go back.
        deliveriesMax: Math.min(Math.ceil(slots.free / this.#taking.size), DELIVERIES_PER_TAKE_MAX),
        leaseMs: attemptTimeoutMs + LEASE_MARGIN_MS + AHEAD_MS,
        limits: this.#limits(),
        othersMax: slots.startingRoom,
        logsMax: readers.room,
      })
      this.#options.clocks.tell(shard, result.now, askedAt)
      this.dueAt(shard, result.nextDueAt)
      this.#hints.correct(shard, result.nextDueAt)
      for (const claim of result.logs) readers.read(shard, claim)
      await this.handOn(shard, result, askedAt)
      this.#tell(shard, 'up')
    } catch (error) {
      this.#tell(shard, 'down', error)
      this.dueAt(shard, this.#options.clocks.of(shard).now() + RETRY_MS)
    } finally {
      this.#taking.delete(shard)
      this.#schedule()
    }
  }

  /** Records what a script removed by itself and begins what it claimed. `askedAt`: by performance.now(). */
  handOn(shard: number, result: TakeResult, askedAt: number): Promise<void> {
    return this.#claims.handOn(shard, result, askedAt)
  }

  /** How many claims each subscription that is busy here may get; the others get what a new one may start with. */
  #limits(): Map<string, number> {
    const limits = new Map<string, number>()
    for (const [id, room] of this.#options.slots.busy()) limits.set(id, room)
    return limits
  }
}
