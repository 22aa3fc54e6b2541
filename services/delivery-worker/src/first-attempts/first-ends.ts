/** Ends a first attempt: its delivery is delivered, parked in its lane, or settled there under its lease. */
import { nextStep, whyNext } from '@fantail/policy'
import { type DeadState, type ParkAs, passingTime, type RetryState } from '@fantail/store'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'
import type { AttemptReports } from '../attempts/attempt-reports.ts'
import type { AttemptSlots } from '../attempts/attempt-slots.ts'
import type { HeldBodies } from '../attempts/body-bytes.ts'
import type { WorkerMetrics } from '../attempts/worker-metrics.ts'
import type { AttemptNotes } from '../endings/attempt-notes.ts'
import type { DeliveryStatus, FinishedDelivery } from '../endings/delivery-status.ts'
import type { Finishing } from '../endings/finishing.ts'
import type { GoneEndpoints } from '../endings/gone-endpoints.ts'
import type { Parking } from '../settling/parking.ts'
import type { FirstAttempt } from './first-attempt.ts'

export interface FirstEndsOptions {
  slots: Pick<AttemptSlots, 'isProven'>
  parking: Pick<Parking, 'park'>
  finishing: Pick<Finishing, 'finish'>
  gone: Pick<GoneEndpoints, 'pause'>
  metrics: Pick<WorkerMetrics, 'delivered'>
  notes: Pick<AttemptNotes, 'delivered' | 'failed'>
  status: Pick<DeliveryStatus, 'delivered' | 'failed'>
  reports: Pick<AttemptReports, 'ended' | 'firstDelivered'>
  jitter: number
  maxRetrySeconds: number
}

export class FirstEnds {
  readonly #options: FirstEndsOptions

  constructor(options: FirstEndsOptions) {
    this.#options = options
  }

  /** Parks an attempt that was not started. Its lane makes the first attempt. */
  parkFresh(attempt: FirstAttempt): void {
    this.#park(attempt, { as: 'fresh' })
  }

  /** Parks a running attempt under a lease of its lane. */
  detach(attempt: FirstAttempt, held: HeldBodies, leaseMs: number): void {
    attempt.detached = { lease: undefined, outcome: undefined, held }
    this.#park(attempt, { as: 'detached', leaseMs })
  }

  /** `now`: when the attempt ended, by performance.now(). */
  end(attempt: FirstAttempt, outcome: Outcome, now: number): void {
    if (attempt.detached) {
      attempt.detached.outcome = outcome
      attempt.detached.held.release()
      this.#settleDetached(attempt)
    } else {
      this.#finish(attempt, outcome, now)
    }
  }

  #finish(attempt: FirstAttempt, outcome: Outcome, now: number): void {
    const { unit, slot, subscription } = attempt
    const { jitter, maxRetrySeconds } = this.#options
    const policy = subscription.policy.healthyRetryPolicy
    const step = nextStep({
      result: outcome.result,
      protocol: subscription.record.protocol,
      subscription: subscription.record,
      attempts: 1,
      policy,
      jitter,
      random: Math.random,
      maxRetrySeconds,
    })
    const { statusCode, error } = resultState(outcome.result)
    if (step.step === 'delivered') {
      this.#options.metrics.delivered(subscription, unit.context, now)
      this.#options.notes.delivered(subscription, 1, now + passingTime.offsetMs)
      this.#options.reports.firstDelivered(subscription, unit.context, outcome.result)
      if (subscription.feedback) this.#options.status.delivered(finishedBy(attempt, outcome))
      unit.markDelivered(slot, statusCode, outcome.copy)
      unit.close()
      return
    }
    if (step.step === 'wait') {
      // The delivery enters its lane, which checks the limit again.
      this.parkFresh(attempt)
      return
    }
    this.#options.notes.failed(subscription, outcome.result)
    unit.failures.push([slot, statusCode, error])
    const { result } = outcome
    const attempted = { message: unit.context, subscription, attempts: 1, result, path: 'first' } as const
    if (step.step === 'stand') {
      this.#options.reports.ended({
        ...attempted,
        decision: 'misconfigured',
        why: { because: 'misconfigured', delayMs: null },
      })
      // The delivery goes to its lane. The lane then asks for the credential, and waits until it works.
      this.parkFresh(attempt)
      return
    }
    if (step.step === 'pause') {
      const why = { because: 'gone', delayMs: null } as const
      this.#options.reports.ended({ ...attempted, decision: 'gone', why })
      void this.#options.gone.pause(subscription.record).then(() => this.parkFresh(attempt))
      return
    }
    this.#options.reports.ended({ ...attempted, decision: step.step, why: whyNext(step) })
    if (step.step === 'retry') {
      const state: RetryState = { kind: 'retry', attempts: 1, statusCode, error, why: whyNext(step) }
      this.#park(attempt, { as: 'retry', delayMs: step.delayMs, state })
    } else {
      const state: DeadState = { kind: 'dead', reason: step.because, attempts: 1, statusCode, error }
      this.#park(attempt, { as: 'dead', state }, () =>
        this.#options.status.failed(finishedBy(attempt, outcome)),
      )
    }
  }

  /** Parks the delivery. `parked` is called if the delivery was not in the lane before and the run is not lost. */
  #park(attempt: FirstAttempt, park: ParkAs, parked?: () => void): void {
    const { unit, subscription, slot } = attempt
    if (subscription.record.status === 'paused') unit.markPaused(slot)
    this.#options.parking.park(unit.slice.shard, {
      run: unit.run,
      subscriptionId: subscription.record.id,
      delivery: unit.context.id,
      context: unit.context,
      park,
      standing: this.#standingOf(attempt),
      mark: (isParked) => (isParked ? unit.markSettled(slot) : unit.markUnsettled(slot)),
      done: (outcome, lease) => {
        if (outcome === 'parked' || outcome === 'present') unit.parked.add(slot)
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
   * Settles a detached delivery when both its lease and its outcome are known. If it has no lease (`gone`, `stale`,
   * `present`), the outcome is dropped.
   */
  #settleDetached(attempt: FirstAttempt): void {
    const { detached, subscription, unit } = attempt
    if (!detached?.outcome || !detached.lease) return
    const claimed = {
      subscriptionId: subscription.record.id,
      delivery: unit.context.id,
      lease: detached.lease,
      standing: this.#standingOf(attempt),
    }
    void this.#options.finishing.finish({
      claimed,
      subscription,
      attempts: 1,
      outcome: detached.outcome,
      message: unit.context,
      path: 'first',
    })
  }

  #standingOf({ subscription }: FirstAttempt): 'proven' | undefined {
    return this.#options.slots.isProven(subscription.record.id) ? 'proven' : undefined
  }
}

function finishedBy({ subscription, unit }: FirstAttempt, { result }: Outcome): FinishedDelivery {
  return { subscription, message: unit.context, delivery: unit.context.id, attempts: 1, result }
}
