/**
 * The worker's counters as instruments, and as statistics in Redis. The series of a topic and the tallies of a
 * subscription are looked up once and kept.
 */
import { TOKEN_CREDENTIAL } from '@fantail/contracts'
import { classify, type FilterReason, isUnsent, PROTOCOL_TRAITS, type ReportTraits } from '@fantail/policy'
import { bucketOf, type LaneOutcome, type StatsCounter } from '@fantail/store'
import type { Metrics } from '@fantail/telemetry'
import { LRUCache } from 'lru-cache'
import type { MessageContext } from '../messages/message-context.ts'
import type { CompiledSubscription, SubscriptionCounts, TopicSeries } from '../topics/compiled-slice.ts'
import type { Outcome } from './attempt-outcome.ts'

/** Topics whose series a worker caches. Past it: the series of the least recently used topic are looked up again. */
const WORKER_TOPIC_SERIES_MAX = 10_000

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
  filtered(topicName: string, cause: FilterReason, count: number): void
  /** A message of the topic became too old before it was matched. */
  expired(topicName: string): void
  /** A dead delivery has not found its dead-letter queue, and continues to wait. */
  awaitsDlq(subscription: CompiledSubscription): void
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

export function createWorkerMetrics(
  metrics: Metrics,
  /** Epoch ms, at this value of performance.now(). */
  now: (at?: number) => number,
  stats: Pick<StatsCounter, 'topic' | 'subscription'>,
): WorkerMetrics {
  const topics = new LRUCache<string, TopicSeries>({
    maxSize: WORKER_TOPIC_SERIES_MAX,
    sizeCalculation: () => 1,
  })
  const results = {
    delivered: metrics.attemptSeconds.of({ result: 'delivered' }),
    retry: metrics.attemptSeconds.of({ result: 'retry' }),
    permanent: metrics.attemptSeconds.of({ result: 'permanent' }),
    misconfigured: metrics.attemptSeconds.of({ result: 'misconfigured' }),
  }
  const seriesFor = (topic: string) => {
    let series = topics.get(topic)
    if (!series) {
      series = seriesOf(metrics, topic)
      topics.set(topic, series)
    }
    return series
  }
  const makeCounts = ({ record, topicName }: CompiledSubscription): SubscriptionCounts => {
    const topic = stats.topic(record.topicArn)
    const own = topic.kind === 'topic' ? stats.subscription(record.id) : undefined
    return { series: seriesFor(topicName), topic, own }
  }
  const countsOf = (subscription: CompiledSubscription) => {
    subscription.counts ??= makeCounts(subscription)
    return subscription.counts
  }
  const failed = (subscription: CompiledSubscription) => {
    const { topicName: topic, record } = subscription
    const { series, topic: tally, own } = countsOf(subscription)
    const at = now()
    tally.failed(at)
    own?.failed(at)
    series.failed.add()
    metrics.subscriptionDeliveryFailures.of({ topic, subscription: record.id }).add()
  }
  const deadLettered = (subscription: CompiledSubscription) => {
    const { series, topic, own } = countsOf(subscription)
    const at = now()
    series.deadLettered.add()
    topic.deadLettered(at)
    own?.deadLettered(at)
  }
  /** The token server of an endpoint cannot be repaired by the operator, so it must not page. */
  const misconfigured = (credential: string) => {
    if (!credential.startsWith(TOKEN_CREDENTIAL)) metrics.attemptsMisconfigured.of({ credential }).add()
  }
  return {
    attempted(subscription, _message, outcome, durationMs) {
      if (isUnsent(outcome.result)) return
      const result = classify(
        outcome.result,
        subscription.record.protocol,
        subscription.policy.healthyRetryPolicy,
      )
      results[result].record(durationMs / 1_000)
      if (outcome.result.kind === 'misconfigured') misconfigured(outcome.result.credential)
      else if (result !== 'delivered' && countsFailed(subscription, 'attempts')) failed(subscription)
    },
    delivered(subscription, { message }, endedAt) {
      const { series, topic, own } = countsOf(subscription)
      const at = now(endedAt)
      const tookMs = Math.max(0, at - message.publishedAt)
      series.delivered.add()
      series.arrival.record(tookMs / 1_000)
      const bucket = bucketOf(tookMs)
      topic.delivered(at, bucket)
      own?.delivered(at, bucket)
    },
    filtered(topic, cause, count) {
      metrics.deliveriesFilteredOut.of({ topic, cause }).add(count)
    },
    expired(topic) {
      metrics.deliveriesExpired.of({ topic }).add()
    },
    lettersRemoved(topic, letters) {
      metrics.deliveriesDiscarded.of({ topic, cause: 'deadLetterQuota' }).add(letters)
    },
    awaitsDlq(subscription) {
      countsOf(subscription).series.dlqMissing.add()
    },
    ended(subscription, context, outcome, reason) {
      const { series } = countsOf(subscription)
      if (outcome === 'delivered') this.delivered(subscription, context)
      else if (countsFailed(subscription, 'deliveries')) failed(subscription)
      if (outcome === 'deadLettered') deadLettered(subscription)
      if (outcome === 'expired') series.expired.add()
      const cause = reason ?? 'unknown'
      if (outcome === 'discarded')
        metrics.deliveriesDiscarded.of({ topic: subscription.topicName, cause }).add()
      if (reason === 'deadLetterQueueMissing' || reason === 'deadLetterQueueDenied')
        series.deadLetterRefused.add()
    },
  }
}

function countsFailed({ record }: CompiledSubscription, counted: ReportTraits['failures']): boolean {
  return PROTOCOL_TRAITS[record.protocol].reports.failures === counted
}

function seriesOf(metrics: Metrics, topic: string): TopicSeries {
  return {
    delivered: metrics.deliveriesDelivered.of({ topic }),
    failed: metrics.deliveryFailures.of({ topic }),
    deadLettered: metrics.deliveriesDeadLettered.of({ topic }),
    deadLetterRefused: metrics.deadLettersRefused.of({ topic }),
    dlqMissing: metrics.deadLetterQueueMissing.of({ topic }),
    expired: metrics.deliveriesExpired.of({ topic }),
    arrival: metrics.arrivalSeconds.of({ topic }),
  }
}
