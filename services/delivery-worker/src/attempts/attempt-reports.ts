/**
 * Reports attempts to the log, to listeners of live events, and to the records. While nobody listens, no event is
 * built.
 */
import { type AttemptResult, endpointOf } from '@fantail/contracts'
import { redactEndpoint } from '@fantail/delivery'
import { shownWhy } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { LiveSender } from '@fantail/store'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'
import { logAttempt } from './attempt-log.ts'
import { resultState } from './attempt-outcome.ts'
import type { RecordedAttempt, Recording } from './attempt-recording.ts'

interface ReportedAttempt extends RecordedAttempt {
  /** FIFO: further messages that were sent with it. */
  run?: readonly { message: MessageContext }[] | undefined
}

interface AttemptReportsOptions {
  log: Logger
  live: Pick<LiveSender, 'on' | 'send' | 'leavesOut'>
  recording: Pick<Recording, 'ended' | 'recordsAll'>
  /** Epoch ms by Redis's clock. */
  now: () => number
}

export class AttemptReports {
  readonly #options: AttemptReportsOptions
  readonly #logs: boolean

  constructor(options: AttemptReportsOptions) {
    this.#options = options
    this.#logs = options.log.isLevelEnabled('info')
  }

  /** Whether a success from a lane is reported at all. If not, the caller need not describe it. */
  reportsSuccess(subscription: CompiledSubscription): boolean {
    return this.#logs || this.#isHeard(subscription)
  }

  /** Reports an attempt that has ended. First attempts that succeeded are not reported here. */
  ended(attempt: ReportedAttempt): void {
    if (this.#logs) logAttempt(this.#options.log, attempt)
    this.#reportOne(attempt)
    for (const { message } of attempt.run ?? []) this.#reportOne({ ...attempt, message, attempts: 1 })
  }

  /** Reports a first attempt that succeeded. It has no log line of its own, because the job's log line counts it. */
  firstDelivered(subscription: CompiledSubscription, message: MessageContext, result: AttemptResult): void {
    if (!this.#isHeard(subscription)) return
    const { live, recording } = this.#options
    // Under full load this is called for every delivery, so an event that nobody gets is only counted.
    if (!recording.recordsAll(subscription) && live.leavesOut('attempt', message.message.topicArn)) return
    const how = { attempts: 1, decision: 'delivered', why: undefined, path: 'first' } as const
    this.#reportOne({ subscription, message, result, ...how })
  }

  /** Whether somebody listens to the subscription's successes, or they are recorded. */
  #isHeard(subscription: CompiledSubscription): boolean {
    return this.#options.live.on || this.#options.recording.recordsAll(subscription)
  }

  #reportOne(attempt: ReportedAttempt): void {
    this.#options.recording.ended(attempt)
    if (this.#options.live.on) this.#send(attempt)
  }

  #send(attempt: ReportedAttempt): void {
    const { subscription, message, result, decision, attempts, why, path } = attempt
    // Nothing was sent.
    if (decision === 'wait') return
    const { record } = subscription
    const { topicArn, messageId } = message.message
    const { live } = this.#options
    if (live.leavesOut('attempt', topicArn)) return
    const { statusCode, error } = resultState(result)
    const facts = { type: 'attempt', topicArn, subscriptionId: record.id, statusCode } as const
    const at = this.#options.now()
    live.send(facts, () => ({
      ...facts,
      at,
      messageId,
      subscriptionName: record.name ?? null,
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
