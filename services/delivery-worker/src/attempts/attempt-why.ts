/** Finds out why an attempt from a lane was made at its time. */
import type { StoredWhy, WaitCause } from '@fantail/contracts'
import { causeOf } from '@fantail/policy'
import { deliveryGeneration } from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'
import type { Circuit } from '../settling/lane-pacing.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { AttemptEnd } from './attempt-end.ts'
import type { Outcome } from './attempt-outcome.ts'

export type ExplainedEnd = Pick<AttemptEnd, 'context' | 'delivery' | 'attempts' | 'whyDue' | 'waitedFor'>

/** How an attempt came about, as far as the worker knows. */
export interface AttemptOrigin {
  /** Why it was made at its time. */
  why: StoredWhy | undefined
  /** Why it waited after it was due. */
  waitedFor: WaitCause | undefined
  /** How often the delivery was redriven. */
  redrives: number
}

/** A first attempt that comes later than this after publishing had to wait for something. */
const LATE_MS = 1_000

/**
 * `circuit`: the state of its lane's circuit before the attempt ended; absent without a circuit breaker. `now`: by
 * Redis's clock.
 */
export function attemptCause(
  end: ExplainedEnd,
  { result }: Pick<Outcome, 'result'>,
  circuit: Circuit | undefined,
  now: number,
): StoredWhy | undefined {
  const { whyDue, context } = end
  const startedAt = now - result.durationMs
  const sincePublishedMs = isAttemptOne(end)
    ? Math.max(0, Math.round(startedAt - context.message.publishedAt))
    : null
  return causeOf({ whyDue, waitedFor: waitCauseOf(end, circuit, sincePublishedMs), sincePublishedMs })
}

/** Why an attempt from a lane came, and why it waited after it was due. `startedAt`: by Redis's clock. */
export function originOf(
  end: ExplainedEnd,
  outcome: Pick<Outcome, 'result'>,
  circuit: Circuit | undefined,
  startedAt: number,
): AttemptOrigin {
  const { publishedAt } = end.context.message
  const sincePublishedMs = isAttemptOne(end) ? startedAt - publishedAt : null
  return {
    why: attemptCause(end, outcome, circuit, startedAt + outcome.result.durationMs),
    waitedFor: waitCauseOf(end, circuit, sincePublishedMs),
    redrives: deliveryGeneration(end.delivery),
  }
}

/** `sincePublishedMs`: from publishing to a first attempt, else null. */
function waitCauseOf(
  end: ExplainedEnd,
  circuit: Circuit | undefined,
  sincePublishedMs: number | null,
): WaitCause | undefined {
  const waitsSince = sincePublishedMs === null ? null : end.context.message.publishedAt
  if (hadToWaitFor(circuit, waitsSince)) return 'circuitOpen'
  return end.waitedFor ?? lateFor(end.context, sincePublishedMs)
}

/**
 * The cause of a late attempt if no other cause is known. In a FIFO lane the delivery waited for its group, in other
 * lanes for a slot of a worker.
 */
export function lateFor(context: MessageContext, sincePublishedMs: number | null): WaitCause | undefined {
  if (sincePublishedMs === null || sincePublishedMs < LATE_MS) return undefined
  return context.message.sequenceNumber === undefined ? 'capacity' : 'groupOrder'
}

function isAttemptOne({ attempts, delivery }: ExplainedEnd): boolean {
  return attempts === 1 && deliveryGeneration(delivery) === 0
}

/** `waitsSince` null: the delivery was attempted before, so it may have come to its lane after the circuit closed. */
function hadToWaitFor(circuit: Circuit | undefined, waitsSince: number | null): boolean {
  if (!circuit || circuit.open) return circuit?.open ?? false
  return circuit.closedAt !== null && waitsSince !== null && waitsSince < circuit.closedAt
}

/** The cause for a delivery that failed while the circuit was open, and waits for the next probe. */
export function whyUncounted({ record }: CompiledSubscription): StoredWhy {
  const { circuitBreaker } = record
  return { cause: 'circuitOpen', delayMs: circuitBreaker ? circuitBreaker.probeSeconds * 1_000 : null }
}
