/**
 * Who may start an attempt now (invariant 3: no subscription can slow another).
 *
 * Each subscription has an allowance that is earned: it starts at START_ALLOWANCE, doubles with every prompt answer up
 * to its `maxInFlight`, and falls to HUNG_ALLOWANCE while an attempt has gone without an answer for longer than
 * `HUNG_MS`. A subscription is *proven* while it answers, else *suspect*. Suspects together get at most half of the
 * slots. Attempts that were started while a subscription was proven may turn suspect in numbers above that half; the
 * proven ones keep their half all the same, so the slots may for the length of a deadline be half as many again.
 *
 * A lane knows too whether its endpoint is proven, from whichever worker attempted it last (`Standing` of the store): a
 * worker that meets it the first time goes by that. Lanes of unproven endpoints wait for slots of their half in a line
 * of turns (lane-loop.ts).
 *
 * First attempts leave an eighth of the slots to the lanes. They take a slot in the moment it comes free, a lane only a
 * trip to Redis later: without a share of their own, lanes got 5 of 80 sends beside first attempts that took all slots.
 */

const START_ALLOWANCE = 4
const HUNG_ALLOWANCE = 2
/**
 * @limit How long an attempt may go without an answer. Past it: its endpoint counts as hung and keeps two attempts.
 */
export const HUNG_MS = 1_000
/** A slower answer earns nothing, and first attempts go by the lane for a while. */
export const SLOW_MS = 500
const SLOW_FOR_MS = 5_000
/** How much of the lateness seen before counts at the next look. */
const LAG_KEPT = 0.9
/** @limit Subscriptions whose standing a worker remembers. Past it: all without an attempt are forgotten. */
const STANDINGS_MAX = 200_000
/** @limit Share of a worker's slots that first attempts leave to the lanes. Past it: first attempts wait. */
const LANES_SHARE = 1 / 8

interface Standing {
  inFlight: number
  allowance: number
  /** From the subscription's settings at its latest attempt. */
  maxInFlight: number
  hung: boolean
  proven: boolean
  /** Until when first attempts go by the lane (performance.now()). */
  slowUntil: number
}

interface SlotsOptions {
  attemptsMax: number
  now?: () => number
}

export class AttemptSlots {
  readonly #attemptsMax: number
  readonly #lanesOwn: number
  readonly #now: () => number
  readonly #standings = new Map<string, Standing>()
  /** Those with something in flight. */
  readonly #busy = new Map<string, Standing>()
  #provenInFlight = 0
  #suspectInFlight = 0
  #lagMs = 0

  constructor(options: SlotsOptions) {
    this.#attemptsMax = options.attemptsMax
    this.#lanesOwn = Math.floor(options.attemptsMax * LANES_SHARE)
    this.#now = options.now ?? (() => performance.now())
  }

  get inFlight(): number {
    return this.#provenInFlight + this.#suspectInFlight
  }

  /** How late this process's own timers are: an answer seems later by as much, and that is not its endpoint's doing. */
  reportLag(lagMs: number): void {
    this.#lagMs = Math.max(lagMs, this.#lagMs * LAG_KEPT, 0)
  }

  /** The limit of a slow answer at present. */
  get slowMs(): number {
    return SLOW_MS + 2 * this.#lagMs
  }

  /** Slots that some subscription could get now. */
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

  /** Another worker has seen it answer. A subscription that hangs here is not trusted. */
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
   * Takes a slot for the subscription where more than `left` are free, or answers false. Every slot taken is given back
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

  /** `answeredAfterMs` is undefined if no answer came (timeout, connection failure) or nothing was sent. */
  release(subscriptionId: string, maxInFlight: number, answeredAfterMs: number | undefined): void {
    const standing = this.#standing(subscriptionId)
    standing.inFlight--
    this.#count(standing, -1)
    if (answeredAfterMs !== undefined) this.#answered(standing, maxInFlight, answeredAfterMs)
    if (standing.inFlight > 0) return
    this.#busy.delete(subscriptionId)
    if (isUnremarkable(standing)) this.#standings.delete(subscriptionId)
  }

  /** An attempt has gone without an answer for HUNG_MS. */
  hang(subscriptionId: string): void {
    const standing = this.#standing(subscriptionId)
    standing.hung = true
    standing.allowance = HUNG_ALLOWANCE
    this.#setProven(standing, false)
    standing.slowUntil = this.#now() + SLOW_FOR_MS
  }

  /** It has another endpoint, which starts like a new one. What is in flight keeps its slots. */
  renew(subscriptionId: string): void {
    const standing = this.#standings.get(subscriptionId)
    if (!standing) return
    standing.hung = false
    standing.allowance = START_ALLOWANCE
    standing.slowUntil = 0
    this.#setProven(standing, false)
  }

  /** True if first attempts should go by the lane: hung, or slow not long ago. */
  isSlow(subscriptionId: string): boolean {
    const standing = this.#standings.get(subscriptionId)
    return standing !== undefined && (standing.hung || standing.slowUntil > this.#now())
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
    for (const [id, { inFlight, allowance, maxInFlight, proven }] of this.#busy) {
      const own = Math.min(allowance, maxInFlight) - inFlight
      yield [id, Math.max(0, Math.min(own, this.#freeOf(proven)))]
    }
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
      }
      this.#standings.set(subscriptionId, standing)
    }
    return standing
  }

  #forgetIdle(): void {
    for (const [id, standing] of this.#standings) if (standing.inFlight === 0) this.#standings.delete(id)
  }

  #answered(standing: Standing, maxInFlight: number, afterMs: number): void {
    standing.hung = false
    if (afterMs > this.slowMs) {
      standing.slowUntil = this.#now() + SLOW_FOR_MS
      standing.allowance = Math.max(standing.allowance, START_ALLOWANCE)
      if (afterMs > HUNG_MS) return
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
    else this.#suspectInFlight += by
  }

  #freeOf(proven: boolean): number {
    const half = this.#attemptsMax / 2
    if (!proven) return Math.min(half, this.#attemptsMax - this.#provenInFlight) - this.#suspectInFlight
    return this.#attemptsMax - this.#provenInFlight - Math.min(this.#suspectInFlight, half)
  }
}

/** Nothing was learned that a new standing would not say too. */
function isUnremarkable(standing: Standing): boolean {
  return (
    !standing.hung && !standing.proven && standing.allowance === START_ALLOWANCE && standing.slowUntil === 0
  )
}
