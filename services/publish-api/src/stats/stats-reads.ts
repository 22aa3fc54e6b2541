/** Counts publishes for statistics, and reads statistics. */
import { nameOfArn } from '@fantail/contracts'
import { STATS_RANGES, type StatsRange } from '@fantail/contracts/schemas/overview/stats-schemas'
import type { SeriesKind, Stats, StatsCounter, StatsStore, Tally, WeekFigures } from '@fantail/store'
import type { CounterSeries, HistogramSeries, Metrics } from '@fantail/telemetry'
import { LRUCache } from 'lru-cache'
import { SharedRead } from '../caches/shared-read.ts'

const STATS_FRESH_MS = 2_000
/** Statistics that an API process keeps for two seconds. Past it: the least recent are read again when asked. */
const STATS_SHARED_MAX = 200

interface StatsReadsOptions {
  store: Pick<StatsStore, 'read' | 'isKept' | 'topics' | 'week'>
  /** Epoch ms by Redis's clock. */
  clock: () => number
  /** Tests set it to 0. */
  freshMs?: number
}

/** However many callers read the same statistics, Redis is read at most every two seconds. */
export class StatsReads {
  readonly #options: StatsReadsOptions
  readonly #shared = new LRUCache<string, SharedRead<Stats>>({ max: STATS_SHARED_MAX })

  constructor(options: StatsReadsOptions) {
    this.#options = options
  }

  /** The sums over these names. */
  read(kind: SeriesKind, names: string[], range: StatsRange): Promise<Stats> {
    const { store, clock, freshMs = STATS_FRESH_MS } = this.#options
    const key = [range, kind, ...names].join('\n')
    const { step, steps } = STATS_RANGES[range]
    const shared =
      this.#shared.get(key) ??
      new SharedRead(() => store.read({ kind, names, step, steps, now: clock() }), { freshMs })
    this.#shared.set(key, shared)
    return shared.get()
  }

  isKept(kind: SeriesKind, name: string): Promise<boolean> {
    return this.#options.store.isKept(kind, name)
  }

  /** A week of a subscription. null: none is kept of it. */
  async week(subscriptionId: string): Promise<WeekFigures | null> {
    const { store, clock } = this.#options
    const [isKept, figures] = await Promise.all([
      store.isKept('w', subscriptionId),
      store.week(subscriptionId, clock()),
    ])
    return isKept ? figures : null
  }

  /** ARNs of the topics with statistics, those with the latest counts first. */
  topics(): Promise<string[]> {
    return this.#options.store.topics()
  }
}

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

/**
 * Counts publishes by topic, in metrics and statistics. The series are kept here, because a look-up by labels costs as
 * much as counting.
 */
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
