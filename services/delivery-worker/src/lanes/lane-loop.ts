/**
 * Decides when to take from the lanes of which shard, and passes the claims on.
 *
 * For each shard it knows when a delivery is next due: from every script's reply, from wakes (pub/sub), and from reads
 * of the busy-shards hint and of all shards (lane-hints.ts). A worker takes only deliveries for which it has slots and
 * bytes. Several workers share a shard by alternating.
 *
 * Lanes of unproven endpoints wait in a separate line (`turns`) for slots of their own half. There is one take from
 * this line at a time. While no such slot is free, the line is not read. So these lanes cost nothing, whatever their
 * number.
 */
import { SEND_AHEAD_MS } from '@fantail/policy'
import { createStateLog } from '@fantail/runtime'
import type { LaneStore, TakeResult } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { LaneBatches } from '../batches/lane-batches.ts'
import type { LogReaders } from '../fifo/log-readers.ts'
import { FIRST_LEASE_MARGIN_MS } from '../first-attempts/first-runs.ts'
import { type ReportPart, reportParts } from '../settling/part-states.ts'
import { LaneClaims, type LaneClaimsOptions } from './lane-claims.ts'
import { LaneHints } from './lane-hints.ts'
import { type ShardTurn, TurnLine } from './turn-line.ts'

const LANES_PER_TAKE = 100
/** Claims of one take. Past it: a further take follows. */
const DELIVERIES_PER_TAKE_MAX = 500
/** Takes that a worker makes at a time. Past it: shards wait. */
const TAKES_AT_ONCE_MAX = 8
/** Pause of the lane loop. Past it: the loop checks again. */
const LANE_WAIT_MS_MAX = 60_000
const RECONNECT_JITTER_MS = 500
/** A lane with corrupt data has a line in the log once in this time. */
const CORRUPT_LOG_MS = 60_000
/** Lanes with corrupt data that a worker remembers to have logged. Past it: they are logged more often. */
const CORRUPT_LANES_MAX = 1_000
const TAKE_RETRY_MS = 500
/**
 * After a longer round trip, the attempts of the last take may have ended before the next one. A take then also says
 * how many claims the lanes may get that have no attempt in flight. They would get as many as a new lane.
 */
const LONG_TRIP_MS = 50
/** After such a round trip, attempts that have just begun get this time to end before the next take of full lanes. */
const ATTEMPTS_MS = 100
/** For how long a lane without claims is named in takes. */
const SERVED_MS = 10_000
/** Lanes without an attempt in flight that a worker names in a take. Past it: they get as many as new lanes. */
const SERVED_LANES_MAX = 1_000
/** After turns have waited for a slot, slots that are freed within this time are used by one take. */
const TURNS_GATHER_MS = 100

interface LaneLoopOptions extends Omit<LaneClaimsOptions, 'onStarved'> {
  batches: Pick<LaneBatches, 'takes' | 'add' | 'limit' | 'turnClaims'>
  lanes: LaneStore
  readers: Pick<LogReaders, 'read' | 'capacity'>
  attemptTimeoutMs: number
  /** Sends all commands of `ask` in one round trip. */
  inOneWrite<T>(ask: () => T): T
  /** Called once a second together with the read of the hints. Its commands are sent in the same round trip. */
  onLook(): void
}

