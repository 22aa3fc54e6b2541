/**
 * The end of an attempt. Deliveries of a job, claims of a lane and claims in a batch all end in this form, so that one
 * class decides what follows, and one list of reports gets it (endings/endings.ts).
 */
import type { StoredWhy, WaitCause, Why } from '@fantail/contracts'
import type { Follower } from '../messages/followers.ts'
import type { MessageContext } from '../messages/message-context.ts'
import type { Circuit } from '../settling/lane-pacing.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { Outcome } from './attempt-outcome.ts'

export interface AttemptEnd {
  subscription: CompiledSubscription
  context: MessageContext
  delivery: Buffer
  /** Number of attempts so far, this one included. */
  attempts: number
  /** `first`: the attempt came straight from the job. */
  path: 'first' | 'lane'
  /** True: the attempt came from the job, which did not wait for it. Absent: false. */
  isDetached?: boolean
  /** When the attempt ended, by performance.now(). Absent: now. */
  endedAt?: number
  /** FIFO: the deliveries that shared the attempt. They are delivered with it, or stay unchanged in their lane. */
  followers?: Follower[] | undefined
  /** Why the attempt was due when it was, as the attempt before has decided. Absent for a first attempt. */
  whyDue?: StoredWhy | undefined
  /** The reason for which the attempt had to wait. */
  waitedFor?: WaitCause | undefined
  /** The tokens that the retry took from the lane's quota. Absent: none. */
  retryCost?: number | undefined
}

/** The decision about what follows an attempt. */
export interface Decided {
  decision: 'delivered' | 'retry' | 'dead' | 'circuitOpen' | 'misconfigured' | 'gone' | 'wait'
  /** Why the next attempt comes when it does, or why the delivery ended. If delivered: why this attempt came. */
  why: Why | undefined
  /** The state of its lane's circuit before the attempt ended. Absent without a circuit breaker. */
  circuit?: Circuit | undefined
}

/** The decision after an attempt for which something was sent. */
export interface DecidedAfterSending extends Decided {
  decision: Exclude<Decided['decision'], 'wait'>
}

export function wasSent(decided: Decided): decided is DecidedAfterSending {
  return decided.decision !== 'wait'
}

/** Tells somebody about ended attempts. Called for every delivery, so it must be cheap if nobody wants to know. */
export interface EndReport {
  ended(end: AttemptEnd, outcome: Outcome, decided: Decided): void
}
