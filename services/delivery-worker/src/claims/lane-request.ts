/**
 * A request of a lane attempt, from its slot to its end. One object has the callbacks of the request, because a worker
 * makes thousands of them a second.
 */
import type { Again, Expiring, SendMoment } from '@fantail/delivery'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { ClaimInHand } from './claim-in-hand.ts'
import type { TimedClaim } from './timed-claims.ts'

export interface RequestCallbacks {
  /** Called if there is no answer after HUNG_MS. */
  hung(request: LaneRequest): void
  ended(request: LaneRequest, outcome: Outcome): void
  /** Called instead of `ended` if the attempt needs another request. */
  again(request: LaneRequest, next: Again): void
  /** Called instead of `ended` if the send time has passed before the request was written. */
  missed(request: LaneRequest, timed: TimedClaim, dialMs: number): void
  isInTime(timed: TimedClaim): boolean
}

export class LaneRequest implements Expiring<LaneRequest>, SendMoment {
  previous: LaneRequest | undefined
  next: LaneRequest | undefined
  expiresAt = 0
  isHung = false
  readonly hand: ClaimInHand
  /** The settings that the request is made by. */
  readonly subscription: CompiledSubscription
  readonly #timed: TimedClaim | undefined
  readonly #callbacks: RequestCallbacks

  /** `timed`: the send time of a throttled claim. */
  constructor(
    hand: ClaimInHand,
    subscription: CompiledSubscription,
    timed: TimedClaim | undefined,
    callbacks: RequestCallbacks,
  ) {
    this.hand = hand
    this.subscription = subscription
    this.#timed = timed
    this.#callbacks = callbacks
  }

  readonly ended = (outcome: Outcome): void => this.#callbacks.ended(this, outcome)

  /** Called by the list of deadlines, which has already removed this request. */
  expire(): void {
    this.isHung = true
    this.#callbacks.hung(this)
  }

  isPast(): boolean {
    return this.#timed !== undefined && !this.#callbacks.isInTime(this.#timed)
  }

  missed(dialMs: number): void {
    if (this.#timed) this.#callbacks.missed(this, this.#timed, dialMs)
  }

  again(next: Again): void {
    this.#callbacks.again(this, next)
  }
}
