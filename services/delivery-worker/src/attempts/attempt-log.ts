/** The log line of an attempt: its result, and what happens next, when and why. */
import type { AttemptResult, Why } from '@fantail/contracts'
import { shownWhy } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'
import { resultState } from './attempt-outcome.ts'

export interface LoggedAttempt {
  message: MessageContext
  subscription: CompiledSubscription
  /** Number of attempts so far, this one included. */
  attempts: number
  result: AttemptResult
  decision: 'delivered' | 'retry' | 'dead' | 'circuitOpen' | 'misconfigured' | 'gone' | 'wait'
  why: Why | undefined
}

/** Logs an attempt. A first attempt that succeeds has no line of its own: the line of its job counts it. */
export function logAttempt(log: Logger, attempt: LoggedAttempt): void {
  const { message, subscription, attempts, result, decision, why } = attempt
  const { messageId, topicArn } = message.message
  const { id: subscriptionId, protocol } = subscription.record
  const line = {
    messageId,
    topicArn,
    subscriptionId,
    protocol,
    attempts,
    attemptsMax: subscription.policy.healthyRetryPolicy.numRetries + 1,
    ...resultState(result),
    durationMs: Math.round(result.durationMs),
    decision,
    ...shownWhy(why),
  }
  log.info(line, 'delivery.attempted')
}
