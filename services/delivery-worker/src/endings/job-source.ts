/**
 * The source of a delivery whose first attempt runs straight from its job: it is delivered from there, or parked in its
 * lane. A detached attempt has both sources. It ends in its lane, under the lease with which it was parked.
 */
import { isUnsent } from '@fantail/policy'
import type { DeadState, ParkAs, RetryState } from '@fantail/store'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'
import type { FirstAttempt } from '../attempts/first-attempt.ts'
import type { WorkerMetrics } from '../attempts/worker-metrics.ts'
import type { HeldBodies } from '../bodies/body-bytes.ts'
import type { AttemptSlots } from '../capacity/attempt-slots.ts'
import type { DeliveryStatus, FinishedDelivery } from '../reports/delivery-status.ts'
import type { Parking } from '../settling/parking.ts'
import type { DeliverySource, Endings } from './endings.ts'
import type { LaneSource } from './lane-source.ts'

export interface JobSourceOptions {
  slots: Pick<AttemptSlots, 'isProven'>
  parking: Pick<Parking, 'park'>
  endings: Pick<Endings, 'end'>
  laneSource: LaneSource
  metrics: Pick<WorkerMetrics, 'delivered'>
  status: Pick<DeliveryStatus, 'delivered' | 'failed'>
}

export class JobSource implements DeliverySource<FirstAttempt> {
  readonly #options: JobSourceOptions

  constructor(options: JobSourceOptions) {
    this.#options = options
  }

  /** Parks an attempt that was not started. Its lane makes attempt 1. */
  parkFresh(attempt: FirstAttempt): void {
    this.#park(attempt, { as: 'fresh' })
  }

  /** Parks a running attempt under a lease of its lane. */
  detach(attempt: FirstAttempt, bodies: HeldBodies, leaseMs: number): void {
    attempt.detached = { lease: undefined, outcome: undefined, bodies }
    this.#park(attempt, { as: 'detached', leaseMs })
  }

  end(attempt: FirstAttempt, outcome: Outcome): void {
    if (attempt.detached) {
      attempt.detached.outcome = outcome
      attempt.detached.bodies.release()
      this.#settleDetached(attempt)
    } else {
      void this.#options.endings.end(this, attempt, outcome)
    }
  }

  /** Its reports find out by themselves whether a first attempt came late. */
  successCause(): undefined {
    return undefined
  }

  delivered(attempt: FirstAttempt, outcome: Outcome): void {
    const { unit, bit, subscription, endedAt } = attempt
    this.#options.metrics.delivered(subscription, unit.context, endedAt)
    if (subscription.statusLog) this.#options.status.delivered(finishedBy(attempt, outcome))
    unit.settleDelivered(bit, resultState(outcome.result).statusCode, outcome.copy)
    unit.close()
  }

  retry(attempt: FirstAttempt, state: RetryState, delayMs: number): void {
    noteFailure(attempt, state)
    this.#park(attempt, { as: 'retry', delayMs, state })
  }

  dead(attempt: FirstAttempt, state: DeadState, outcome: Outcome): void {
    noteFailure(attempt, state)
    this.#park(attempt, { as: 'dead', state }, () =>
      this.#options.status.failed(finishedBy(attempt, outcome)),
    )
  }

  /** The delivery enters its lane, which checks again whether it may be sent. */
  returnToLane(attempt: FirstAttempt, outcome: Outcome): void {
    if (!isUnsent(outcome.result)) noteFailure(attempt, resultState(outcome.result))
    this.parkFresh(attempt)
  }

  /** The delivery enters its lane. The lane then asks for the credential, and waits until it works. */
  block(attempt: FirstAttempt, outcome: Outcome): void {
    this.returnToLane(attempt, outcome)
  }

  /** Parks the delivery. `parked` is called if the delivery was not in the lane before and the run is not lost. */
  #park(attempt: FirstAttempt, park: ParkAs, parked?: () => void): void {
    const { unit, subscription, bit } = attempt
    if (subscription.record.status === 'paused') unit.notePaused(bit)
    this.#options.parking.park(unit.slice.shard, {
      run: unit.run,
      subscriptionId: subscription.record.id,
      delivery: unit.context.id,
      context: unit.context,
      park,
      standing: this.#standingOf(attempt),
      settle: (isParked) => (isParked ? unit.settle(bit) : unit.unsettle(bit)),
      done: (outcome, lease) => {
        if (outcome === 'parked' || outcome === 'present') unit.parked.add(bit)
        if (outcome === 'parked') parked?.()
        if (attempt.detached) {
          attempt.detached.lease = lease
          this.#settleDetached(attempt)
        }
        unit.close()
      },
    })
  }

  /**
   * Settles a detached delivery when both its lease and its outcome are known. If it has no lease (`unsubscribed`,
   * `stale`, `present`), the outcome is dropped.
   */
  #settleDetached(attempt: FirstAttempt): void {
    const { detached, subscription, unit } = attempt
    if (!detached?.outcome || !detached.lease) return
    const { endings, laneSource } = this.#options
    const delivery = unit.context.id
    const claimed = {
      subscriptionId: subscription.record.id,
      delivery,
      lease: detached.lease,
      standing: this.#standingOf(attempt),
    }
    const end = {
      claimed,
      subscription,
      delivery,
      context: unit.context,
      attempts: 1,
      path: 'first',
      isDetached: true,
    } as const
    void endings.end(laneSource, end, detached.outcome)
  }

  #standingOf({ subscription }: FirstAttempt): 'proven' | undefined {
    return this.#options.slots.isProven(subscription.record.id) ? 'proven' : undefined
  }
}

function noteFailure(
  { unit, bit }: FirstAttempt,
  { statusCode, error }: ReturnType<typeof resultState>,
): void {
  unit.failures.push([bit, statusCode, error])
}

function finishedBy(
  { subscription, context, delivery, attempts }: FirstAttempt,
  { result }: Outcome,
): FinishedDelivery {
  return { subscription, context, delivery, attempts, result }
}
