/** Finds out why an attempt from a lane was made at its time. */
import type { StoredWhy, WaitCause } from '@fantail/contracts'
import { whyItCame } from '@fantail/policy'
import { deliveryGeneration } from '@fantail/store'
import type { Circuit } from '../settling/lane-pacing.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'
import type { Outcome } from './attempt-outcome.ts'

export interface ExplainedAttempt {
  claimed: { delivery: Buffer }
  message: MessageContext
  /** Number of attempts so far, this one included. */
  attempts: number
  /** The earlier decision to make this attempt. Absent for a first attempt, or for a delivery of an older release. */
  decided?: StoredWhy | undefined
  /** A further cause that delayed this attempt. */
  heldBy?: WaitCause | undefined
  outcome: Outcome
}

/** How an attempt came about, as far as the worker knows. */
export interface Came {
  /** Why it was made at its time. */
  why: StoredWhy | undefined
  /** Why it waited after it was due. */
  heldBy: WaitCause | undefined
  /** How often the delivery was redriven. */
  redrives: number
}

/** A first attempt that comes later than this after publishing had to wait for something. */
const LATE_MS = 1_000

/**
 * `circuit`: the state of its lane's circuit before the attempt ended; absent without a circuit breaker. `now`: by
 * Redis's clock.
 */
export function whyAttemptCame(
  ended: ExplainedAttempt,
  circuit: Circuit | undefined,
  now: number,
): StoredWhy | undefined {
  const { decided, message, outcome } = ended
  const startedAt = now - outcome.result.durationMs
  const sincePublishedMs = isFirst(ended)
    ? Math.max(0, Math.round(startedAt - message.message.publishedAt))
    : null
  return whyItCame({ decided, heldBy: whyHeld(ended, circuit, sincePublishedMs), sincePublishedMs })
}

/** Why an attempt from a lane came, and why it waited after it was due. `startedAt`: by Redis's clock. */
export function howItCame(ended: ExplainedAttempt, circuit: Circuit | undefined, startedAt: number): Came {
  const { publishedAt } = ended.message.message
  const sincePublishedMs = isFirst(ended) ? startedAt - publishedAt : null
  return {
    why: whyAttemptCame(ended, circuit, startedAt + ended.outcome.result.durationMs),
    heldBy: whyHeld(ended, circuit, sincePublishedMs),
    redrives: deliveryGeneration(ended.claimed.delivery),
  }
}

/** `sincePublishedMs`: from publishing to a first attempt, else null. */
function whyHeld(
  ended: ExplainedAttempt,
  circuit: Circuit | undefined,
  sincePublishedMs: number | null,
): WaitCause | undefined {
  const waitsSince = sincePublishedMs === null ? null : ended.message.message.publishedAt
  if (hadToWaitFor(circuit, waitsSince)) return 'circuitOpen'
  return ended.heldBy ?? lateFor(ended.message, sincePublishedMs)
}

/**
 * The cause of a late attempt if no other cause is known. In a FIFO lane the delivery waited for its group, in other
 * lanes for a slot of a worker.
 */
export function lateFor(message: MessageContext, sincePublishedMs: number | null): WaitCause | undefined {
  if (sincePublishedMs === null || sincePublishedMs < LATE_MS) return undefined
  return message.message.sequenceNumber === undefined ? 'capacity' : 'groupOrder'
}

function isFirst({ attempts, claimed }: ExplainedAttempt): boolean {
  return attempts === 1 && deliveryGeneration(claimed.delivery) === 0
}

/** `waitsSince` null: the delivery was attempted before, so it may have come to its lane after the circuit closed. */
function hadToWaitFor(circuit: Circuit | undefined, waitsSince: number | null): boolean {
  if (!circuit || circuit.open) return circuit?.open ?? false
  return circuit.closedAt !== null && waitsSince !== null && waitsSince < circuit.closedAt
}

/** The cause for a delivery that failed while the circuit was open, and waits for the next probe. */
export function whyUncounted({ record }: CompiledSubscription): StoredWhy {
  const { circuitBreaker } = record
  return { because: 'circuitOpen', delayMs: circuitBreaker ? circuitBreaker.probeSeconds * 1_000 : null }
}
