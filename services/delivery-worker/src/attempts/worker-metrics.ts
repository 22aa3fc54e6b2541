/** The worker's counters; telemetry turns them into instruments. */
import type { FilterReason } from '@fantail/policy'
import type { LaneOutcome } from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { Outcome } from './attempt-outcome.ts'

export interface WorkerMetrics {
  /** An attempt has ended, with any result. */
  attempted(
    subscription: CompiledSubscription,
    context: MessageContext,
    outcome: Outcome,
    durationMs: number,
  ): void
  /** A first attempt of dispatch succeeded. `endedAt`: by performance.now(). */
  delivered(subscription: CompiledSubscription, context: MessageContext, endedAt?: number): void
  /** The filters of this many subscriptions rejected a message. */
  filtered(topicName: string, reason: FilterReason, count: number): void
  /** A message of the topic became too old before it was matched. */
  expired(topicName: string): void
  /** A dead delivery has not found its dead-letter queue, and continues to wait. */
  awaitsQueue(subscription: CompiledSubscription): void
  /** Letters of a topic's own queue were removed, because the queue was too large. */
  lettersRemoved(topicName: string, letters: number): void
  /** A claimed delivery has left its lane. */
  ended(
    subscription: CompiledSubscription,
    context: MessageContext,
    outcome: LaneOutcome,
    reason: string | null,
  ): void
}
