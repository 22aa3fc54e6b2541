/**
 * Decides which subscription may start an attempt now (invariant 3: no subscription can slow another).
 *
 * Each subscription has an allowance. It starts at START_ALLOWANCE, and doubles with every prompt answer up to
 * `maxInFlight`. It falls to HUNG_ALLOWANCE while an attempt has had no answer for longer than `HUNG_MS`. A
 * subscription is *proven* while it answers, else *unproven*. All unproven ones together get at most half of the slots.
 * Many attempts of a proven subscription may turn unproven at once, and exceed that half. Proven ones still keep their
 * half. For the length of a deadline there may therefore be one and a half times as many attempts as slots.
 *
 * A lane also stores whether its endpoint was proven at the latest attempt of any worker (`Standing` of the store). A
 * worker that does not know the endpoint yet relies on that. Lanes of unproven endpoints wait in a line of their own
 * until a slot of their half is free (lane-loop.ts).
 *
 * First attempts leave an eighth of the slots to the lanes. They take a free slot at once, and a lane only a round trip
 * to Redis later. Without this reserved share, lanes got 5 of 80 sends while first attempts took all slots.
 */
import type { Protocol } from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'

const START_ALLOWANCE = 4
const HUNG_ALLOWANCE = 2
/**
 * @limit How long an attempt may go without an answer. Past it: its endpoint counts as hung and keeps two attempts.
 */
export const HUNG_MS = 1_000
/**
 * An answer that takes longer is slow. It does not let the allowance grow, and first attempts go through the lane for a
 * while.
 */
export const SLOW_MS = 500
const SLOW_FOR_MS = 5_000
/** At each check, the lateness measured before still counts by this factor. */
const LAG_KEPT = 0.9
/** The factor that shortens `answersInMs` at each answer. */
const LONGEST_KEPT = 0.95
/**
 * Subscriptions whose standing a worker remembers. Past it: all subscriptions without a running attempt are forgotten.
 */
const STANDINGS_MAX = 200_000
/** @limit Share of a worker's slots that first attempts leave to the lanes. Past it: first attempts wait. */
const LANES_SHARE = 1 / 8

interface Standing {
  inFlight: number
  allowance: number
  /** The subscription's `maxInFlight` at its latest attempt. */
  maxInFlight: number
  hung: boolean
  proven: boolean
  /** Until when first attempts go through the lane, by performance.now(). */
  slowUntil: number
  /** The longest time that the endpoint needed for an answer. A time counts less with each later answer. */
  answersInMs: number
}

interface SlotsOptions {
  attemptsMax: number
  now?: () => number
  /** How long Redis lately took to answer. Default: no time. */
  roundTripMs?: () => number
}

export class AttemptSlots {
  readonly #attemptsMax: number
  readonly #lanesOwn: number
  readonly #now: () => number
  readonly #roundTripMs: () => number
  readonly #standings = new Map<string, Standing>()
  /** Subscriptions with attempts in flight. */
  readonly #busy = new Map<string, Standing>()
  #provenInFlight = 0
  #unprovenInFlight = 0
  #lagMs = 0

  constructor(options: SlotsOptions) {
    this.#attemptsMax = options.attemptsMax
    this.#lanesOwn = Math.floor(options.attemptsMax * LANES_SHARE)
    this.#now = options.now ?? (() => performance.now())
    this.#roundTripMs = options.roundTripMs ?? (() => 0)
  }

  get inFlight(): number {
    return this.#provenInFlight + this.#unprovenInFlight
  }

  /**
   * Reports how late the timers of this process are. Answers then seem to come later by this time, which is not the
   * endpoint's fault.
   */
  reportLag(lagMs: number): void {
    this.#lagMs = Math.max(lagMs, this.#lagMs * LAG_KEPT, 0)
  }

  /** An answer that takes longer than this counts as slow now. */
  get slowMs(): number {
    return SLOW_MS + 2 * this.#lagMs
  }

