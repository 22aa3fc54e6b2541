/** A first attempt, from the match of its message until its delivery is settled. */
import type { Linked } from '@fantail/delivery'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import type { HeldBodies } from '../attempts/body-bytes.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { Unit } from '../units/job-run.ts'

export interface FirstAttempt extends Linked<FirstAttempt> {
  unit: Unit
  /** Replaced if the snapshot changes while the attempt is queued. */
  subscription: CompiledSubscription
  slot: number
  /** By performance.now(), like `startedAt`. */
  queuedAt: number
  startedAt: number
  /**
   * Set if the delivery was parked under a lease while its attempt was running. The delivery is settled when both the
   * lease and the outcome are known.
   */
  detached:
    | {
        /** Undefined: not known yet. null: the delivery was not parked. */
        lease: string | null | undefined
        outcome: Outcome | undefined
        held: HeldBodies
      }
    | undefined
}

export function createFirstAttempt(
  unit: Unit,
  subscription: CompiledSubscription,
  queuedAt: number,
): FirstAttempt {
  return {
    unit,
    subscription,
    slot: subscription.record.slot,
    queuedAt,
    startedAt: 0,
    detached: undefined,
    previous: undefined,
    next: undefined,
  }
}
