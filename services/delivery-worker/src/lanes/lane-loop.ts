/**
 * Decides when to take from the lanes of which shard, and passes the claims on.
 *
 * For each shard it knows when a delivery is next due: from every script's reply, from wakes (pub/sub), and from reads
 * of the busy-shards hint and of all shards (lane-hints.ts). A worker takes only deliveries for which it has slots and
 * bytes. Several workers share a shard by alternating.
 *
 * Lanes of unproven endpoints wait in a separate line (`unproven`) for slots of their own half. There is one take from
 * this line at a time, or a few while round trips are long. While no such slot is free, the line is not read. So these
 * lanes cost nothing, whatever their number.
 *
 * While round trips are long, takes follow another policy (distant-takes.ts).
 */
import { createStateLog, joinStates, type ReportMember } from '@fantail/runtime'
import { type Lanes, LEASE_MARGIN_MS, NUMBER, type TakeResult } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { LaneBatches } from '../batches/lane-batches.ts'
import type { FreedBy } from '../capacity/freed-capacity.ts'
import type { RedisClock } from '../clocks/redis-clock.ts'
import type { ShardClocks } from '../clocks/shard-clocks.ts'
import type { LogReaders } from '../fifo/log-readers.ts'
import { besideInMs, DistantTakes, isDistant, type RunningTakes, type TakeBounds } from './distant-takes.ts'
import { LaneHints } from './lane-hints.ts'
import { TakenClaims, type TakenClaimsOptions } from './taken-claims.ts'
import { type ShardInLine, UnprovenLine } from './unproven-line.ts'

const LANES_PER_TAKE = 100
/** Claims of one take. Past it: a further take follows. */
const DELIVERIES_PER_TAKE_MAX = 500
/** Takes that a worker makes at a time. Past it: shards wait. */
const TAKES_AT_ONCE_MAX = 8
/** The same while round trips are long. Past it: shards wait. */
const DISTANT_TAKES_AT_ONCE_MAX = 64
/** Pause of the lane loop. Past it: the loop checks again. */
const LANE_WAIT_MS_MAX = 60_000
const RECONNECT_JITTER_MS = 500
/** A lane with unreadable data has a line in the log once in this time. */
const UNREADABLE_LOG_MS = 60_000
/** Lanes with unreadable data that a worker remembers to have logged. Past it: they are logged more often. */
const UNREADABLE_LANES_MAX = 1_000
const TAKE_RETRY_MS = 500
/** After unproven endpoints have waited for a slot, slots that are freed within this time are used by one take. */
const UNPROVEN_GATHER_MS = 100

interface LaneLoopOptions extends Omit<TakenClaimsOptions, 'onStarved'> {
  batches: Pick<LaneBatches, 'takes' | 'add' | 'limit' | 'unprovenClaims'>
  clocks: ShardClocks
  lanes: Lanes
  readers: Pick<LogReaders, 'read' | 'capacity'>
  attemptTimeoutMs: number
  /** Sends all commands of `ask` in one round trip. */
  inOneWrite<T>(ask: () => T): T
  /** Called once a second together with the read of the hints. Its commands are sent in the same round trip. */
  onPoll(): void
}

export class LaneLoop {
  readonly #options: LaneLoopOptions
  readonly #report: ReportMember
  readonly #hints: LaneHints
  readonly #claims: TakenClaims
  readonly #distant: DistantTakes
  /** Shard → Redis time of its next due delivery. */
  readonly #due = new Map<number, number>()
  readonly #line = new UnprovenLine()
  /** Shards with running takes. */
  readonly #taking = new Map<number, RunningTakes>()
  #running = 0
  /**
   * By shard: subscriptions whose lanes the latest take from the line has passed over, because this worker was making
   * as many attempts as it may.
   */
  readonly #passedOver = new Map<number, Set<string>>()
  #unprovenTakes = 0
  #timer: NodeJS.Timeout | undefined
  #notBefore = 0
  /** True if deliveries are due, and no slot or no bytes are free for them. */
  #starved = false
  /** True if lanes of unproven endpoints wait, and no slot or no bytes are free for them. */
  #unprovenStarved = false
  /** By performance.now(). */
  #unprovenNotBefore = 0
  #takes = 0
  /** Lanes that have a line in the log. */
  readonly #unreadable = new LRUCache<string, true>({ max: UNREADABLE_LANES_MAX, ttl: UNREADABLE_LOG_MS })
  #stopped = false

  constructor(options: LaneLoopOptions) {
    this.#options = options
    this.#report = joinStates(createStateLog({ log: options.log, what: 'lanes', initial: 'up' }))
    const { dueAt, unprovenAt } = this
    const onTime = () => this.#schedule()
    this.#hints = new LaneHints({ ...options, report: this.#report, dueAt, unprovenAt, onTime })
    const onStarved = () => {
      this.#starved = true
    }
    this.#claims = new TakenClaims({ ...options, onStarved })
    this.#distant = new DistantTakes(options.slots)
  }

  start(): void {
    this.#hints.start()
  }

