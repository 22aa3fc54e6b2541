/**
 * Holds the throttled claims that this worker has in hand, each until its request is written.
 *
 * waiting ──its time──▶ due ──checked, in time──▶ begun ──in time──▶ written, no longer here
 *    ▲                   │                          │
 *    └──── renewing ◀────┴──────────────────────────┘ if it is late; waiting and due claims also if another claim of
 *                                                      their lane is late
 *
 * A request may be written a little after its send time (sendLateMsMax). A request that is later than that would come
 * too close to the requests after it. The time at which the request is written decides this. After the claim has begun,
 * the worker may still have to dial, or its process may be paused.
 *
 * The worker keeps a late claim. It moves the send times of all claims of this lane that it has in hand by the delay.
 * If another worker has claims of this lane with later send times, only the late claims get new send times
 * (renew-claims-1.lua). After RENEWALS_MAX renewals a claim goes back to its lane.
 *
 * A send time is valid while Redis knows it. After an outage Redis may have forgotten the last send times. So the
 * worker sends nothing while it has no connection to Redis, and renews its claims in hand when the connection is back.
 * If Redis's clock was set forward, its new send times lie among those that this and other workers already have in
 * hand. The worker then puts off its claims in hand and new claims until those earlier send times are over.
 */
import { FAR_SEND_AHEAD_MS, SEND_AHEAD_MS, SEND_LATE_MS_MAX, sendLateMsMax } from '@fantail/policy'
import type { RenewedClaim } from '@fantail/store'
import type { ShardClocks } from '../clocks/shard-clocks.ts'
import type { ClaimInHand } from './claim-in-hand.ts'
import type { Renewals } from './renewals.ts'

/**
 * Requests must be this much earlier than the throttle requires, because the clocks of two workers may differ a little.
 */
const MARGIN_MS = 10
/** How far ahead of its script a send time lies because replies are slow. Past it: it may be late again. */
const WAY_BACK_MS_MAX = 600
/** New send times that a claim gets before it is sent. Past it: the claim goes back to its lane. */
const RENEWALS_MAX = 3
/**
 * Throttled lanes without claims for which a worker keeps an empty set. Past it: an empty set is dropped. Making and
 * dropping a set for each claim would cost more than keeping an empty one.
 */
const EMPTY_SETS_MAX = 1_000

/** A throttled claim that waits for its send time. */
export interface TimedClaim {
  readonly hand: ClaimInHand
  /** Rises with each renewal. Results for an earlier round are ignored. */
  round: number
  renewing: boolean
  /** How often the claim was renewed because it was late. */
  renewals: number
  /** The era of TimedClaims in which the claim was added. */
  era: number
  timer: NodeJS.Timeout | undefined
}

interface TimedClaimsOptions {
  renewals: Pick<Renewals, 'renew'>
  clocks: ShardClocks
  /** Whether Redis can be reached. */
  isConnected(): boolean
  /** Called at the send time of the claim. The caller checks the claim and then calls `start`. */
  onTime(timed: TimedClaim): void
  /** Called when the claim has lost its send time. TimedClaims does not hold it any more. */
  onNone(hand: ClaimInHand): void
}

export class TimedClaims {
  readonly #options: TimedClaimsOptions
  /** By subscription. */
  readonly #lanes = new Map<string, Set<TimedClaim>>()
  /** Until this time, by performance.now(), other workers may have claims with send times of Redis's earlier clock. */
  #othersUntil = Number.NEGATIVE_INFINITY
  /** Rises if Redis may have given all earlier send times to other claims. */
  #era = 0
  #stopped = false

  constructor(options: TimedClaimsOptions) {
    this.#options = options
  }

  add(hand: ClaimInHand): void {
    const leadMs = this.#othersUntil - performance.now()
    if (leadMs <= 0) this.#wait(this.#hold(hand))
    else this.#replace([this.#hold(hand)], leadMs)
  }

  /** Adds a claim whose attempt needs another request. That request gets its own send time. */
  addAgain(hand: ClaimInHand): void {
    this.#replace([this.#hold(hand)], 0)
  }

