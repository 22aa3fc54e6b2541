/** Counts publishes by topic. The series are kept here, because a look-up by labels costs as much as counting. */
import { nameOfArn } from '@fantail/contracts'
import type { CounterSeries, HistogramSeries } from '@fantail/telemetry'
import { LRUCache } from 'lru-cache'
import type { ApiDeps } from '../deps.ts'

/** @limit Topics whose series the API keeps at hand. Past it: those of the least recently used one are dropped. */
const API_TOPIC_SERIES_MAX = 10_000

interface Series {
  messages: CounterSeries
  bytes: CounterSeries
  sizes: HistogramSeries
}

export class PublishCounts {
  readonly #metrics: ApiDeps['metrics']
  readonly #byTopic = new LRUCache<string, Series>({ max: API_TOPIC_SERIES_MAX })

  constructor(metrics: ApiDeps['metrics']) {
    this.#metrics = metrics
  }

  add(topicArn: string, messages: number, bytes: number): void {
    const series = this.#byTopic.get(topicArn) ?? this.#look(topicArn)
    series.messages.add(messages)
    series.bytes.add(bytes)
    series.sizes.record(bytes)
  }

  #look(topicArn: string): Series {
    const { messagesPublished, publishBytes, publishSizeBytes } = this.#metrics
    const topic = nameOfArn(topicArn)
    const series = {
      messages: messagesPublished.of({ topic }),
      bytes: publishBytes.of({ topic }),
      sizes: publishSizeBytes.of({ TopicName: topic }),
    }
    this.#byTopic.set(topicArn, series)
    return series
  }
}
