/**
 * Keeps the throttled claims of this worker, each until its request is written.
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
 * The worker keeps a late claim. It moves the send times of all its claims of this lane by the delay.
 * If another worker has claims of this lane with later send times, only the late claims get new send times
 * (renew-claims-1.lua). After RENEWALS_MAX renewals a claim goes back to its lane.
 *
 * A send time is valid while Redis knows it. After an outage Redis may have forgotten the last send times. So the
 * worker sends nothing while it has no connection to Redis, and renews its claims when the connection is back.
 * If Redis's clock was set forward, its new send times lie among those that claims of this and other workers already
 * have. The worker then puts off all its claims, and new ones, until those earlier send times are over.
 */
import {
  DISTANT_SEND_AHEAD_MS,
  type LaneRenewal,
  NUMBER,
  type RenewedClaim,
  SEND_LATE_MS_MAX,
  sendLateMsMax,
} from '@fantail/store'
import type { ShardClocks } from '../clocks/shard-clocks.ts'
import type { ThrottledClaim } from './open-claims.ts'
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

interface TimedClaimsOptions {
  renewals: Pick<Renewals, 'renew'>
  clocks: ShardClocks
  /** Whether Redis can be reached. */
  isConnected(): boolean
  /** Called at the send time of the claim. The caller checks the claim and then calls `start`. */
  onTime(claim: ThrottledClaim): void
  /** Called when the claim has lost its send time. TimedClaims does not keep it any more. */
  onNone(claim: ThrottledClaim): void
}

export class TimedClaims {
  readonly #options: TimedClaimsOptions
  /** By subscription. */
  readonly #lanes = new Map<string, Set<ThrottledClaim>>()
  /** Until this time, by performance.now(), other workers may have claims with send times of Redis's earlier clock. */
  #othersUntil = Number.NEGATIVE_INFINITY
  /** Rises if Redis may have given all earlier send times to other claims. */
  #era = 0
  #stopped = false

  constructor(options: TimedClaimsOptions) {
    this.#options = options
  }

  add(claim: ThrottledClaim): void {
    this.#keep(claim)
    if (claim.redisSendAt !== null) claim.sendAt = this.#localTimeOf(claim, claim.redisSendAt)
    const leadMs = this.#othersUntil - performance.now()
    if (leadMs <= 0) this.#wait(claim)
    else this.#replace([claim], leadMs)
  }

  /** Adds a claim whose attempt needs another request. That request gets its own send time. */
  addAgain(claim: ThrottledClaim): void {
    this.#keep(claim)
    this.#replace([claim], 0)
  }

  /**
   * Returns true if the claim is in time. It is then no longer kept here: `isInTime` says whether its request may be
   * written, and `missed` takes it back. Returns false if it gets a new send time, or if `onNone` was called.
   */
  start(claim: ThrottledClaim): boolean {
    claim.era = this.#era
    if (!this.isInTime(claim)) {
      this.#renewNow(claim)
      return false
    }
    this.leave(claim)
    return true
  }

  isInTime(claim: ThrottledClaim): boolean {
    return claim.era === this.#era && this.#options.isConnected() && !this.#isLate(claim)
  }

