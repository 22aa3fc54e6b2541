/** The log line of an attempt: its result, and what happens next, when and why. */
import { shownWhy } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { AttemptEnd, Decided, EndReport } from '../attempts/attempt-end.ts'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'

export class AttemptLog implements EndReport {
  readonly #log: Logger
  readonly #isOn: boolean

  constructor(log: Logger) {
    this.#log = log
    this.#isOn = log.isLevelEnabled('info')
  }

  /**
   * A first attempt that succeeded has no line of its own, because the line of its job counts it. If it was not sent,
   * its delivery only enters its lane.
   */
  ended(end: AttemptEnd, { result }: Outcome, { decision, why }: Decided): void {
    if (!this.#isOn) return
    if (end.path === 'first' && (decision === 'delivered' || decision === 'wait')) return
    const { message, subscription, attempts } = end
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
    this.#log.info(line, 'delivery.attempted')
  }
}
