/** Sends ended attempts to listeners of live events. While nobody listens, no event is built. */
import { endpointOf } from '@fantail/contracts'
import { redactEndpoint } from '@fantail/delivery'
import { shownWhy } from '@fantail/policy'
import type { LiveSender } from '@fantail/store'
import {
  type AttemptEnd,
  type Decided,
  type DecidedAfterSending,
  type EndReport,
  wasSent,
} from '../attempts/attempt-end.ts'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'
import type { MessageContext } from '../messages/message-context.ts'

interface LiveAttemptsOptions {
  live: Pick<LiveSender, 'on' | 'send' | 'leavesOut'>
  /** Epoch ms by Redis's clock. */
  now: () => number
}

export class LiveAttempts implements EndReport {
  readonly #options: LiveAttemptsOptions

  constructor(options: LiveAttemptsOptions) {
    this.#options = options
  }

  /** If nothing was sent, there is no event. */
  ended(end: AttemptEnd, outcome: Outcome, decided: Decided): void {
    if (!this.#options.live.on || !wasSent(decided)) return
    this.#send(end, end.context, end.attempts, outcome, decided)
    for (const { context } of end.followers ?? []) this.#send(end, context, 1, outcome, decided)
  }

  #send(
    { subscription: { record }, path }: AttemptEnd,
    { message }: MessageContext,
    attempts: number,
    { result }: Outcome,
    { decision, why }: DecidedAfterSending,
  ): void {
    const { topicArn, messageId } = message
    const { live } = this.#options
    // Under full load this is called for every delivery, so an event that nobody gets is only counted.
    if (live.leavesOut('attempt', topicArn)) return
    const { statusCode, error } = resultState(result)
    const facts = { type: 'attempt', topicArn, subscriptionId: record.id, statusCode } as const
    const at = this.#options.now()
    live.send(facts, () => ({
      ...facts,
      at,
      messageId,
      subscriptionName: record.name ?? null,
      endpoint: redactEndpoint(endpointOf(record, message)),
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