  /**
   * Returns true if the claim is in time. It is then no longer held here: `isInTime` says whether its request may be
   * written, and `missed` takes it back. Returns false if it gets a new send time, or if `onNone` was called.
   */
  start(timed: TimedClaim): boolean {
    timed.era = this.#era
    if (!this.isInTime(timed)) {
      this.#renewNow(timed)
      return false
    }
    this.leave(timed)
    return true
  }

  isInTime(timed: TimedClaim): boolean {
    return timed.era === this.#era && this.#options.isConnected() && !this.#isLate(timed)
  }

  /** Called if the request of a begun attempt would have been written too late. The claim waits for a new send time. */
  missed(timed: TimedClaim): void {
    this.#enter(timed)
    const leadMs = this.#othersUntil - performance.now()
    if (this.#stopped) this.#drop(timed)
    else if (leadMs > 0) this.#replace([timed], leadMs)
    else this.#renewNow(timed)
  }

  /** Called when Redis can be reached again. It may have forgotten the claims in hand. */
  reconnected(): void {
    this.#era++
    for (const lane of this.#lanes.values()) this.#renew(inOrder(lane), 0)
  }

  /** Called when Redis's clock was set forward. */
  setForward(): void {
    this.#era++
    this.#othersUntil = performance.now() + FAR_SEND_AHEAD_MS
    for (const lane of this.#lanes.values()) this.#replace(inOrder(lane), FAR_SEND_AHEAD_MS)
  }

  /** Called when time travel has moved the time. The stored send times do not change, so they come earlier. */
  moved(): void {
    for (const timed of this.#waiting()) {
      const { hand } = timed
      clearTimeout(timed.timer)
      timed.timer = undefined
      if (hand.claim.sendAt !== null) hand.sendAt = this.#localTimeOf(hand, hand.claim.sendAt)
      this.#wait(timed)
    }
  }

  /** Send times of the claims that only wait, by Redis's clock. */
  get sendTimes(): number[] {
    return this.#waiting().map(timeOf)
  }

  leave(timed: TimedClaim): void {
    clearTimeout(timed.timer)
    const id = timed.hand.subscription.record.id
    const lane = this.#lanes.get(id)
    lane?.delete(timed)
    if (lane?.size === 0 && this.#lanes.size > EMPTY_SETS_MAX) this.#lanes.delete(id)
  }

  /**
   * Calls `onNone` for waiting claims, and for those being renewed when their renewal ends. Due claims belong to their
   * callers.
   */
  stop(): void {
    this.#stopped = true
    for (const timed of this.#waiting()) this.#drop(timed)
  }

  #waiting(): TimedClaim[] {
    return [...this.#lanes.values()].flatMap((lane) => [...lane].filter(({ timer }) => timer))
  }

  #localTimeOf({ subscription }: ClaimInHand, sendAt: number): number {
    return this.#options.clocks.of(subscription.shard).localTime(sendAt)
  }

  #hold(hand: ClaimInHand): TimedClaim {
    const timed = { hand, round: 0, renewing: false, renewals: 0, era: this.#era, timer: undefined }
    this.#enter(timed)
    return timed
  }

  #enter(timed: TimedClaim): void {
    const { id } = timed.hand.subscription.record
    const lane = this.#lanes.get(id)
    if (lane) lane.add(timed)
    else this.#lanes.set(id, new Set([timed]))
  }

  #wait(timed: TimedClaim): void {
    const waitMs = (timed.hand.sendAt ?? 0) - performance.now()
    if (waitMs <= 1) this.#due(timed)
    else timed.timer = setTimeout(() => this.#due(timed), waitMs)
  }

  #due(timed: TimedClaim): void {
    timed.timer = undefined
    if (this.#isLate(timed)) this.#renewLate(timed)
    else this.#options.onTime(timed)
  }

  #isLate({ hand }: TimedClaim): boolean {
    const { rate } = hand.subscription
    const lateMsMax = rate === null ? SEND_LATE_MS_MAX : sendLateMsMax(rate)
    return this.#latenessOf(hand) > lateMsMax - MARGIN_MS
  }

  /**
   * How late a claim is, by the latest knowledge of Redis's clock. A send time that was computed from a slow reply may
   * have been computed too late.
   */
  #latenessOf(hand: ClaimInHand): number {
    const { claim, sendAt } = hand
    const planned = sendAt ?? 0
    const known = claim.sendAt === null ? planned : this.#localTimeOf(hand, claim.sendAt)
    return performance.now() - Math.min(planned, known)
  }

  #renewNow(timed: TimedClaim): void {
    if (this.#isLate(timed)) this.#renewLate(timed)
    else this.#renewLane(timed)
  }

  /**
   * If this process is late again and again, new send times must be later by the same time. Otherwise they have already
   * passed when Redis's reply is read. The same holds if Redis is slow.
   */
  #renewLate(late: TimedClaim): void {
    if (late.renewals === RENEWALS_MAX) {
      this.#drop(late)
      return
    }
    const lateMs = late.renewals > 0 ? Math.min(this.#latenessOf(late.hand), SEND_AHEAD_MS) : 0
    this.#renewLane(late, Math.max(lateMs, this.#wayBackMs(late.hand)))
  }

  /** How late a reply probably is. 0: so little that it makes nothing late. */
  #wayBackMs({ subscription }: ClaimInHand): number {
    const { lateMs } = this.#options.clocks.of(subscription.shard)
    return lateMs < MARGIN_MS ? 0 : Math.min(lateMs, WAY_BACK_MS_MAX)
  }

