/** Reports attempts: to the log, and to those who listen to live events. While nobody listens, no event is built. */
import { type AttemptResult, endpointOf } from '@fantail/contracts'
import { redactEndpoint } from '@fantail/delivery'
import { shownWhy } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { DeliveryEvent, LiveSender } from '@fantail/store'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'
import { type LoggedAttempt, logAttempt } from './attempt-log.ts'
import { resultState } from './attempt-outcome.ts'

interface ReportedAttempt extends LoggedAttempt {
  path: DeliveryEvent['path']
  /** FIFO: further messages that were sent with it. */
  run?: readonly { message: MessageContext }[] | undefined
}

interface AttemptReportsOptions {
  log: Logger
  live: Pick<LiveSender, 'on' | 'send'>
  /** Epoch ms by Redis's clock. */
  now: () => number
}

export class AttemptReports {
  readonly #options: AttemptReportsOptions

  constructor(options: AttemptReportsOptions) {
    this.#options = options
  }

  /** Any attempt but a first one that succeeded. */
  ended(attempt: ReportedAttempt): void {
    const { log, live } = this.#options
    logAttempt(log, attempt)
    if (!live.on) return
    this.#send(attempt)
    for (const { message } of attempt.run ?? []) this.#send({ ...attempt, message, attempts: 1 })
  }

  /** The job's log line counts it. */
  firstDelivered(subscription: CompiledSubscription, message: MessageContext, result: AttemptResult): void {
    if (!this.#options.live.on) return
    const how = { attempts: 1, decision: 'delivered', why: undefined, path: 'first' } as const
    this.#send({ subscription, message, result, ...how })
  }

  #send(attempt: ReportedAttempt): void {
    const { subscription, message, result, decision, attempts, why, path } = attempt
    // Nothing was sent.
    if (decision === 'wait') return
    const { record } = subscription
    const { topicArn, messageId } = message.message
    const { statusCode, error } = resultState(result)
    const facts = { type: 'attempt', topicArn, subscriptionId: record.id, statusCode } as const
    const at = this.#options.now()
    this.#options.live.send(facts, () => ({
      ...facts,
      at,
      messageId,
      endpoint: redactEndpoint(endpointOf(record, message.message)),
      attempts,
      path,
      error,
      durationMs: Math.round(result.durationMs),
      decision,
      nextAttemptAt: decision === 'retry' ? at + (why?.delayMs ?? 0) : null,
      ...shownWhy(why),
    }))
  }
}