  /** Called if the request of a begun attempt would have been written too late. The claim waits for a new send time. */
  missed(claim: ThrottledClaim): void {
    this.#enter(claim)
    const leadMs = this.#othersUntil - performance.now()
    if (this.#stopped) this.#drop(claim)
    else if (leadMs > 0) this.#replace([claim], leadMs)
    else this.#renewNow(claim)
  }

  /** Called when Redis can be reached again. It may have forgotten this worker's claims. */
  reconnected(): void {
    this.#era++
    for (const lane of this.#lanes.values()) this.#renew(inOrder(lane), 0)
  }

  /** Called when Redis's clock was set forward. */
  setForward(): void {
    this.#era++
    this.#othersUntil = performance.now() + DISTANT_SEND_AHEAD_MS
    for (const lane of this.#lanes.values()) this.#replace(inOrder(lane), DISTANT_SEND_AHEAD_MS)
  }

  /** Called when time travel has moved the time. The stored send times do not change, so they come earlier. */
  moved(): void {
    for (const claim of this.#waiting()) {
      clearTimeout(claim.timer)
      claim.timer = undefined
      if (claim.redisSendAt !== null) claim.sendAt = this.#localTimeOf(claim, claim.redisSendAt)
      this.#wait(claim)
    }
  }

  /** Send times of the claims that only wait, by Redis's clock. */
  get sendTimes(): number[] {
    return this.#waiting().map(timeOf)
  }

  leave(claim: ThrottledClaim): void {
    clearTimeout(claim.timer)
    const id = claim.subscription.record.id
    const lane = this.#lanes.get(id)
    lane?.delete(claim)
    if (lane?.size === 0 && this.#lanes.size > EMPTY_SETS_MAX) this.#lanes.delete(id)
  }

  /**
   * Calls `onNone` for waiting claims, and for those being renewed when their renewal ends. Due claims belong to their
   * callers.
   */
  stop(): void {
    this.#stopped = true
    for (const claim of this.#waiting()) this.#drop(claim)
  }

  #waiting(): ThrottledClaim[] {
    return [...this.#lanes.values()].flatMap((lane) => [...lane].filter(({ timer }) => timer))
  }

  #localTimeOf({ subscription }: ThrottledClaim, sendAt: number): number {
    return this.#options.clocks.of(subscription.shard).localTime(sendAt)
  }

  #keep(claim: ThrottledClaim): void {
    claim.renewals = 0
    claim.era = this.#era
    this.#enter(claim)
  }

  #enter(claim: ThrottledClaim): void {
    const { id } = claim.subscription.record
    const lane = this.#lanes.get(id)
    if (lane) lane.add(claim)
    else this.#lanes.set(id, new Set([claim]))
  }

  #wait(claim: ThrottledClaim): void {
    const waitMs = claim.sendAt - performance.now()
    if (waitMs <= 1) this.#due(claim)
    else claim.timer = setTimeout(() => this.#due(claim), waitMs)
  }

  #due(claim: ThrottledClaim): void {
    claim.timer = undefined
    if (this.#isLate(claim)) this.#renewLate(claim)
    else this.#options.onTime(claim)
  }

  /** If Redis's time is in doubt, claims must be earlier. Behind a slow Redis it always is, for all workers alike. */
  #isLate(claim: ThrottledClaim): boolean {
    const { rate, shard, record } = claim.subscription
    // The rate of a group may be higher, and then allows less.
    const isAsLateAs = rate === null || record.groupThrottle ? SEND_LATE_MS_MAX : sendLateMsMax(rate)
    const lateMsMax = isAsLateAs - MARGIN_MS
    const doubtMs = Math.min(this.#options.clocks.of(shard).doubtMs, lateMsMax / 2)
    return this.#latenessOf(claim) > lateMsMax - doubtMs
  }

  /**
   * How late a claim is, by the latest knowledge of Redis's clock. A send time that was computed from a slow reply may
   * have been computed too late.
   */
  #latenessOf(claim: ThrottledClaim): number {
    const { redisSendAt, sendAt } = claim
    const known = redisSendAt === null ? sendAt : this.#localTimeOf(claim, redisSendAt)
    return performance.now() - Math.min(sendAt, known)
  }

  #renewNow(claim: ThrottledClaim): void {
    if (this.#isLate(claim)) this.#renewLate(claim)
    else this.#renewLane(claim)
  }

  /**
   * If this process is late again and again, new send times must be later by the same time. Otherwise they have already
   * passed when Redis's reply is read. The same holds if Redis is slow.
   */
  #renewLate(late: ThrottledClaim): void {
    if (late.renewals === RENEWALS_MAX) {
      this.#drop(late)
      return
    }
    const lateMs = late.renewals > 0 ? Math.min(this.#latenessOf(late), NUMBER.SEND_AHEAD_MS) : 0
    this.#renewLane(late, Math.max(lateMs, this.#wayBackMs(late)))
  }

  /** How late a reply probably is. 0: so little that it makes nothing late. */
  #wayBackMs({ subscription }: ThrottledClaim): number {
    const { lateMs } = this.#options.clocks.of(subscription.shard)
    return lateMs < MARGIN_MS ? 0 : Math.min(lateMs, WAY_BACK_MS_MAX)
  }

  /** Behind a slow Redis the claims that are not late keep their send times, because a renewal would outlast them. */
  #renewLane(claim: ThrottledClaim, leadMs = 0): void {
    const { record, shard } = claim.subscription
    const claims = inOrder(this.#lanes.get(record.id) ?? [])
    const late = claims.filter((each) => this.#isLate(each))
    for (const each of late) each.renewals++
    const keepsOthers = this.#options.clocks.of(shard).roundTripMs > SEND_LATE_MS_MAX / 2
    this.#renew(keepsOthers ? claims.filter((each) => each === claim || late.includes(each)) : claims, leadMs)
  }

  /** Requests new send times, also for claims that have one. */
  #replace(claims: ThrottledClaim[], leadMs: number): void {
    for (const claim of claims) claim.redisSendAt = null
    this.#renew(claims, leadMs)
  }

  #renew(claims: ThrottledClaim[], leadMs: number): void {
    const [first] = claims
    if (!first) return
    const { record, shard } = first.subscription
    for (const claim of claims) {
      clearTimeout(claim.timer)
      claim.timer = undefined
      claim.round++
      claim.isRenewing = true
    }
    const renewal = { subscriptionId: record.id, leadMs, claims: claims.map(asStored) }
    void this.#options.renewals.renew(shard, renewal).then((all) => {
      claims.forEach((claim, i) => {
        this.#renewed(claim, all[i])
      })
    })
  }

  #renewed(claim: ThrottledClaim, renewed: RenewedClaim | undefined): void {
    claim.isRenewing = false
    if (renewed) {
      claim.lease = renewed.lease
      claim.redisSendAt = renewed.sendAt
    }
    if (!renewed || renewed.sendAt === null || this.#stopped) {
      this.#drop(claim)
      return
    }
    claim.sendAt = this.#localTimeOf(claim, renewed.sendAt)
    this.#wait(claim)
  }

  #drop(claim: ThrottledClaim): void {
    this.leave(claim)
    this.#options.onNone(claim)
  }
}

/** The claims that are not being renewed, in the order of their send times. */
function inOrder(lane: Iterable<ThrottledClaim>): ThrottledClaim[] {
  return [...lane].filter(({ isRenewing }) => !isRenewing).sort((a, b) => timeOf(a) - timeOf(b))
}

function timeOf({ redisSendAt }: ThrottledClaim): number {
  return redisSendAt ?? 0
}

function asStored({ delivery, lease, redisSendAt }: ThrottledClaim): LaneRenewal['claims'][number] {
  return { delivery, lease, sendAt: redisSendAt }
}
