/** A first attempt, from the moment at which its message is matched until it is out. */
import type { Linked } from '@fantail/delivery'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import type { HeldBodies } from '../attempts/body-bytes.ts'
import type { Unit } from '../dispatch/job-run.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'

export interface FirstAttempt extends Linked<FirstAttempt> {
  unit: Unit
  /** Replaced when the snapshot changes while it is queued. */
  subscription: CompiledSubscription
  slot: number
  /** By performance.now(), as `startedAt`. */
  queuedAt: number
  startedAt: number
  /** Parked under a lease while it runs. It is settled when both the lease and the outcome are known. */
  detached:
    | {
        /** Undefined: not known yet. null: it was not parked. */
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
