/**
 * Builds the answer to "why then": one cause and one delay for an attempt's log line, its delivery's retry state, the
 * outcome log and the API. Absent means that nothing delayed the delivery.
 */
import type { DeliveryCause, EndCause, StoredWhy, WaitCause, Why } from '@fantail/contracts'
import { END_CAUSES } from '@fantail/contracts'
import type { NextStep } from './next-step.ts'

type Failed = Exclude<NextStep, { step: 'delivered' }>

/** Why the delivery is attempted again, or ends. A delivered one is explained by `whyItCame`. */
export function whyNext(step: Failed & { step: 'retry' }): StoredWhy
export function whyNext(step: Failed): Why
export function whyNext(step: Failed): Why {
  return { because: step.because, delayMs: step.step === 'retry' ? step.delayMs : null }
}

interface AttemptBefore {
  /** The decision about this attempt; absent for a first attempt. */
  decided?: StoredWhy | undefined
  /** A further cause that delayed the attempt. */
  heldBy?: WaitCause | undefined
  /** From publishing to the attempt; null for one that was not the first. */
  sincePublishedMs: number | null
}

/** Why an attempt came when it did. A retry keeps its decision, unless an open circuit came between. */
export function whyItCame({ decided, heldBy, sincePublishedMs }: AttemptBefore): StoredWhy | undefined {
  if (decided && heldBy !== 'circuitOpen') return decided
  return heldBy && { because: heldBy, delayMs: sincePublishedMs }
}

/** `reason` as stored with the end of a delivery that was not delivered. */
export function whyItEnded(reason: string | null): Why {
  return { because: isEndCause(reason) ? reason : 'unknown', delayMs: null }
}

function isEndCause(reason: string | null): reason is EndCause {
  return reason !== null && Object.hasOwn(END_CAUSES, reason)
}

/** The members that logs and the API show. */
export function shownWhy(why: Why | undefined): { delayMs: number | null; because: DeliveryCause | null } {
  return { delayMs: why?.delayMs ?? null, because: why?.because ?? null }
}