  /** Stops taking. Resolves when no take is running. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#hints.stop()
    while (this.#taking.size > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  /** Called when time travel has moved the time. Resolves when it is known. */
  moved(): Promise<void> {
    return this.#hints.moved()
  }

  /** How many takes are running, and how many there ever were. */
  get takes(): { running: number; total: number } {
    return { running: this.#running, total: this.#takes }
  }

  /** A delivery of the shard is due at this Redis time. null: a script has reported that none is. */
  readonly dueAt = (shard: number, at: number | null): void => {
    if (at === null) return
    if ((this.#due.get(shard) ?? Number.POSITIVE_INFINITY) <= at) return
    this.#due.set(shard, at)
    this.#schedule()
  }

  /** When the shard's first lane of an unproven endpoint began to wait, by Redis time. null: none waits. */
  readonly unprovenAt = (shard: number, at: number | null): void => {
    if (this.#line.report(shard, at)) this.#schedule()
  }

  /**
   * `by`: the subscription whose first attempt has ended. No settlement tells the lane of it, so a lane that was passed
   * over is looked at again.
   */
  capacityFreed(by?: FreedBy): void {
    if (by && this.#passedOver.get(by.shard)?.delete(by.record.id))
      this.unprovenAt(by.shard, this.#options.clocks.of(by.shard).now() + UNPROVEN_GATHER_MS)
    if (!this.#starved && !this.#unprovenStarved) return
    const isFree = this.#starved && this.#free(true) > 0
    const isUnprovenFree = this.#unprovenStarved && this.#free(false) > 0
    if (isFree) this.#starved = false
    if (isUnprovenFree) {
      this.#unprovenStarved = false
      this.#unprovenNotBefore = performance.now() + UNPROVEN_GATHER_MS
    }
    if (isFree || isUnprovenFree) this.#schedule()
  }

  /**
   * Called when Redis can be reached again. Ended claims are settled first. The first take is delayed, so that not all
   * workers take at once.
   */
  reconnected(): void {
    this.#notBefore = performance.now() + Math.random() * RECONNECT_JITTER_MS
    this.#hints.reconnected()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#stopped || this.#running >= this.#takesMax) return
    const waits = [this.#nextShard()?.inMs, this.#nextInLine()?.inMs].filter((inMs) => inMs !== undefined)
    if (waits.length === 0) return
    const wait = Math.max(Math.min(...waits), this.#notBefore - performance.now())
    if (wait <= 0) setImmediate(() => this.#takeDue())
    else this.#timer = setTimeout(() => this.#takeDue(), Math.min(Math.ceil(wait), LANE_WAIT_MS_MAX))
  }

  #nextShard(): { shard: number; inMs: number } | undefined {
    if (this.#starved) return undefined
    const now = performance.now()
    let next: { shard: number; inMs: number } | undefined
    for (const [shard, at] of this.#due) {
      const clock = this.#options.clocks.of(shard)
      const inMs = Math.max(at - clock.now(now), this.#besideInMs(shard, clock, now))
      if (inMs < (next?.inMs ?? Number.POSITIVE_INFINITY)) next = { shard, inMs }
    }
    return next
  }

  /** When a take of the shard may begin. */
  #besideInMs(shard: number, clock: RedisClock, now: number): number {
    const taking = this.#taking.get(shard)
    return taking ? besideInMs(taking, clock, now) : 0
  }

  get #takesMax(): number {
    return isDistant(this.#options.clocks.last) ? DISTANT_TAKES_AT_ONCE_MAX : TAKES_AT_ONCE_MAX
  }

  /**
   * The first shard in the line. While the worker takes from it, the other shards wait. Behind a slow Redis they do not
   * wait, because a busy shard has running takes all the time.
   */
  #nextInLine(): (ShardInLine & { inMs: number }) | undefined {
    const { first } = this.#line
    if (!first || this.#unprovenStarved) return undefined
    const clock = this.#options.clocks.of(first.shard)
    if (this.#unprovenTakes >= (isDistant(clock) ? NUMBER.DISTANT_TAKES : 1)) return undefined
    if (this.#taking.has(first.shard) && !isDistant(clock)) return undefined
    const now = performance.now()
    const inMs = first.at - clock.now(now)
    return { ...first, inMs: Math.max(inMs, this.#unprovenNotBefore - now) }
  }

  #takeDue(): void {
    if (performance.now() >= this.#notBefore) {
      this.#takeUnproven()
      while (!this.#stopped && this.#running < this.#takesMax) {
        const next = this.#nextShard()
        if (!next || next.inMs > 0) break
        this.#starved = this.#free(true) <= 0
        if (!this.#starved) void this.#take(next.shard)
      }
    }
    this.#schedule()
  }

  #takeUnproven(): void {
    while (!this.#stopped && this.#running < this.#takesMax) {
      const inLine = this.#nextInLine()
      if (!inLine || inLine.inMs > 0) return
      this.#unprovenStarved = this.#free(false) <= 0
      if (!this.#unprovenStarved) void this.#take(inLine.shard, inLine)
    }
  }

  /** `inLine`: takes lanes of unproven endpoints only, and nothing else that is due. */
  async #take(shard: number, inLine?: ShardInLine): Promise<void> {
    const { lanes, readers, attemptTimeoutMs, clocks } = this.#options
    const askedAt = performance.now()
    const isBeside = this.#taking.has(shard)
    this.#begin(shard, askedAt)
    if (inLine) {
      this.#unprovenTakes++
      this.#line.forget(shard)
    } else {
      this.#due.delete(shard)
    }
    // Behind a slow Redis, the next take does not wait until the reply says that more is due.
    if (!inLine && this.#distant.isYielding(shard) && isDistant(clocks.of(shard)))
      this.#due.set(shard, clocks.of(shard).now())
    // Running takes share the free slots. Claims beyond them would have to return to their lanes.
    const share = Math.ceil(this.#free(true) / this.#running)
    const bounds = this.#bounds(shard, askedAt, isBeside)
    if (inLine) this.#notePassedOver(shard, bounds.limits)
    try {
      const result = await lanes.take(shard, {
        lanesMax: LANES_PER_TAKE,
        deliveriesMax: inLine ? 0 : Math.min(share, DELIVERIES_PER_TAKE_MAX),
        unprovenMax: inLine ? Math.ceil(this.#free(false) / this.#unprovenTakes) : 0,
        unprovenClaims: inLine && this.#options.batches.unprovenClaims(),
        ...(inLine?.till !== undefined && { unprovenTill: inLine.till }),
        leaseMs: attemptTimeoutMs + LEASE_MARGIN_MS + NUMBER.SEND_AHEAD_MS,
        logsMax: readers.capacity,
        ...bounds,
      })
      clocks.report(shard, result.now, askedAt)
      this.#note(shard, result, inLine)
      for (const claim of result.logs) readers.read(shard, claim)
      if (isDistant(clocks.of(shard))) this.#distant.remember(shard, result, askedAt)
      await this.beginClaims(shard, result, askedAt)
      this.#report(shard, 'up')
    } catch (error) {
      this.#report(shard, 'down', error)
      this.#distant.failed(shard)
      this.#due.delete(shard)
      const again = this.#options.clocks.of(shard).now() + TAKE_RETRY_MS
      if (inLine) this.unprovenAt(shard, again)
      else this.dueAt(shard, again)
    } finally {
      this.#end(shard)
      if (inLine) this.#unprovenTakes--
      this.#schedule()
    }
  }

  #notePassedOver(shard: number, limits: ReadonlyMap<string, number>): void {
    const ids = new Set<string>()
    for (const [id, claims] of limits) if (claims === 0) ids.add(id)
    if (ids.size > 0) this.#passedOver.set(shard, ids)
    else this.#passedOver.delete(shard)
  }

  #begin(shard: number, askedAt: number): void {
    this.#taking.set(shard, { takes: (this.#taking.get(shard)?.takes ?? 0) + 1, askedAt })
    this.#running++
    this.#takes++
  }

  #end(shard: number): void {
    const taking = this.#taking.get(shard)
    if (taking && --taking.takes === 0) this.#taking.delete(shard)
    this.#running--
  }

  #logUnreadable(shard: number, { name, error }: TakeResult['unreadable'][number]): void {
    if (this.#unreadable.has(name)) return
    this.#unreadable.set(name, true)
    this.#options.log.error({ shard, lane: name, error }, 'lane.unreadable')
  }

  #note(shard: number, { nextDueAt, nextUnprovenAt }: TakeResult, inLine: ShardInLine | undefined): void {
    this.dueAt(shard, nextDueAt)
    this.unprovenAt(shard, nextUnprovenAt)
    if (inLine) this.#hints.correctUnproven(shard, nextUnprovenAt)
    else this.#hints.correct(shard, nextDueAt)
  }

  /**
   * Records deliveries that a script has removed, logs lanes with unreadable data, and begins the claims. `askedAt`: by
   * performance.now().
   */
  beginClaims(shard: number, result: TakeResult, askedAt: number): Promise<void> {
    for (const one of result.unreadable) this.#logUnreadable(shard, one)
    return this.#claims.begin(shard, result, askedAt)
  }

  /** The number of attempts for which slots and bytes are free. */
  #free(proven: boolean): number {
    const { slots, bytes } = this.#options
    const free = proven ? slots.freeProven : slots.freeUnproven
    return free > 0 ? Math.min(free, bytes.attemptsLeft(proven)) : free
  }

  /** How many claims each busy subscription may get. All other lanes may get as many claims as a new lane. */
  #bounds(shard: number, now: number, isBeside: boolean): TakeBounds {
    const { slots, clocks, batches } = this.#options
    const clock = clocks.of(shard)
    const limits = isDistant(clock) ? this.#distant.nextLimits(shard, now) : new Map<string, number>()
    for (const [id, capacity] of slots.busy()) if (!limits.has(id)) limits.set(id, capacity)
    batches.limit(limits)
    if (isDistant(clock)) return this.#distant.bounds(limits, clock, isBeside)
    return { limits, othersMax: slots.startingAllowance }
  }
}
