/** Bounds that users can meet, each with its unit in its name. */

export const MESSAGE_BYTES_MAX = 262_144
export const REQUEST_BYTES_MAX = 1_048_576
export const BATCH_MESSAGES_MAX = 100
export const LIST_LIMIT_MAX = 100
export const SUBJECT_CHARS_MAX = 99
export const DISPLAY_NAME_CHARS_MAX = 100
export const ENDPOINT_CHARS_MAX = 2_048
export const IDEMPOTENCY_KEY_CHARS_MAX = 255
export const IDEMPOTENCY_SECONDS = 86_400
export const CONFIRMATION_SECONDS = 172_800
/** Messages within an hour that ask one endpoint to confirm for one topic, and one host for one account. */
export const CONFIRMATIONS_PER_ENDPOINT_MAX = 60
export const CONFIRMATIONS_PER_HOST_MAX = 10_000
export const RETENTION_SECONDS_DEFAULT = 345_600
export const RETENTION_SECONDS_MIN = 60
export const RETENTION_SECONDS_MAX = 1_209_600
export const MAX_IN_FLIGHT_DEFAULT = 32
export const MAX_IN_FLIGHT_MAX = 256
/** SNS's limit on the sum of a policy's nominal delays (checklist 14). */
export const RETRY_SECONDS_MAX = 3_600
export const ATTEMPT_DEADLINE_MS = 15_000

export const QUEUE_VISIBILITY_SECONDS_DEFAULT = 30
export const QUEUE_VISIBILITY_SECONDS_MAX = 43_200
export const QUEUE_RETENTION_SECONDS_DEFAULT = 1_209_600
export const QUEUE_DELAY_SECONDS_MAX = 900
export const QUEUE_WAIT_SECONDS_MAX = 20
export const QUEUE_RECEIVE_MAX = 10
export const QUEUE_MESSAGE_BYTES_MAX = 1_048_576
export const QUEUE_MESSAGE_BYTES_MIN = 1_024
export const QUEUE_ALLOWED_SOURCES_MAX = 10
export const QUEUE_MESSAGE_ATTRIBUTES_MAX = 10
export const QUEUE_MAX_RECEIVE_COUNT_MAX = 1_000
export const QUEUE_HANDLES_MAX = 100

/** Of a FIFO topic, which is whole in its home shard. */
export const FIFO_SUBSCRIPTIONS_MAX = 100
/** Push consumers of one queue. */
export const CONSUMERS_MAX = 100
export const CONSUMER_NAME_CHARS_MAX = 80
export const CONSUMER_BATCH_SIZE_DEFAULT = 10
export const CONSUMER_BATCH_MAX = 1_000
export const CONSUMER_FIFO_BATCH_MAX = 10
export const CONSUMER_WINDOW_SECONDS_MAX = 300
export const CONSUMER_CONCURRENCY_DEFAULT = 1
export const CONSUMER_CONCURRENCY_MAX = 100
export const CONSUMER_TIMEOUT_SECONDS_DEFAULT = 30
export const CONSUMER_TIMEOUT_SECONDS_MAX = 900

/** Of Standard Webhooks signatures: keys of a subscription that sign, and how long one that was replaced does. */
export const WEBHOOK_KEYS_MAX = 5
export const WEBHOOK_OVERLAP_SECONDS_DEFAULT = 86_400
export const WEBHOOK_OVERLAP_SECONDS_MAX = 604_800

/** Slices: subscriptions of one topic that live together in one shard. */
export const SLICE_SUBSCRIPTIONS_MAX = 500

/** Workers match by snapshots (subscriptions and their filters) that were found to be current no longer ago than this. */
export const SNAPSHOT_AGE_MS_MAX = 50

export const CIRCUIT_FAILURES_MAX = 1_000
export const CIRCUIT_FAILURES_DEFAULT = 10
export const CIRCUIT_PROBE_SECONDS_MAX = 3_600
export const CIRCUIT_PROBE_SECONDS_DEFAULT = 30