  /** Behind a slow Redis the claims that are not late keep their send times, because a renewal would outlast them. */
  #renewLane(timed: TimedClaim, leadMs = 0): void {
    const { record, shard } = timed.hand.subscription
    const timedClaims = inOrder(this.#lanes.get(record.id) ?? [])
    const late = timedClaims.filter((each) => this.#isLate(each))
    for (const each of late) each.renewals++
    const keepsOthers = this.#options.clocks.of(shard).roundTripMs > SEND_LATE_MS_MAX / 2
    this.#renew(
      keepsOthers ? timedClaims.filter((each) => each === timed || late.includes(each)) : timedClaims,
      leadMs,
    )
  }

  /** Requests new send times, also for claims that have one. */
  #replace(timedClaims: TimedClaim[], leadMs: number): void {
    for (const { hand } of timedClaims) hand.claim = { ...hand.claim, sendAt: null }
    this.#renew(timedClaims, leadMs)
  }

  #renew(timedClaims: TimedClaim[], leadMs: number): void {
    const [first] = timedClaims
    if (!first) return
    const { record, shard } = first.hand.subscription
    for (const timed of timedClaims) {
      clearTimeout(timed.timer)
      timed.timer = undefined
      timed.round++
      timed.renewing = true
    }
    const claims = timedClaims.map(({ hand }) => hand.claim)
    const renewed = this.#options.renewals.renew(shard, { subscriptionId: record.id, leadMs, claims })
    void renewed.then((all) => {
      timedClaims.forEach((timed, i) => {
        this.#renewed(timed, all[i])
      })
    })
  }

  #renewed(timed: TimedClaim, renewed: RenewedClaim | undefined): void {
    const { hand } = timed
    timed.renewing = false
    if (renewed) hand.claim = { ...hand.claim, ...renewed }
    if (!renewed || renewed.sendAt === null || this.#stopped) {
      this.#drop(timed)
      return
    }
    hand.sendAt = this.#localTimeOf(hand, renewed.sendAt)
    this.#wait(timed)
  }

  #drop(timed: TimedClaim): void {
    this.leave(timed)
    this.#options.onNone(timed.hand)
  }
}

/** The claims that are not being renewed, in the order of their send times. */
function inOrder(lane: Iterable<TimedClaim>): TimedClaim[] {
  return [...lane].filter(({ renewing }) => !renewing).sort((a, b) => timeOf(a) - timeOf(b))
}

/** The send time in Redis's time. */
function timeOf({ hand }: TimedClaim): number {
  return hand.claim.sendAt ?? 0
}
