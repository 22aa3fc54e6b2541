/** The log line of an attempt: what came of it, what follows, when and why. */
import type { AttemptResult, Why } from '@fantail/contracts'
import { shownWhy } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'
import { resultState } from './attempt-outcome.ts'

export interface LoggedAttempt {
  message: MessageContext
  subscription: CompiledSubscription
  /** Made, this one included. */
  attempts: number
  result: AttemptResult
  decision: 'delivered' | 'retry' | 'dead' | 'circuitOpen'
  why: Why | undefined
}

/** First attempts that succeed have no line of their own: they are logged per job. */
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
