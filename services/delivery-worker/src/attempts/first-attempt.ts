/** A first attempt, from the match of its message until its delivery is settled. */
import type { Linked } from '@fantail/delivery'
import type { HeldBodies } from '../bodies/body-bytes.ts'
import type { MessageContext } from '../messages/message-context.ts'
import type { Unit } from '../runs/unit.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { AttemptEnd } from './attempt-end.ts'
import type { Outcome } from './attempt-outcome.ts'

/** It also serves as its own `AttemptEnd`, which saves an object for each attempt. */
export class FirstAttempt implements AttemptEnd, Linked<FirstAttempt> {
  readonly unit: Unit
  /** Replaced if the snapshot changes while the attempt is queued. */
  subscription: CompiledSubscription
  readonly bit: number
  /** By performance.now(), like `startedAt` and `endedAt`. */
  queuedAt: number
  startedAt = 0
  endedAt = 0
  /**
   * Set if the delivery was parked under a lease while its attempt was running. The delivery is settled when both the
   * lease and the outcome are known.
   */
  detached:
    | {
        /** Undefined: not known yet. null: the delivery was not parked. */
        lease: string | null | undefined
        outcome: Outcome | undefined
        bodies: HeldBodies
      }
    | undefined = undefined
  previous: FirstAttempt | undefined = undefined
  next: FirstAttempt | undefined = undefined

  constructor(unit: Unit, subscription: CompiledSubscription, queuedAt: number) {
    this.unit = unit
    this.subscription = subscription
    this.bit = subscription.record.bit
    this.queuedAt = queuedAt
  }

  get context(): MessageContext {
    return this.unit.context
  }

  get delivery(): Buffer {
    return this.unit.context.id
  }

  get attempts(): number {
    return 1
  }

  get path(): 'first' {
    return 'first'
  }
}
