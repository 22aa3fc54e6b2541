/**
 * Decides when which shard's lanes are taken from, and hands the claims on.
 *
 * For each shard it knows when something is next due: told by every script's reply, by wakes (pub/sub), by a poll of the
 * busy-shards hint once a second (a wake may be lost), and by a look at all shards once a minute (a hint may be lost).
 * A worker takes only what it has free slots for; several workers share a shard by taking in turn.
 */
import { retryCost } from '@fantail/policy'
import { createStateLog, type Logger } from '@fantail/runtime'
import {
  type ClaimedLane,
  CorruptRecordError,
  type LaneStore,
  SHARD_COUNT,
  type TakeResult,
} from '@fantail/store'
import type { AttemptSlots } from './attempt-slots.ts'
import { type CompiledSlice, mayGo } from './compiled-slice.ts'
import { LEASE_MARGIN_MS } from './express.ts'
import { runOf } from './fifo/group-run.ts'
import type { LogReaders } from './fifo/log-readers.ts'
import { type ClaimInHand, claimedOf, type LaneAttempts } from './lane-attempts.ts'
import type { LaneBodies } from './lane-bodies.ts'
import type { LanePacing } from './lane-pacing.ts'
import { MessageContext } from './message-context.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'
import { type TellPart, tellParts } from './part-states.ts'
import type { PlanCache } from './plan-cache.ts'
import type { Settling } from './settling.ts'
import type { ShardClocks } from './shard-clocks.ts'

const LANES_PER_TAKE = 100
const DELIVERIES_PER_TAKE_MAX = 500
/** Send times are at most this far ahead; the lease covers it. */
const AHEAD_MS = 250
const TAKES_AT_ONCE_MAX = 4
const HINTS_MS = 1_000
const SWEEP_MS = 60_000
/** Comes by all shards, and soon by each master. */
const TIMED_STEP = 17
const RECONNECT_JITTER_MS = 500
const RETRY_MS = 500
/** What was in flight, or on its way here, when the lane was purged. */
const UNSUBSCRIBED = { op: 'discard', cause: 'unsubscribed' } as const
/** A claim that got no slot waits so long, lest the two of us go round in circles. */
const REFUSED_MS = 250

export interface LaneLoopOptions {
  lanes: LaneStore
  slots: AttemptSlots
  plans: PlanCache
  bodies: LaneBodies
  attempts: LaneAttempts
  readers: Pick<LogReaders, 'read' | 'room'>
  pacing: Pick<LanePacing, 'unsent'>
  settling: Settling
  recorder: OutcomeRecorder
  clocks: ShardClocks
  log: Logger
  attemptTimeoutMs: number
  /** Called once a second with the look at the hints: what else asks Redis something then shares their trip. */
  onLook(): void
}

export class LaneLoop {
  readonly #options: LaneLoopOptions
  readonly #tell: TellPart
  /** Shard → Redis time of its next due delivery. */
  readonly #due = new Map<number, number>()
  readonly #taking = new Set<number>()
  /** Shards whose hint told of something due; what the take finds takes its place. */
  readonly #hinted = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #hints: NodeJS.Timeout | undefined
  #sweptAt = Number.NEGATIVE_INFINITY
  #notBefore = 0
  /** The shard whose time is asked next. */
  #timed = 0
  #starved = false
  #stopped = false

  constructor(options: LaneLoopOptions) {
    this.#options = options
    this.#tell = tellParts(createStateLog({ log: options.log, what: 'lanes', initial: 'up' }))
  }

  start(): void {
    void this.#readHints()
  }

  /** Takes no more; resolves when no take is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    clearTimeout(this.#hints)
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
    this.#sweptAt = Number.NEGATIVE_INFINITY
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#stopped || this.#starved || this.#taking.size >= TAKES_AT_ONCE_MAX) return
    const next = this.#nextShard()
    if (!next) return
    const wait = Math.max(next.inMs, this.#notBefore - performance.now())
    if (wait <= 0) setImmediate(() => this.#takeDue())
    else this.#timer = setTimeout(() => this.#takeDue(), Math.min(Math.ceil(wait), SWEEP_MS))
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
        deliveriesMax: Math.min(slots.free, DELIVERIES_PER_TAKE_MAX),
        leaseMs: attemptTimeoutMs + LEASE_MARGIN_MS + AHEAD_MS,
        limits: this.#limits(),
        othersMax: slots.startingRoom,
        logsMax: readers.room,
      })
      this.#options.clocks.tell(shard, result.now)
      this.dueAt(shard, result.nextDueAt)
      this.#correctHint(shard, result.nextDueAt)
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

  /** How many claims each subscription that is busy here may get; the others get what a new one may start with. */
  #limits(): Map<string, number> {
    const limits = new Map<string, number>()
    for (const [id, room] of this.#options.slots.busy()) limits.set(id, room)
    return limits
  }

