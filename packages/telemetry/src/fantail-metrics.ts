/**
 * Every metric of Fantail. Failures and filtered deliveries are counted as SNS counts them (checklist 197, 198).
 * `topic` is a topic's name. A subscription's id is a label only of metrics that bound their subscriptions: those of
 * lanes, and failures.
 */
import { Counter, Gauge, Histogram } from './instruments.ts'

const ATTEMPT_BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
/** The largest bound is the longest default wait of a delivery. */
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
/** The largest bound is the longest request of a push consumer. */
const REQUEST_BOUNDS_SECONDS = [...ATTEMPT_BOUNDS_SECONDS, 30, 60, 120, 300, 900]
/** The largest bound is the longest wait of a receive. */
const HTTP_BOUNDS_SECONDS = [0.001, 0.0025, ...ATTEMPT_BOUNDS_SECONDS.filter((bound) => bound <= 10), 30]
/**
 * The set of routes and operations is fixed. All of them fit, with four classes of status each.
 * @limit Series of the HTTP metrics. Past it: further label sets share one series.
 */
const HTTP_SERIES_MAX = 1_000
/**
 * A series of a histogram has twenty lines in a scrape.
 * @limit Series of one histogram of the worker. Past it: further label sets share one series.
 */
const HISTOGRAM_SERIES_MAX = 250
/**
 * Each series is one line in a scrape.
 * @limit Subscriptions whose failures a worker counts one by one. Past it: the others share one series.
 */
const FAILING_SUBSCRIPTIONS_MAX = 1_000