export class LaneLoop {
  readonly #options: LaneLoopOptions
  readonly #report: ReportPart
  readonly #hints: LaneHints
  readonly #claims: LaneClaims
  /** Shard → Redis time of its next due delivery. */
  readonly #due = new Map<number, number>()
  readonly #line = new TurnLine()
  readonly #taking = new Set<number>()
  #takingTurns = false
  #timer: NodeJS.Timeout | undefined
  #notBefore = 0
  /** True if deliveries are due, and no slot or no bytes are free for them. */
  #starved = false
  /** True if lanes wait for their turn, and no slot or no bytes are free for them. */
  #turnsStarved = false
  /** By performance.now(). */
  #turnsNotBefore = 0
  #takes = 0
  /** Lanes that have a line in the log. */
  readonly #corrupt = new LRUCache<string, true>({ max: CORRUPT_LANES_MAX, ttl: CORRUPT_LOG_MS })
  /** Lanes that lately had claims, with their shards, while round trips are long. */
  readonly #served = new LRUCache<string, number>({
    maxSize: SERVED_LANES_MAX,
    ttl: SERVED_MS,
    sizeCalculation: () => 1,
  })
  #stopped = false

  constructor(options: LaneLoopOptions) {
    this.#options = options
    this.#report = reportParts(createStateLog({ log: options.log, what: 'lanes', initial: 'up' }))
    const { dueAt, turnAt } = this
    const onTime = () => this.#schedule()
    this.#hints = new LaneHints({ ...options, report: this.#report, dueAt, turnAt, onTime })
    const onStarved = () => {
      this.#starved = true
    }
    this.#claims = new LaneClaims({ ...options, onStarved })
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
    return { running: this.#taking.size, total: this.#takes }
  }

  /** A delivery of the shard is due at this Redis time. null: a script has reported that none is. */
  readonly dueAt = (shard: number, at: number | null): void => {
    if (at === null) return
    if ((this.#due.get(shard) ?? Number.POSITIVE_INFINITY) <= at) return
    this.#due.set(shard, at)
    this.#schedule()
  }

  /** The earliest turn of a lane of the shard, by Redis time. null: no lane waits for its turn. */
  readonly turnAt = (shard: number, at: number | null): void => {
    if (this.#line.report(shard, at)) this.#schedule()
  }

  capacityFreed(): void {
    if (!this.#starved && !this.#turnsStarved) return
    const isFree = this.#starved && this.#free(true) > 0
    const isTurnFree = this.#turnsStarved && this.#free(false) > 0
    if (isFree) this.#starved = false
    if (isTurnFree) {
      this.#turnsStarved = false
      this.#turnsNotBefore = performance.now() + TURNS_GATHER_MS
    }
    if (isFree || isTurnFree) this.#schedule()
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
    if (this.#stopped || this.#taking.size >= TAKES_AT_ONCE_MAX) return
    const waits = [this.#nextShard()?.inMs, this.#nextTurn()?.inMs].filter((inMs) => inMs !== undefined)
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
      if (this.#taking.has(shard)) continue
      const inMs = at - this.#options.clocks.of(shard).now(now)
      if (!next || inMs < next.inMs) next = { shard, inMs }
    }
    return next
  }

  /** The first shard in the line. While the worker takes from it, the other shards wait. */
  #nextTurn(): (ShardTurn & { inMs: number }) | undefined {
    if (this.#turnsStarved || this.#takingTurns) return undefined
    const { first } = this.#line
    if (!first || this.#taking.has(first.shard)) return undefined
    const now = performance.now()
    const inMs = first.at - this.#options.clocks.of(first.shard).now(now)
    return { ...first, inMs: Math.max(inMs, this.#turnsNotBefore - now) }
  }

  #takeDue(): void {
    if (performance.now() >= this.#notBefore) {
      this.#takeTurns()
      while (!this.#stopped && this.#taking.size < TAKES_AT_ONCE_MAX) {
        const next = this.#nextShard()
        if (!next || next.inMs > 0) break
        this.#starved = this.#free(true) <= 0
        if (!this.#starved) void this.#take(next.shard)
      }
    }
    this.#schedule()
  }

  #takeTurns(): void {
    const turn = this.#nextTurn()
    if (this.#stopped || !turn || turn.inMs > 0 || this.#taking.size >= TAKES_AT_ONCE_MAX) return
    this.#turnsStarved = this.#free(false) <= 0
    if (!this.#turnsStarved) void this.#take(turn.shard, turn)
  }

  /** `turn`: takes lanes of unproven endpoints only, and nothing else that is due. */
  async #take(shard: number, turn?: ShardTurn): Promise<void> {
    const { lanes, slots, readers, attemptTimeoutMs } = this.#options
    this.#taking.add(shard)
    this.#takes++
    if (turn) {
      this.#takingTurns = true
      this.#line.forget(shard)
    } else {
      this.#due.delete(shard)
    }
    const askedAt = performance.now()
    // Running takes share the free slots. Claims beyond them would have to return to their lanes.
    const share = Math.ceil(this.#free(true) / this.#taking.size)
    try {
      const result = await lanes.take(shard, {
        lanesMax: LANES_PER_TAKE,
        deliveriesMax: turn ? 0 : Math.min(share, DELIVERIES_PER_TAKE_MAX),
        turnsMax: turn ? Math.ceil(this.#free(false)) : 0,
        turnClaims: turn && this.#options.batches.turnClaims(),
        ...(turn?.till !== undefined && { turnsTill: turn.till }),
        leaseMs: attemptTimeoutMs + FIRST_LEASE_MARGIN_MS + SEND_AHEAD_MS,
        limits: this.#limits(shard),
        othersMax: slots.startingAllowance,
        logsMax: readers.capacity,
      })
      this.#options.clocks.report(shard, result.now, askedAt)
      this.#note(shard, result, turn)
      for (const claim of result.logs) readers.read(shard, claim)
      await this.handOn(shard, result, askedAt)
      if (this.#isFar(shard)) this.#remember(shard, result)
      this.#report(shard, 'up')
    } catch (error) {
      this.#report(shard, 'down', error)
      const again = this.#options.clocks.of(shard).now() + TAKE_RETRY_MS
      if (turn) this.turnAt(shard, again)
      else this.dueAt(shard, again)
    } finally {
      this.#taking.delete(shard)
      if (turn) this.#takingTurns = false
      this.#schedule()
    }
  }

  #logCorrupt(shard: number, { name, error }: TakeResult['corrupt'][number]): void {
    if (this.#corrupt.has(name)) return
    this.#corrupt.set(name, true)
    this.#options.log.error({ shard, lane: name, error }, 'lane.corrupt')
  }

  #note(shard: number, { nextDueAt, nextTurnAt }: TakeResult, turn: ShardTurn | undefined): void {
    this.dueAt(shard, nextDueAt)
    this.turnAt(shard, nextTurnAt)
    if (turn) this.#hints.correctTurn(shard, nextTurnAt)
    else this.#hints.correct(shard, nextDueAt)
  }

  /**
   * Records deliveries that a script has removed, logs lanes with corrupt data, and begins the claims. `askedAt`: by
   * performance.now().
   */
  handOn(shard: number, result: TakeResult, askedAt: number): Promise<void> {
    for (const one of result.corrupt) this.#logCorrupt(shard, one)
    return this.#claims.handOn(shard, result, askedAt)
  }

  #isFar(shard: number): boolean {
    return this.#options.clocks.of(shard).roundTripMs > LONG_TRIP_MS
  }

  /** Called when the claims of a take have begun, and round trips are long. */
  #remember(shard: number, { lanes, nextDueAt }: TakeResult): void {
    // A throttled lane gets what its send times allow.
    const served = lanes.filter(({ claims }) => claims.some(({ sendAt }) => sendAt === null))
    for (const { subscriptionId } of served) this.#served.set(subscriptionId, shard)
    const dueAt = this.#due.get(shard)
    if (served.length === 0 || dueAt === undefined || (nextDueAt !== null && !isPostponed(nextDueAt))) return
    this.#due.set(shard, Math.max(dueAt, this.#options.clocks.of(shard).now() + ATTEMPTS_MS))
  }

  /** The number of attempts for which slots and bytes are free. */
  #free(proven: boolean): number {
    const { slots, bytes } = this.#options
    const free = proven ? slots.freeProven : slots.freeUnproven
    return free > 0 ? Math.min(free, bytes.attemptsLeft(proven)) : free
  }

  /** How many claims each busy subscription may get. All other lanes may get as many claims as a new lane. */
  #limits(shard: number): Map<string, number> {
    const { slots } = this.#options
    const limits = new Map<string, number>()
    if (this.#served.size > 0 && this.#isFar(shard)) {
      for (const [id, of] of this.#served.entries())
        if (of === shard) limits.set(id, slots.freeAllowance(id) ?? slots.startingAllowance)
    }
    for (const [id, capacity] of slots.busy()) limits.set(id, capacity)
    this.#options.batches.limit(limits)
    return limits
  }
}

/** Whether the first lane that is due was full for the take (take-deliveries-1.lua). */
function isPostponed(dueAt: number): boolean {
  return !Number.isInteger(dueAt)
}
