/** Writes the log line of an attempt: its result, and what happens next, when and why. */
import { shownWhy } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { AttemptEnd, Decided, EndReport } from '../attempts/attempt-end.ts'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'

export class AttemptLog implements EndReport {
  readonly #log: Logger
  readonly #percent: number

  /** `percent`: messages whose attempts have a line. */
  constructor(log: Logger, percent = 100) {
    this.#log = log
    this.#percent = log.isLevelEnabled('info') ? percent : 0
  }

  /**
   * A first attempt that succeeded has no line of its own, because the line of its job counts it, unless it was
   * detached. If it was not sent, its delivery only enters its lane.
   */
  ended(end: AttemptEnd, { result }: Outcome, { decision, why }: Decided): void {
    if (this.#percent === 0) return
    if (end.path === 'first' && decision === 'wait') return
    if (end.path === 'first' && decision === 'delivered' && !end.isDetached) return
    const { context, subscription, attempts } = end
    const { messageId, topicArn } = context.message
    if (!isSampled(messageId, this.#percent)) return
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

/** The id decides, so that all workers log the same messages. Its last four digits are random. */
function isSampled(messageId: string, percent: number): boolean {
  return percent >= 100 || Number.parseInt(messageId.slice(-4), 16) * 100 < percent * 0x1_0000
}