export function createInstruments() {
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
    eventTypeFindings: new Counter({
      name: 'fantail_event_type_findings',
      help: 'Messages that do not fit the catalogue of their topic, or have a deprecated type: by result: warned, refused.',
      labels: ['topic', 'result'],
    }),
    deliveriesDelivered: new Counter({
      name: 'fantail_deliveries_delivered',
      help: 'Deliveries that their endpoint accepted.',
      labels: ['topic'],
    }),
    deliveryFailures: new Counter({
      name: 'fantail_delivery_failures',
      help: 'Webhooks: failed attempts, each retry included. Other protocols: deliveries that failed permanently.',
      labels: ['topic'],
    }),
    subscriptionDeliveryFailures: new Counter({
      name: 'fantail_subscription_delivery_failures',
      help: 'The same failures by subscription.',
      labels: ['topic', 'subscription'],
      seriesMax: FAILING_SUBSCRIPTIONS_MAX,
    }),
    deliveriesDeadLettered: new Counter({
      name: 'fantail_deliveries_dead_lettered',
      help: 'Deliveries stored in a dead-letter queue.',
      labels: ['topic'],
    }),
    deadLettersRefused: new Counter({
      name: 'fantail_dead_letters_refused',
      help: 'Deliveries discarded because their dead-letter queue is missing or its policy denies the topic.',
      labels: ['topic'],
    }),
    deadLetterQueueMissing: new Counter({
      name: 'fantail_dead_letter_queue_missing',
      help: 'Times that a dead delivery did not find its dead-letter queue and went on waiting for it.',
      labels: ['topic'],
    }),
    attemptsMisconfigured: new Counter({
      name: 'fantail_attempts_misconfigured',
      help: 'Attempts that a broken credential or an absent setting of this service kept from their endpoint.',
      labels: ['credential'],
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
    queueMessagesExpired: new Counter({
      name: 'fantail_queue_messages_expired',
      help: 'Messages of queues that were deleted because their lease ended.',
      labels: [],
    }),
    deliveriesFilteredOut: new Counter({
      name: 'fantail_deliveries_filtered_out',
      help: 'Deliveries not made because a filter policy rejected the message, by the cause that SNS has for it.',
      labels: ['topic', 'cause'],
    }),
    mailAttempts: new Counter({
      name: 'fantail_mail_attempts',
      help: 'Attempts to send a mail, by result: delivered, transient, permanent, misconfigured, suppressed, throttled.',
      labels: ['result'],
    }),
    smsAttempts: new Counter({
      name: 'fantail_sms_attempts',
      help: 'Attempts to send a text message, by result: delivered, transient, permanent, misconfigured, unknown, refused.',
      labels: ['result'],
    }),
    attemptSeconds: new Histogram(
      {
        name: 'fantail_attempt_duration_seconds',
        help: 'Time from the start of an attempt to its end, by result: delivered, retry, permanent, misconfigured.',
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
    pushConsumerMessages: new Counter({
      name: 'fantail_push_consumer_messages',
      help: 'Messages pushed by queues to consumers, by result: deleted, returned.',
      labels: ['queue', 'consumer', 'result'],
    }),
    pushConsumerRequestSeconds: new Histogram(
      {
        name: 'fantail_push_consumer_request_duration_seconds',
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
    archivedMessages: new Counter({
      name: 'fantail_archived_messages',
      help: 'Messages that were written into blocks of an archive.',
      labels: ['topic'],
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
      help: 'Time that a lane needs for what waits now, at the rate at which its endpoint takes deliveries.',
      unit: 's',
      labels: ['topic', 'subscription'],
    }),
    quarantineAdded: new Counter({
      name: 'fantail_quarantine_added',
      help: 'Entries added to the quarantine, by cause.',
      labels: ['cause'],
    }),
    quarantineRefused: new Counter({
      name: 'fantail_quarantine_refused',
      help: 'Tries to add an entry to a quarantine that was full; what it was about stayed where it was.',
      labels: ['cause'],
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
    redisUsedBytes: new Gauge({
      name: 'fantail_redis_memory_used_bytes',
      help: 'Memory that Redis has used; on a cluster its fullest master.',
      unit: 'By',
      labels: [],
    }),
    redisLimitBytes: new Gauge({
      name: 'fantail_redis_memory_limit_bytes',
      help: 'Memory that Redis may use in all.',
      unit: 'By',
      labels: [],
    }),
    redisWatermarkBytes: new Gauge({
      name: 'fantail_redis_memory_watermark_bytes',
      help: 'Used memory from which publishing is refused.',
      unit: 'By',
      labels: [],
    }),
    redisDataRisks: new Gauge({
      name: 'fantail_redis_data_risk',
      help: 'Whether settings or the disk of Redis would lose accepted messages, by risk: 1 or 0.',
      labels: ['risk'],
    }),
    redisMissingReplicas: new Gauge({
      name: 'fantail_redis_missing_replicas',
      help: 'Replicas of FANTAIL_MIN_REPLICAS that do not follow.',
      labels: [],
    }),
    dispatchJobs: new Gauge({
      name: 'fantail_dispatch_waiting_jobs',
      help: 'Groups of published messages that no worker has fetched yet.',
      labels: [],
    }),
    dispatchOldestSeconds: new Gauge({
      name: 'fantail_dispatch_oldest_age_seconds',
      help: 'Time since the oldest of these was published.',
      unit: 's',
      labels: [],
    }),
    dueDeliveries: new Gauge({
      name: 'fantail_due_deliveries',
      help: 'Deliveries and dispatch jobs that are due now and that only a lack of workers holds back.',
      labels: [],
    }),
    storageRefusals: new Counter({
      name: 'fantail_storage_refusals',
      help: 'Publishes and other calls refused because Redis, the share of a topic, or a quota is full.',
      labels: ['cause'],
    }),
    buildInfo: new Gauge({
      name: 'fantail_build_info',
      help: 'Version and commit of the process; the value is 1.',
      labels: ['version', 'commit'],
    }),
    startedSeconds: new Gauge({
      name: 'fantail_start_time_seconds',
      help: 'When the process started, in seconds since 1970.',
      unit: 's',
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

export type Instruments = ReturnType<typeof createInstruments>
