/**
 * Everything Fantail counts, after what SNS counts (checklist 197, 198). `topic` is a topic's name; a subscription's id
 * stands only where its own lane is meant.
 */
import { type AwsInstruments, type CounterView, createAwsInstruments, snsViews } from './aws-metrics.ts'
import { Counter, Gauge, Histogram } from './instruments.ts'
import { type QueueSource, showQueues } from './queue-gauges.ts'

const ATTEMPT_BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
/** Up to the longest that a delivery can wait by default. */
const ARRIVAL_BOUNDS_SECONDS = [
  ...ATTEMPT_BOUNDS_SECONDS,
  60,
  300,
  900,
  3_600,
  14_400,
  43_200,
  86_400,
  345_600,
]
/** Up to the longest that a push consumer may take. */
const REQUEST_BOUNDS_SECONDS = [...ATTEMPT_BOUNDS_SECONDS, 30, 60, 120, 300, 900]
/** Up to the longest that a receive may wait. */
const HTTP_BOUNDS_SECONDS = [0.001, 0.0025, ...ATTEMPT_BOUNDS_SECONDS.filter((bound) => bound <= 10), 30]
/**
 * Routes and operations are known, so all of them with four classes of status each fit.
 * @limit Series of the HTTP metrics. Past it: further label sets share one series.
 */
const HTTP_SERIES_MAX = 1_000
/** @limit Lanes that the gauges show, those with the most waiting first. Past it: the others are left out. */
const LANES_SHOWN_MAX = 1_000
/**
 * A histogram's series is twenty lines of a scrape.
 * @limit Series of one histogram of the worker. Past it: further label sets share one series.
 */
const HISTOGRAM_SERIES_MAX = 250

export interface LaneObservation {
  /** The topic's name. */
  topic: string
  /** The subscription's id. */
  subscription: string
  waiting: number
  inFlight: number
  oldestSeconds: number | null
  /** null where nothing limits the lane, or where it is paused. */
  drainSeconds: number | null
}

/** Read at every scrape; those with the most waiting are shown, at most a thousand. */
export type LaneSource = () => Promise<LaneObservation[]>

export interface FifoLogObservation {
  /** The topic's name; of equal names in several accounts and regions the sum is shown. */
  topic: string
  messages: number
  oldestSeconds: number
}

/** Read at every scrape: the logs of FIFO topics that hold anything. */
export type FifoLogSource = () => Promise<FifoLogObservation[]>

export interface QuarantineObservation {
  entries: number
  bytes: number
  /** Past this an entry is refused, and its source stays where it is. */
  bytesMax: number
}

/** Read at every scrape. */
export type QuarantineSource = () => Promise<QuarantineObservation>

