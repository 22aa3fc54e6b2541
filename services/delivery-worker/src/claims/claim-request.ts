/**
 * One request of a claim's attempt, from its slot to its end. One object has the callbacks of the request, because a
 * worker makes thousands of requests a second.
 */
import type { Expiring, FurtherRequest, SendMoment } from '@fantail/delivery'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { SingleClaim, ThrottledClaim } from './open-claims.ts'

export interface RequestCallbacks {
  /** Called if there is no answer after HUNG_MS. */
  hung(request: ClaimRequest): void
  ended(request: ClaimRequest, outcome: Outcome): void
  /** Called instead of `ended` if the attempt needs another request. */
  again(request: ClaimRequest, claim: ThrottledClaim, next: FurtherRequest): void
  /** Called instead of `ended` if the send time has passed before the request was written. */
  missed(request: ClaimRequest, claim: ThrottledClaim, dialMs: number): void
  isInTime(claim: ThrottledClaim): boolean
}

export class ClaimRequest implements Expiring<ClaimRequest>, SendMoment {
  previous: ClaimRequest | undefined
  next: ClaimRequest | undefined
  expiresAt = 0
  /** Whether it is in the list of deadlines. */
  isListed = true
  hasEnded = false
  readonly claim: SingleClaim
  /** The settings that the request is made by. */
  readonly subscription: CompiledSubscription
  readonly #callbacks: RequestCallbacks

  constructor(claim: SingleClaim, subscription: CompiledSubscription, callbacks: RequestCallbacks) {
    this.claim = claim
    this.subscription = subscription
    this.#callbacks = callbacks
  }

  readonly ended = (outcome: Outcome): void => this.#callbacks.ended(this, outcome)

  /** Called by the list of deadlines, which has already removed this request. */
  expire(): void {
    this.isListed = false
    this.#callbacks.hung(this)
  }

  isPast(): boolean {
    return this.claim.kind === 'throttled' && !this.#callbacks.isInTime(this.claim)
  }

  missed(dialMs: number): void {
    if (this.claim.kind === 'throttled') this.#callbacks.missed(this, this.claim, dialMs)
  }

  again(next: FurtherRequest): void {
    if (this.claim.kind === 'throttled') this.#callbacks.again(this, this.claim, next)
  }
}
