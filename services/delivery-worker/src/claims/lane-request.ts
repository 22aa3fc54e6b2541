/**
 * A request of a lane attempt, from its slot to its end. One object has the callbacks of the request, because a worker
 * makes thousands of them a second.
 */
import type { Again, Expiring, SendMoment } from '@fantail/delivery'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { ClaimInHand } from './claim-in-hand.ts'
import type { SendTurn } from './send-turns.ts'

export interface RequestCallbacks {
  /** Called if there is no answer after HUNG_MS. */
  hung(request: LaneRequest): void
  ended(request: LaneRequest, outcome: Outcome): void
  /** Called instead of `ended` if the attempt needs another request. */
  again(request: LaneRequest, next: Again): void
  /** Called instead of `ended` if the send time has passed before the request was written. */
  missed(request: LaneRequest, turn: SendTurn, dialMs: number): void
  isInTime(turn: SendTurn): boolean
}

export class LaneRequest implements Expiring<LaneRequest>, SendMoment {
  previous: LaneRequest | undefined
  next: LaneRequest | undefined
  expiresAt = 0
  isHung = false
  readonly hand: ClaimInHand
  /** The settings that the request is made by. */
  readonly subscription: CompiledSubscription
  readonly #turn: SendTurn | undefined
  readonly #callbacks: RequestCallbacks

  /** `turn`: the send time of a throttled claim. */
  constructor(
    hand: ClaimInHand,
    subscription: CompiledSubscription,
    turn: SendTurn | undefined,
    callbacks: RequestCallbacks,
  ) {
    this.hand = hand
    this.subscription = subscription
    this.#turn = turn
    this.#callbacks = callbacks
  }

  readonly ended = (outcome: Outcome): void => this.#callbacks.ended(this, outcome)

  /** Called by the list of deadlines, which has already removed this request. */
  expire(): void {
    this.isHung = true
    this.#callbacks.hung(this)
  }

  isPast(): boolean {
    return this.#turn !== undefined && !this.#callbacks.isInTime(this.#turn)
  }

  missed(dialMs: number): void {
    if (this.#turn) this.#callbacks.missed(this, this.#turn, dialMs)
  }

  again(next: Again): void {
    this.#callbacks.again(this, next)
  }
}