function createInstruments() {
  return {
    messagesPublished: new Counter({
      name: 'fantail_messages_published',
      help: 'Messages accepted, each entry of a batch.',
      labels: ['topic'],
    }),
    publishBytes: new Counter({
      name: 'fantail_publish_bytes',
      help: 'Bytes of accepted messages with their attributes.',
      unit: 'By',
      labels: ['topic'],
    }),
    deliveriesDelivered: new Counter({
      name: 'fantail_deliveries_delivered',
      help: 'Deliveries that their endpoint accepted.',
      labels: ['topic'],
    }),
    attemptsFailed: new Counter({
      name: 'fantail_attempts_failed',
      help: 'Failed attempts, each retry included.',
      labels: ['topic'],
    }),
    deliveriesDeadLettered: new Counter({
      name: 'fantail_deliveries_dead_lettered',
      help: 'Deliveries stored in a dead-letter queue.',
      labels: ['topic'],
    }),
    deadLettersFailed: new Counter({
      name: 'fantail_dead_letters_failed',
      help: 'Tries to store a delivery in a dead-letter queue that failed.',
      labels: ['topic'],
    }),
    deliveriesDiscarded: new Counter({
      name: 'fantail_deliveries_discarded',
      help: 'Deliveries given up without a dead-letter queue, by cause.',
      labels: ['topic', 'cause'],
    }),
    deliveriesExpired: new Counter({
      name: 'fantail_deliveries_expired',
      help: 'Deliveries older than their topic keeps messages, without a dead-letter queue.',
      labels: ['topic'],
    }),
    deliveriesFilteredOut: new Counter({
      name: 'fantail_deliveries_filtered_out',
      help: 'Deliveries not made because a filter policy rejected the message, by the reason that SNS has for it.',
      labels: ['topic', 'reason'],
    }),
    attemptSeconds: new Histogram(
      {
        name: 'fantail_attempt_duration_seconds',
        help: 'Time from the start of an attempt to its end, by result: delivered, retry, permanent.',
        unit: 's',
        labels: ['result'],
        seriesMax: HISTOGRAM_SERIES_MAX,
      },
      ATTEMPT_BOUNDS_SECONDS,
    ),
    arrivalSeconds: new Histogram(
      {
        name: 'fantail_publish_to_arrival_seconds',
        help: 'Time from publishing a message to its acceptance by an endpoint.',
        unit: 's',
        labels: ['topic'],
        seriesMax: HISTOGRAM_SERIES_MAX,
      },
      ARRIVAL_BOUNDS_SECONDS,
    ),
    consumerMessages: new Counter({
      name: 'fantail_consumer_messages',
      help: 'Messages pushed by queues to consumers, by result: deleted, returned.',
      labels: ['queue', 'consumer', 'result'],
    }),
    consumerRequestSeconds: new Histogram(
      {
        name: 'fantail_consumer_request_duration_seconds',
        help: 'Time of a request to a push consumer, by result: succeeded, partial, failed.',
        unit: 's',
        labels: ['result'],
        seriesMax: HISTOGRAM_SERIES_MAX,
      },
      REQUEST_BOUNDS_SECONDS,
    ),
    redrivenMessages: new Counter({
      name: 'fantail_redriven_messages',
      help: 'Messages that redrives took from a queue, by result: moved, skipped.',
      labels: ['queue', 'result'],
    }),
    httpRequestSeconds: new Histogram(
      {
        name: 'fantail_http_request_duration_seconds',
        help: 'Time from reading a request to its answer, by route and class of status.',
        unit: 's',
        labels: ['method', 'route', 'status'],
        seriesMax: HTTP_SERIES_MAX,
      },
      HTTP_BOUNDS_SECONDS,
    ),
    lanesWaiting: new Gauge({
      name: 'fantail_lane_waiting_deliveries',
      help: 'Deliveries that wait in a lane.',
      labels: ['topic', 'subscription'],
    }),
    lanesInFlight: new Gauge({
      name: 'fantail_lane_in_flight_deliveries',
      help: 'Deliveries of a lane that are in flight.',
      labels: ['topic', 'subscription'],
    }),
    lanesOldestSeconds: new Gauge({
      name: 'fantail_lane_oldest_age_seconds',
      help: 'Time since the oldest waiting delivery of a lane was published.',
      unit: 's',
      labels: ['topic', 'subscription'],
    }),
    lanesDrainSeconds: new Gauge({
      name: 'fantail_lane_drain_seconds',
      help: 'Time that a lane needs at its rate for what waits now.',
      unit: 's',
      labels: ['topic', 'subscription'],
    }),
    quarantineAdded: new Counter({
      name: 'fantail_quarantine_added',
      help: 'Entries added to the quarantine, by reason.',
      labels: ['reason'],
    }),
    quarantineRefused: new Counter({
      name: 'fantail_quarantine_refused',
      help: 'Tries to add an entry to a quarantine that was full; what it was about stayed where it was.',
      labels: ['reason'],
    }),
    quarantineEntries: new Gauge({
      name: 'fantail_quarantine_entries',
      help: 'Entries in the quarantine: each waits for an operator.',
      labels: [],
    }),
    quarantineBytes: new Gauge({
      name: 'fantail_quarantine_bytes',
      help: 'Bytes that the entries of the quarantine fill.',
      unit: 'By',
      labels: [],
    }),
    quarantineBytesMax: new Gauge({
      name: 'fantail_quarantine_limit_bytes',
      help: 'Bytes that the quarantine may fill.',
      unit: 'By',
      labels: [],
    }),
    fifoLogMessages: new Gauge({
      name: 'fantail_fifo_log_messages',
      help: 'Messages of a FIFO topic that are not in lanes yet.',
      labels: ['topic'],
    }),
    fifoLogOldestSeconds: new Gauge({
      name: 'fantail_fifo_log_oldest_age_seconds',
      help: 'Time since the oldest of these was published.',
      unit: 's',
      labels: ['topic'],
    }),
  }
}

type Instruments = ReturnType<typeof createInstruments>