  /** How long an attempt at such an endpoint waits for Redis. */
  redisMs({ protocol }: { protocol: Protocol }): number {
    return PROTOCOL_TRAITS[protocol].redisTrips * this.#roundTripMs()
  }

  /** Slots that at least one kind of subscription could get now. */
  get free(): number {
    return Math.max(this.freeProven, this.freeUnproven)
  }

  get freeProven(): number {
    return this.#freeOf(true)
  }

  get freeUnproven(): number {
    return this.#freeOf(false)
  }

  isProven(subscriptionId: string): boolean {
    return this.#standings.get(subscriptionId)?.proven ?? false
  }

  /**
   * Called if the endpoint has answered another worker in time. If an attempt of this worker hangs, the subscription
   * stays unproven.
   */
  trust(subscriptionId: string): void {
    const standing = this.#standing(subscriptionId)
    if (!standing.hung) this.#setProven(standing, true)
  }

  /** Free slots that first attempts may take. */
  get freeForFirst(): number {
    return this.free - this.#lanesOwn
  }

  /** Like `acquire`, for a first attempt. */
  acquireFirst(subscriptionId: string, maxInFlight: number): boolean {
    return this.acquire(subscriptionId, maxInFlight, this.#lanesOwn)
  }

  /**
   * Takes a slot for the subscription if more than `left` are free. Returns false if not. Each slot must be given back
   * by `release`.
   */
  acquire(subscriptionId: string, maxInFlight: number, left = 0): boolean {
    const standing = this.#standing(subscriptionId)
    if (standing.inFlight >= Math.min(standing.allowance, maxInFlight)) return false
    if (this.#freeOf(standing.proven) <= left) return false
    standing.maxInFlight = maxInFlight
    if (standing.inFlight === 0) this.#busy.set(subscriptionId, standing)
    standing.inFlight++
    this.#count(standing, 1)
    return true
  }

  /**
   * Returns true if the subscription has become proven. `answeredAfterMs`: undefined if no answer came (timeout,
   * connection failure), or if nothing was sent. `redisMs`: the part of it that the attempt waited for Redis.
   */
  release(
    subscriptionId: string,
    maxInFlight: number,
    answeredAfterMs: number | undefined,
    redisMs = 0,
  ): boolean {
    const standing = this.#standing(subscriptionId)
    const wasProven = standing.proven
    standing.inFlight--
    this.#count(standing, -1)
    if (answeredAfterMs !== undefined) this.#answered(standing, maxInFlight, answeredAfterMs, redisMs)
    const hasProven = !wasProven && standing.proven
    if (standing.inFlight > 0) return hasProven
    this.#busy.delete(subscriptionId)
    if (isUnremarkable(standing)) this.#standings.delete(subscriptionId)
    return hasProven
  }

  /** Called when an attempt has had no answer for HUNG_MS. */
  hang(subscriptionId: string): void {
    const standing = this.#standing(subscriptionId)
    standing.hung = true
    standing.allowance = HUNG_ALLOWANCE
    this.#setProven(standing, false)
    standing.slowUntil = this.#now() + SLOW_FOR_MS
  }

  /**
   * Called when the subscription was moved to another endpoint. That endpoint counts as new. Attempts in flight keep
   * their slots.
   */
  endpointChanged(subscriptionId: string): void {
    const standing = this.#standings.get(subscriptionId)
    if (!standing) return
    standing.hung = false
    standing.allowance = START_ALLOWANCE
    standing.slowUntil = 0
    this.#setProven(standing, false)
  }

  /** Whether first attempts should go through the lane: the endpoint hangs, or was slow recently. */
  isSlow(subscriptionId: string): boolean {
    const standing = this.#standings.get(subscriptionId)
    if (standing === undefined || standing.slowUntil === 0) return standing?.hung ?? false
    return standing.hung || standing.slowUntil > this.#now()
  }

  /** How many more attempts the subscription may start now. */
  capacity(subscriptionId: string, maxInFlight: number): number {
    const standing = this.#standings.get(subscriptionId)
    if (!standing) return Math.max(0, Math.min(START_ALLOWANCE, maxInFlight, this.#freeOf(false)))
    const own = Math.min(standing.allowance, maxInFlight) - standing.inFlight
    return Math.max(0, Math.min(own, this.#freeOf(standing.proven)))
  }

  /** The allowance of a subscription without attempts in flight. */
  get startingAllowance(): number {
    return START_ALLOWANCE
  }

  /** The free allowance of every subscription with attempts in flight. */
  *busy(): Generator<[subscriptionId: string, capacity: number]> {
    for (const [id, standing] of this.#busy) yield [id, this.#capacityOf(standing)]
  }

  /**
   * How many attempts a proven subscription may make as soon as those in flight have ended, and after how long they
   * probably have. Undefined: it is not proven.
   */
  nextAllowance(subscriptionId: string): { attempts: number; inMs: number } | undefined {
    const standing = this.#standings.get(subscriptionId)
    if (!standing?.proven) return undefined
    const { allowance, maxInFlight, inFlight, answersInMs } = standing
    const attempts = Math.min(allowance, maxInFlight, this.#freeOf(true) + inFlight)
    return { attempts: Math.max(0, attempts), inMs: answersInMs }
  }

  #capacityOf({ inFlight, allowance, maxInFlight, proven }: Standing): number {
    const own = Math.min(allowance, maxInFlight) - inFlight
    return Math.max(0, Math.min(own, this.#freeOf(proven)))
  }

  #standing(subscriptionId: string): Standing {
    let standing = this.#standings.get(subscriptionId)
    if (!standing) {
      if (this.#standings.size >= STANDINGS_MAX) this.#forgetIdle()
      standing = {
        inFlight: 0,
        allowance: START_ALLOWANCE,
        maxInFlight: START_ALLOWANCE,
        hung: false,
        proven: false,
        slowUntil: 0,
        answersInMs: 0,
      }
      this.#standings.set(subscriptionId, standing)
    }
    return standing
  }

  #forgetIdle(): void {
    for (const [id, standing] of this.#standings) if (standing.inFlight === 0) this.#standings.delete(id)
  }

  #answered(standing: Standing, maxInFlight: number, afterMs: number, redisMs: number): void {
    standing.hung = false
    standing.answersInMs = Math.max(afterMs, standing.answersInMs * LONGEST_KEPT)
    const ownMs = afterMs - redisMs
    if (ownMs > this.slowMs) {
      standing.slowUntil = this.#now() + SLOW_FOR_MS
      standing.allowance = Math.max(standing.allowance, START_ALLOWANCE)
      if (ownMs > HUNG_MS) return
    } else {
      standing.slowUntil = 0
      standing.allowance = Math.min(
        Math.max(standing.allowance, START_ALLOWANCE) * 2,
        Math.max(maxInFlight, 1),
      )
    }
    this.#setProven(standing, true)
  }

  #setProven(standing: Standing, proven: boolean): void {
    if (standing.proven === proven) return
    this.#count(standing, -standing.inFlight)
    standing.proven = proven
    this.#count(standing, standing.inFlight)
  }

  #count(standing: Standing, by: number): void {
    if (standing.proven) this.#provenInFlight += by
    else this.#unprovenInFlight += by
  }

  #freeOf(proven: boolean): number {
    const half = this.#attemptsMax / 2
    if (!proven) return Math.min(half, this.#attemptsMax - this.#provenInFlight) - this.#unprovenInFlight
    return this.#attemptsMax - this.#provenInFlight - Math.min(this.#unprovenInFlight, half)
  }
}

/** Whether the standing is the same as that of a new subscription. It is then not worth keeping. */
function isUnremarkable(standing: Standing): boolean {
  return (
    !standing.hung && !standing.proven && standing.allowance === START_ALLOWANCE && standing.slowUntil === 0
  )
}
