/**
 * Counts publishes by topic, in metrics and statistics. The series are kept here, because a look-up by labels costs as
 * much as counting.
 */
import { nameOfArn } from '@fantail/contracts'
import type { StatsCounter, Tally } from '@fantail/store'
import type { CounterSeries, HistogramSeries, Metrics } from '@fantail/telemetry'
import { LRUCache } from 'lru-cache'

/** Topics whose series the API keeps at hand. Past it: the series of the least recently used topic are dropped. */
const API_TOPIC_SERIES_MAX = 10_000

interface Series {
  messages: CounterSeries
  bytes: CounterSeries
  sizes: HistogramSeries
  tally: Tally
}

interface PublishCountsDeps {
  metrics: Pick<Metrics, 'messagesPublished' | 'publishBytes' | 'publishSizeBytes'>
  statsCounter: Pick<StatsCounter, 'topic'>
  /** Epoch ms. */
  clock: () => number
}

export class PublishCounts {
  readonly #deps: PublishCountsDeps
  readonly #byTopic = new LRUCache<string, Series>({
    maxSize: API_TOPIC_SERIES_MAX,
    sizeCalculation: () => 1,
  })

  constructor(deps: PublishCountsDeps) {
    this.#deps = deps
  }

  add(topicArn: string, messages: number, bytes: number): void {
    const series = this.#byTopic.get(topicArn) ?? this.#look(topicArn)
    series.messages.add(messages)
    series.bytes.add(bytes)
    series.sizes.record(bytes)
    series.tally.published(this.#deps.clock(), messages)
  }

  #look(topicArn: string): Series {
    const { messagesPublished, publishBytes, publishSizeBytes } = this.#deps.metrics
    const topic = nameOfArn(topicArn)
    const series = {
      messages: messagesPublished.of({ topic }),
      bytes: publishBytes.of({ topic }),
      sizes: publishSizeBytes.of({ TopicName: topic }),
      tally: this.#deps.statsCounter.topic(topicArn),
    }
    this.#byTopic.set(topicArn, series)
    return series
  }
}
