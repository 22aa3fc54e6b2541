/** Decides what follows an attempt (checklist 32 to 38). Nothing here has an effect. */
import { type NextStep, nextStep } from '@fantail/policy'
import type { AttemptEnd } from '../attempts/attempt-end.ts'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import type { Circuit } from '../settling/lane-pacing.ts'

export interface RetrySettings {
  /** How much a delay may vary: 0.1 means 0.9 to 1.1 times the nominal delay. */
  jitter: number
  /** Longest sum of one delivery's delays. */
  maxRetrySeconds: number
}

/** `circuitOpen`: the delivery keeps its position in the lane, and no retry is counted. */
export type DecidedStep = NextStep | { step: 'circuitOpen' }

export function decide(
  { subscription: { record, policy }, attempts }: AttemptEnd,
  { result }: Outcome,
  { jitter, maxRetrySeconds }: RetrySettings,
): NextStep {
  return nextStep({
    result,
    protocol: record.protocol,
    subscription: record,
    attempts,
    policy: policy.healthyRetryPolicy,
    jitter,
    random: Math.random,
    maxRetrySeconds,
  })
}

/** Whether the result says something about the endpoint, so that retry mode and circuit breaker count it. */
export function saysOfEndpoint({ step }: DecidedStep): boolean {
  return step !== 'wait' && step !== 'gone'
}

/** `circuit`: its state before the attempt ended. */
export function inCircuit(step: DecidedStep, circuit: Circuit): DecidedStep {
  return circuit.open && isRetryable(step) ? { step: 'circuitOpen' } : step
}

function isRetryable(step: DecidedStep): boolean {
  return step.step === 'retry' || (step.step === 'dead' && step.cause === 'retriesExhausted')
}
