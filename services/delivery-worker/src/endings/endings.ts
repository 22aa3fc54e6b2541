/**
 * Ends every attempt:
 *
 *   AttemptEnd, Outcome ─▶ decide (what follows) ─▶ every report ─▶ the delivery's source applies it
 *
 * The source of a delivery is what has it while it is attempted: its job (job-source.ts), or the claim of its lane
 * (lane-source.ts), alone or in a batch.
 */
import { type StoredWhy, TOKEN_CREDENTIAL, type Why } from '@fantail/contracts'
import { whyNext } from '@fantail/policy'
import type { DeadState, RetryState, SettleTo } from '@fantail/store'
import type { AttemptEnd, Decided, EndReport } from '../attempts/attempt-end.ts'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'
import { whyUncounted } from '../attempts/attempt-why.ts'
import type { CredentialGate } from '../attempts/credential-gate.ts'
import type { Circuit, LanePacing } from '../settling/lane-pacing.ts'
import { type DecidedStep, decide, inCircuit, type RetrySettings, saysOfEndpoint } from './decide.ts'
import type { GoneEndpoints } from './gone-endpoints.ts'

/** A delivery returns to its lane, and no attempt is counted. `returnUncounted`: an attempt has ended. */
export type Return = Extract<SettleTo, { op: 'returnToLane' | 'returnUncounted' }>

/** Applies what was decided. Each function resolves when Redis has it, or has refused it because a lease had ended. */
export interface DeliverySource<E extends AttemptEnd> {
  /** Why a successful attempt came at its time. `circuit`: its state before the attempt ended. */
  successCause(end: E, outcome: Outcome, circuit: Circuit | undefined): StoredWhy | undefined
  delivered(end: E, outcome: Outcome, why: StoredWhy | undefined): void | Promise<void>
  retry(end: E, state: RetryState, delayMs: number): void | Promise<void>
  dead(end: E, state: DeadState, outcome: Outcome): void | Promise<void>
  returnToLane(end: E, outcome: Outcome, to: Return): void | Promise<void>
  /** The lane is blocked until the credential works. No attempt is counted. */
  block(end: E, outcome: Outcome, credential: string, delayMs: number): void | Promise<void>
}

interface EndingsOptions extends RetrySettings {
  reports: readonly EndReport[]
  pacing: Pick<LanePacing, 'answered' | 'unsent'>
  credentials: Pick<CredentialGate, 'blockMs'>
  gone: Pick<GoneEndpoints, 'pause'>
}

/** If a subscription could not be paused, its delivery waits this long before it is attempted again. */
const UNPAUSED_MS = 2_000
const DELIVERED: Decided = { decision: 'delivered', why: undefined }

export class Endings {
  readonly #options: EndingsOptions

  constructor(options: EndingsOptions) {
    this.#options = options
  }

  /** Resolves when the source has applied what follows. A first attempt that succeeded has no promise. */
  end<E extends AttemptEnd>(source: DeliverySource<E>, end: E, outcome: Outcome): void | Promise<void> {
    const step = decide(end, outcome, this.#options)
    if (end.subscription.paced && saysOfEndpoint(step)) return this.#endPaced(source, end, outcome, step)
    return this.#apply(source, end, outcome, step, undefined)
  }

  /** The answer is reported to the lane, which knows whether its circuit was open. */
  async #endPaced<E extends AttemptEnd>(
    source: DeliverySource<E>,
    end: E,
    outcome: Outcome,
    step: DecidedStep,
  ): Promise<void> {
    const { subscription, retryCost = 0 } = end
    const circuit = await this.#options.pacing.answered(subscription, outcome.result, retryCost)
    await this.#apply(source, end, outcome, inCircuit(step, circuit), circuit)
  }

  #apply<E extends AttemptEnd>(
    source: DeliverySource<E>,
    end: E,
    outcome: Outcome,
    step: DecidedStep,
    circuit: Circuit | undefined,
  ): void | Promise<void> {
    switch (step.step) {
      case 'delivered': {
        const why = source.successCause(end, outcome, circuit)
        this.#report(end, outcome, why || circuit ? { decision: 'delivered', why, circuit } : DELIVERED)
        return source.delivered(end, outcome, why)
      }
      case 'retry': {
        const why = whyNext(step)
        this.#report(end, outcome, { decision: 'retry', why, circuit })
        return source.retry(end, { kind: 'retry', ...stateOf(end, outcome), why }, step.delayMs)
      }
      case 'dead':
        this.#report(end, outcome, { decision: 'dead', why: whyNext(step), circuit })
        return source.dead(end, { kind: 'dead', cause: step.cause, ...stateOf(end, outcome) }, outcome)
      case 'circuitOpen':
        this.#report(end, outcome, { decision: 'circuitOpen', why: whyUncounted(end.subscription), circuit })
        return source.returnToLane(end, outcome, { op: 'returnUncounted' })
      case 'wait': {
        const { delayMs } = step
        this.#report(end, outcome, { decision: 'wait', why: { cause: 'serviceLimit', delayMs } })
        return source.returnToLane(end, outcome, { op: 'returnToLane', delayMs })
      }
      case 'misconfigured':
        return this.#block(source, end, outcome, circuit)
      case 'gone':
        return this.#pause(source, end, outcome)
    }
  }

  /** The attempt could not be made, because of the service's own configuration or a token server. */
  #block<E extends AttemptEnd>(
    source: DeliverySource<E>,
    end: E,
    outcome: Outcome,
    circuit: Circuit | undefined,
  ): void | Promise<void> {
    const { result } = outcome
    if (result.kind !== 'misconfigured') return
    const { credential } = result
    const delayMs = this.#options.credentials.blockMs
    const cause = credential.startsWith(TOKEN_CREDENTIAL) ? 'noToken' : 'misconfigured'
    const why: Why = { cause, delayMs }
    this.#report(end, outcome, { decision: 'misconfigured', why, circuit })
    return source.block(end, outcome, credential, delayMs)
  }

  /**
   * The endpoint is gone. The subscription is paused before the delivery returns to its lane, so that no worker claims
   * it. The answer does not count for retry mode and circuit breaker.
   */
  async #pause<E extends AttemptEnd>(source: DeliverySource<E>, end: E, outcome: Outcome): Promise<void> {
    const { subscription, retryCost = 0 } = end
    const { gone, pacing } = this.#options
    this.#report(end, outcome, { decision: 'gone', why: { cause: 'gone', delayMs: null } })
    if (subscription.paced) pacing.unsent(subscription.shard, subscription.record.id, retryCost)
    const isPaused = await gone.pause(subscription.record)
    await source.returnToLane(
      end,
      outcome,
      isPaused ? { op: 'returnUncounted' } : { op: 'returnToLane', delayMs: UNPAUSED_MS },
    )
  }

  #report(end: AttemptEnd, outcome: Outcome, decided: Decided): void {
    for (const report of this.#options.reports) report.ended(end, outcome, decided)
  }
}

function stateOf({ attempts }: AttemptEnd, { result }: Outcome) {
  const { statusCode, error } = resultState(result)
  return { attempts, statusCode, error }
}
