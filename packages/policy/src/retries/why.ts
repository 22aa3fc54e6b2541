/**
 * Explains when an attempt came or comes: one cause and one delay. The attempt's log line, the delivery's retry state,
 * the outcome log and the API use them. If they are absent, nothing delayed the delivery.
 */
import {
  type AttemptErrorCode,
  type AttemptResult,
  type DeliveryCause,
  END_CAUSES,
  type EndCause,
  type StoredWhy,
  type WaitCause,
  type Why,
} from '@fantail/contracts'
import type { NextStep } from './next-step.ts'

type Unanswered = Exclude<AttemptResult, { kind: 'response' }>

/** The error of an attempt that got no answer. */
export function errorCodeOf(result: Unanswered): AttemptErrorCode | 'misconfigured' {
  return result.kind === 'failure' ? result.error : result.kind
}

export function failureText(result: Unanswered): string {
  return `${errorCodeOf(result)}: ${result.detail}`
}

type Failed = Exclude<NextStep, { step: 'delivered' | 'misconfigured' | 'gone' | 'wait' }>

/** Why the delivery is attempted again, or ends. For a delivered one, `causeOf` gives the cause. */
export function whyNext(step: Failed & { step: 'retry' }): StoredWhy
export function whyNext(step: Failed): Why
export function whyNext(step: Failed): Why {
  return { cause: step.cause, delayMs: step.step === 'retry' ? step.delayMs : null }
}

interface AttemptBefore {
  /** Why the attempt was due when it was, as the attempt before has decided. Absent for a first attempt. */
  whyDue?: StoredWhy | undefined
  /** A further cause that delayed the attempt. */
  waitedFor?: WaitCause | undefined
  /** From publishing to the attempt. null if the attempt was not the first. */
  sincePublishedMs: number | null
}

/**
 * Why an attempt came at its time. For a retry this is the earlier decision, unless an open circuit delayed it further.
 */
export function causeOf({ whyDue, waitedFor, sincePublishedMs }: AttemptBefore): StoredWhy | undefined {
  if (whyDue && waitedFor !== 'circuitOpen') return whyDue
  return waitedFor && { cause: waitedFor, delayMs: sincePublishedMs }
}

/** Why a delivery ended that was not delivered. `reason` is the stored one. */
export function whyItEnded(reason: string | null): Why {
  return { cause: isEndCause(reason) ? reason : 'unknown', delayMs: null }
}

function isEndCause(reason: string | null): reason is EndCause {
  return reason !== null && Object.hasOwn(END_CAUSES, reason)
}

/** The members in the form of logs and the API. */
export function shownWhy(why: Why | undefined): { delayMs: number | null; cause: DeliveryCause | null } {
  return { delayMs: why?.delayMs ?? null, cause: why?.cause ?? null }
}
