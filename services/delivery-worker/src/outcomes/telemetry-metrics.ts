/** The worker's counters as instruments. The series of a topic are looked up once and kept. */

import { classify, PROTOCOL_TRAITS, type ReportTraits } from '@fantail/policy'
import type { Metrics } from '@fantail/telemetry'
import { LRUCache } from 'lru-cache'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

/** @limit Topics whose series a worker keeps at hand. Past it: those of the least recently used one are dropped. */
const WORKER_TOPIC_SERIES_MAX = 10_000

export function createWorkerMetrics(metrics: Metrics, now: () => number): WorkerMetrics {
  const topics = new LRUCache<string, ReturnType<typeof seriesOf>>({ max: WORKER_TOPIC_SERIES_MAX })
  const results = {
    delivered: metrics.attemptSeconds.of({ result: 'delivered' }),
    retry: metrics.attemptSeconds.of({ result: 'retry' }),
    permanent: metrics.attemptSeconds.of({ result: 'permanent' }),
    misconfigured: metrics.attemptSeconds.of({ result: 'misconfigured' }),
  }
  const of = ({ topicName }: CompiledSubscription) => {
    let series = topics.get(topicName)
    if (!series) {
      series = seriesOf(metrics, topicName)
      topics.set(topicName, series)
    }
    return series
  }
  const failed = (subscription: CompiledSubscription) => {
    const { topicName: topic, record } = subscription
    of(subscription).failed.add()
    metrics.subscriptionAttemptsFailed.of({ topic, subscription: record.id }).add()
  }
  return {
    attempted(subscription, _message, outcome, durationMs) {
      const result = classify(
        outcome.result,
        subscription.record.protocol,
        subscription.policy.healthyRetryPolicy,
      )
      results[result].record(durationMs / 1_000)
      if (outcome.result.kind === 'misconfigured')
        metrics.attemptsMisconfigured.of({ credential: outcome.result.credential }).add()
      else if (result !== 'delivered' && countsFailed(subscription, 'attempts')) failed(subscription)
    },
    delivered(subscription, { message }) {
      const series = of(subscription)
      series.delivered.add()
      series.arrival.record(Math.max(0, now() - message.publishedAt) / 1_000)
    },
    filtered(topic, reason, count) {
      metrics.deliveriesFilteredOut.of({ topic, reason }).add(count)
    },
    expired(topic) {
      metrics.deliveriesExpired.of({ topic }).add()
    },
    lettersRemoved(topic, letters) {
      metrics.deliveriesDiscarded.of({ topic, cause: 'deadLetterQuota' }).add(letters)
    },
    awaitsQueue(subscription) {
      of(subscription).queueMissing.add()
    },
    ended(subscription, message, outcome, reason) {
      const series = of(subscription)
      if (outcome === 'delivered') this.delivered(subscription, message)
      else if (countsFailed(subscription, 'deliveries')) failed(subscription)
      if (outcome === 'deadLettered') series.deadLettered.add()
      if (outcome === 'expired') series.expired.add()
      const cause = reason ?? 'unknown'
      if (outcome === 'discarded')
        metrics.deliveriesDiscarded.of({ topic: subscription.topicName, cause }).add()
      if (reason === 'deadLetterQueueMissing' || reason === 'deadLetterQueueDenied')
        series.deadLetterFailed.add()
    },
  }
}

function countsFailed({ record }: CompiledSubscription, counted: ReportTraits['failures']): boolean {
  return PROTOCOL_TRAITS[record.protocol].reports.failures === counted
}

function seriesOf(metrics: Metrics, topic: string) {
  return {
    delivered: metrics.deliveriesDelivered.of({ topic }),
    failed: metrics.attemptsFailed.of({ topic }),
    deadLettered: metrics.deliveriesDeadLettered.of({ topic }),
    deadLetterFailed: metrics.deadLettersFailed.of({ topic }),
    queueMissing: metrics.deadLetterQueueMissing.of({ topic }),
    expired: metrics.deliveriesExpired.of({ topic }),
    arrival: metrics.arrivalSeconds.of({ topic }),
  }
}