export interface Metrics extends Instruments, AwsInstruments {
  /** Where the gauges of lanes come from. A source that fails leaves them out of that scrape. */
  observeLanes(source: LaneSource): void
  /** And those of the logs of FIFO topics. */
  observeFifoLogs(source: FifoLogSource): void
  /** And those of the quarantine. */
  observeQuarantine(source: QuarantineSource): void
  /** And those of queues; never asked where AWS's metrics are not shown. */
  observeQueues(source: QueueSource): void
  /** Brings the gauges up to date; rejects with what kept a source from answering. */
  refresh(): Promise<void>
  /** The exported instruments. */
  instruments(): Instruments & Partial<AwsInstruments>
  /** Counters exported a second time under another name. */
  views(): CounterView[]
}

/**
 * One set per process. It needs no SDK, so that parts can count before telemetry has started and in tests. `aws`:
 * whether the metrics of SNS and SQS are shown too.
 */
export function createMetrics({ aws = true }: { aws?: boolean } = {}): Metrics {
  const [instruments, awsInstruments] = [createInstruments(), createAwsInstruments()]
  const shown = { ...instruments, ...(aws && awsInstruments) }
  const views = aws ? snsViews(instruments) : []
  let lanes: LaneSource = async () => []
  let logs: FifoLogSource = async () => []
  let queues: QueueSource = async () => []
  let quarantine: QuarantineSource | undefined
  const refreshLanes = () => refreshed(lanes, (observed) => showLanes(instruments, observed))
  const refreshLogs = () => refreshed(logs, (observed) => showFifoLogs(instruments, observed))
  const refreshQuarantine = () =>
    refreshed(
      async () => (quarantine ? [await quarantine()] : []),
      (observed) => showQuarantine(instruments, observed),
    )
  const refreshQueues = () => refreshed(queues, (observed) => showQueues(awsInstruments, observed))
  return {
    ...instruments,
    ...awsInstruments,
    observeLanes(source) {
      lanes = source
    },
    observeFifoLogs(source) {
      logs = source
    },
    observeQuarantine(source) {
      quarantine = source
    },
    observeQueues(source) {
      queues = source
    },
    async refresh() {
      const results = await Promise.allSettled([
        refreshLanes(),
        refreshLogs(),
        refreshQuarantine(),
        aws ? refreshQueues() : undefined,
      ])
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },
    instruments: () => shown,
    views: () => views,
  }
}

/** In one go once the answer is there: two scrapes at the same time must not empty each other's gauges. */
async function refreshed<T>(source: () => Promise<T[]>, show: (observed: T[]) => void): Promise<void> {
  try {
    show(await source())
  } catch (error) {
    show([])
    throw error
  }
}

function showLanes(instruments: Instruments, observed: LaneObservation[]): void {
  const { lanesWaiting, lanesInFlight, lanesOldestSeconds, lanesDrainSeconds } = instruments
  for (const gauge of [lanesWaiting, lanesInFlight, lanesOldestSeconds, lanesDrainSeconds]) gauge.clear()
  const shown = observed.toSorted((a, b) => b.waiting - a.waiting).slice(0, LANES_SHOWN_MAX)
  for (const { topic, subscription, ...lane } of shown) {
    const labels = { topic, subscription }
    lanesWaiting.set(labels, lane.waiting)
    lanesInFlight.set(labels, lane.inFlight)
    if (lane.oldestSeconds !== null) lanesOldestSeconds.set(labels, lane.oldestSeconds)
    if (lane.drainSeconds !== null) lanesDrainSeconds.set(labels, lane.drainSeconds)
  }
}

function showQuarantine(instruments: Instruments, observed: QuarantineObservation[]): void {
  const { quarantineEntries, quarantineBytes, quarantineBytesMax } = instruments
  for (const gauge of [quarantineEntries, quarantineBytes, quarantineBytesMax]) gauge.clear()
  for (const { entries, bytes, bytesMax } of observed) {
    quarantineEntries.set({}, entries)
    quarantineBytes.set({}, bytes)
    quarantineBytesMax.set({}, bytesMax)
  }
}

function showFifoLogs(instruments: Instruments, observed: FifoLogObservation[]): void {
  const { fifoLogMessages, fifoLogOldestSeconds } = instruments
  for (const gauge of [fifoLogMessages, fifoLogOldestSeconds]) gauge.clear()
  for (const { topic, messages, oldestSeconds } of observed) {
    fifoLogMessages.of({ topic }).add(messages)
    const oldest = fifoLogOldestSeconds.of({ topic })
    oldest.value = Math.max(oldest.value, oldestSeconds)
  }
}