  /** Records what the script removed by itself and begins what it claimed. `askedAt`: by performance.now(). */
  async handOn(shard: number, result: TakeResult, askedAt: number): Promise<void> {
    for (const { subscriptionId, delivery } of result.expired)
      this.#options.recorder.expired(subscriptionId, delivery)
    const deliveries = result.lanes.flatMap(deliveriesOf)
    if (deliveries.length === 0) return
    // Each lane takes its own from it, in order.
    const messages = (await this.#options.bodies.get(shard, deliveries)).values()
    for (const lane of result.lanes) await this.#handOnLane(shard, lane, messages, askedAt)
  }

  async #handOnLane(
    shard: number,
    lane: ClaimedLane,
    messages: Iterator<MessageContext | Error | null>,
    askedAt: number,
  ): Promise<void> {
    const slice = await this.#sliceOf(shard, lane)
    const subscription = slice?.byId.get(lane.subscriptionId)
    const next = () => messages.next().value ?? null
    for (const claim of lane.claims) {
      const message = next()
      const run = claim.run?.map((delivery) => ({ delivery, message: next() }))
      const claimed = { subscriptionId: lane.subscriptionId, delivery: claim.delivery, lease: claim.lease }
      if (!(message instanceof MessageContext)) {
        const detail =
          message === null ? 'its body is missing' : `its body cannot be read: ${message.message}`
        this.#options.log.error({ shard, subscriptionId: lane.subscriptionId, detail }, 'delivery.set_aside')
        void this.#options.settling.settle(shard, claimed, { op: 'aside', detail })
        continue
      }
      if (!subscription) {
        // Deleted this moment, or its or its slice's record is unreadable: the lease is left to run out, so that nothing spins.
        this.#options.log.warn({ shard, subscriptionId: lane.subscriptionId }, 'claim.subscription_unknown')
        continue
      }
      const sendAt = claim.sendAt === null ? null : this.#options.clocks.of(shard).localTime(claim.sendAt)
      const hand = { subscription, claim, message, sendAt, checkedAt: askedAt }
      this.#begin(run ? { ...hand, run: runOf(message, run) } : hand)
    }
  }

  /** null where it is gone or cannot be read: the other lanes of the take go on all the same. */
  async #sliceOf(shard: number, { sliceId, sliceRevision }: ClaimedLane): Promise<CompiledSlice | null> {
    try {
      return await this.#options.plans.slice({ sliceId, shard }, sliceRevision)
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error
      this.#options.log.error({ shard, sliceId, err: error }, 'slice.unreadable')
      return null
    }
  }

  #begin(hand: ClaimInHand): void {
    const { subscription, claim, message } = hand
    if (claim.state?.kind === 'dead') {
      this.#options.attempts.bury(hand)
      return
    }
    if (!mayGo(subscription.record, message.message)) {
      void this.#discard(hand)
      return
    }
    const { id, maxInFlight } = subscription.record
    if (claim.sendAt !== null || this.#options.slots.acquire(id, maxInFlight)) {
      this.#options.attempts.begin(hand)
      return
    }
    this.#starved ||= this.#options.slots.free <= 0
    const { pacing } = this.#options
    if (subscription.paced) pacing.unsent(subscription.shard, id, retryCost(claim.state))
    const back = { op: 'return', delayMs: REFUSED_MS } as const
    void this.#options.settling.settle(subscription.shard, claimedOf(hand), back)
  }

  async #discard(hand: ClaimInHand): Promise<void> {
    const { subscription, message, claim } = hand
    const claimed = claimedOf(hand)
    const { accepted } = await this.#options.settling.settle(subscription.shard, claimed, UNSUBSCRIBED)
    const state = claim.state ?? { attempts: 0, statusCode: null, error: null }
    if (accepted)
      this.#options.recorder.ended({ claimed, subscription, message }, 'discarded', UNSUBSCRIBED.cause, state)
  }

  /**
   * Hints once a second, all shards once a minute. Lost wakes cost a second, lost hints a minute. The time comes in the
   * same trip: a worker whose own clock is behind would else wait for its first take by as much.
   */
  async #readHints(): Promise<void> {
    try {
      void this.#tellTime()
      this.#options.onLook()
      const sweep = performance.now() - this.#sweptAt > SWEEP_MS
      if (sweep) {
        const times = await this.#options.lanes.dueTimes()
        times.forEach((at, shard) => {
          this.dueAt(shard, at)
        })
        this.#sweptAt = performance.now()
      } else {
        for (const [shard, at] of await this.#options.lanes.busyShards()) {
          if (at <= this.#options.clocks.of(shard).now()) this.#hinted.add(shard)
          this.dueAt(shard, at)
        }
      }
      this.#tell('hints', 'up')
    } catch (error) {
      this.#tell('hints', 'down', error)
    }
    if (!this.#stopped) this.#hints = setTimeout(() => void this.#readHints(), HINTS_MS)
  }

  /** A hint that stays when its time is past would have its shard looked at every second, for ever. */
  #correctHint(shard: number, dueAt: number | null): void {
    if (!this.#hinted.delete(shard)) return
    this.#options.lanes.noteDue(shard, dueAt).catch(() => {
      // The next look at the hints brings it here again.
    })
  }

  /** Of one master after the other, where there are several. */
  async #tellTime(): Promise<void> {
    try {
      const shard = this.#timed
      this.#timed = (shard + TIMED_STEP) % SHARD_COUNT
      this.#options.clocks.tell(shard, await this.#options.lanes.now(shard))
      this.#schedule()
    } catch {
      // The hints, asked for in the same trip, tell of it.
    }
  }
}

function deliveriesOf({ claims }: ClaimedLane): Buffer[] {
  return claims.flatMap(({ delivery, run }) => (run ? [delivery, ...run] : delivery))
}
