/** The counters of push consumers. */
import { type ConsumerRecord, parseArn } from '@fantail/contracts'
import type { Metrics } from '@fantail/telemetry'

interface PushedCounts {
  messages: number
  deleted: number
  durationMs: number
}

export interface ConsumerMetrics {
  /** One request has ended and is settled. */
  pushed(record: ConsumerRecord, counts: PushedCounts): void
}

export function createConsumerMetrics(metrics: Metrics): ConsumerMetrics {
  return {
    pushed({ queueArn, name: consumer }, { messages, deleted, durationMs }) {
      const queue = parseArn(queueArn)?.name ?? queueArn
      const result = deleted === messages ? 'succeeded' : deleted > 0 ? 'partial' : 'failed'
      metrics.consumerRequestSeconds.of({ result }).record(durationMs / 1_000)
      if (deleted > 0) metrics.consumerMessages.of({ queue, consumer, result: 'deleted' }).add(deleted)
      const returned = messages - deleted
      if (returned > 0) metrics.consumerMessages.of({ queue, consumer, result: 'returned' }).add(returned)
    },
  }
}
