/** Bounds that users can meet, each with its unit in its name. */

/**
 * @limit Text and attributes of a message; over the AWS protocols, a topic's `MaximumMessageSize` replaces it. Past it:
 * `too_large`, over the AWS protocols `InvalidParameter`.
 */
export const MESSAGE_BYTES_MAX = 262_144
/** @limit Body of a request to the native API. Past it: `too_large`. */
export const REQUEST_BYTES_MAX = 1_048_576
/** @limit Messages of a batch in the native API. Past it: `validation_failed`. */
export const BATCH_MESSAGES_MAX = 100
/** @limit Members of one page of a list, and the default. Past it: `validation_failed`. */
export const LIST_LIMIT_MAX = 100
/** @limit Subject of a message. Past it: `validation_failed`. */
export const SUBJECT_CHARS_MAX = 99
/** @limit Display name of a topic. Past it: `validation_failed`. */
export const DISPLAY_NAME_CHARS_MAX = 100
/** @limit Tags of a topic or queue. Past it: the request is refused. */
export const TAGS_MAX = 50
/** @limit Key of a tag. Past it: the request is refused. */
export const TAG_KEY_CHARS_MAX = 128
/** @limit Value of a tag. Past it: the request is refused. */
export const TAG_VALUE_CHARS_MAX = 256
/** @limit Name of a subscription. Past it: `validation_failed`. */
export const SUBSCRIPTION_NAME_CHARS_MAX = 100
/** @limit Members of a subscription's metadata. Past it: `validation_failed`. */
export const METADATA_MEMBERS_MAX = 20
/** Key of a subscription's metadata. Past it: `validation_failed`. */
export const METADATA_KEY_CHARS_MAX = 40
/** Value of a subscription's metadata. Past it: `validation_failed`. */
export const METADATA_VALUE_CHARS_MAX = 200
/** @limit Endpoint of a subscription or push consumer. Past it: `validation_failed`. */
export const ENDPOINT_CHARS_MAX = 2_048
/** @limit An `Idempotency-Key`. Past it: `validation_failed`. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255
/** @limit How long an `Idempotency-Key` is remembered. After it: the same request publishes again. */
export const IDEMPOTENCY_SECONDS = 86_400
/** @limit How long a subscription waits for its confirmation. After it: the subscription is deleted. */
export const CONFIRMATION_SECONDS = 172_800
/** @limit Messages within an hour that ask one endpoint to confirm for one topic. Past it: `rate_limited`. */
export const CONFIRMATIONS_PER_ENDPOINT_MAX = 60
/** @limit Messages within an hour that ask one host to confirm for one account. Past it: `rate_limited`. */
export const CONFIRMATIONS_PER_HOST_MAX = 10_000
/** Spend is counted in millionths of a USD. */
export const MICROS_PER_USD = 1_000_000
/** @limit Phone numbers that are opted out. Past it: opting out another one is refused. */
export const OPTED_OUT_NUMBERS_MAX = 1_000_000
/** @limit Numbers in the SMS sandbox. Past it: another one is refused. */
export const SANDBOX_NUMBERS_MAX = 10
/** @limit Text message, its topic's name included. Past it: its delivery fails permanently. */
export const SMS_CHARS_MAX = 1_600
/** @limit Mails within a day that ask one address to confirm, for all topics. Past it: `rate_limited`. */
export const CONFIRMATION_MAILS_PER_ADDRESS_MAX = 3
/** @limit Mails within a day that ask addresses to confirm for one API key. Past it: `rate_limited`. */
export const CONFIRMATION_MAILS_PER_KEY_MAX = 1_000
/** @limit Addresses on the suppression list. Past it: `conflict`. */
export const SUPPRESSIONS_MAX = 1_000_000
/** @limit Endpoints of a platform application. Past it: `conflict`. */
export const PLATFORM_ENDPOINTS_MAX = 1_000_000
/** @limit Token of a platform endpoint. Past it: `validation_failed`. */
export const PLATFORM_TOKEN_BYTES_MAX = 8_192
/** Token of a device of Apple, in hexadecimal. Past it: `validation_failed`. */
export const APNS_TOKEN_CHARS_MAX = 400
/** @limit User data of a platform endpoint. Past it: `validation_failed`. */
export const PLATFORM_USER_DATA_BYTES_MAX = 2_048
/** @limit Each member of a platform application's credential. Past it: `validation_failed`. */
export const PLATFORM_CREDENTIAL_CHARS_MAX = 16_384
/** @limit Bounces of one import. Past it: `validation_failed`. */
export const BOUNCES_PER_IMPORT_MAX = 1_000
/** @limit Words about an address of the suppression list. Past it: `validation_failed`. */
export const SUPPRESSION_DETAIL_CHARS_MAX = 500
/**
 * @limit Age at which a topic's waiting deliveries end, unless the topic says otherwise. Past it: they expire, or go
 * to the dead-letter queue.
 */
export const RETENTION_SECONDS_DEFAULT = 345_600
/** @limit Shortest retention of a topic or queue. Below it: `validation_failed`. */
export const RETENTION_SECONDS_MIN = 60
/** @limit Longest time for which a topic keeps its messages to show them. Past it: `validation_failed`. */
export const KEPT_SECONDS_MAX = 2_592_000
/** @limit memory (Redis, each topic) Most bytes of the messages that a topic keeps. Past it: `validation_failed`. */
export const KEPT_BYTES_MAX = 10_737_418_240
/** @limit Least bytes of the messages that a topic keeps, four of the largest. Below it: `validation_failed`. */
export const KEPT_BYTES_MIN = 1_048_576
/** @limit Days for which a topic's archive has its messages. Past it: `validation_failed`. */
export const ARCHIVE_DAYS_MAX = 365
/** @limit Least bytes of a topic's archive. Below it: `validation_failed`. */
export const ARCHIVE_BYTES_MIN = 1_048_576
/** Rate of a resend, in messages a second, unless the request says otherwise. */
export const RESEND_RATE_DEFAULT = 100
/** @limit Highest rate of a resend, in messages a second. Past it: `validation_failed`. */
export const RESEND_RATE_MAX = 100_000
/** @limit Kept messages on which one request tries a filter. Past it: `validation_failed`. */
export const REPLAY_MESSAGES_MAX = 10_000
/** @limit `disableAfterDays` of a topic. Past it: `validation_failed`. */
export const DISABLE_AFTER_DAYS_MAX = 30
/** @limit Longest retention of a topic or queue. Past it: `validation_failed`. */
export const RETENTION_SECONDS_MAX = 1_209_600
/**
 * @limit Attempts that one worker makes for a subscription at a time, unless the subscription says otherwise. Past it:
 * its deliveries wait.
 */
export const MAX_IN_FLIGHT_DEFAULT = 32
/** @limit `maxInFlight` that a subscription may ask for. Past it: `validation_failed`. */
export const MAX_IN_FLIGHT_MAX = 256
/**
 * SNS's limit on the sum of a policy's nominal delays (checklist 14).
 * @limit Sum of a policy's nominal delays; FANTAIL_MAX_RETRY_SECONDS changes it. Past it: the policy is refused.
 */
export const RETRY_SECONDS_MAX = 3_600
/**
 * @limit One attempt over connecting, headers and body; FANTAIL_ATTEMPT_TIMEOUT_MS changes it. Past it: the attempt
 * fails with `timeout`.
 */
export const ATTEMPT_DEADLINE_MS = 15_000

/** Visibility timeout of a queue that names none. After it: the message can be received again. */
export const QUEUE_VISIBILITY_SECONDS_DEFAULT = 30
/** @limit Visibility timeout. Past it: the request is refused. */
export const QUEUE_VISIBILITY_SECONDS_MAX = 43_200
/** @limit Retention of a queue made by the native API without one. After it: the message is deleted. */
export const QUEUE_RETENTION_SECONDS_DEFAULT = 1_209_600
/** @limit Delay of a message or queue. Past it: the request is refused. */
export const QUEUE_DELAY_SECONDS_MAX = 900
/** @limit Wait of a receive. Past it: the request is refused. */
export const QUEUE_WAIT_SECONDS_MAX = 20
/** @limit Messages of one receive. Past it: the request is refused. */
export const QUEUE_RECEIVE_MAX = 10
/** @limit Message size that a queue may allow, and the default. Past it: the request is refused. */
export const QUEUE_MESSAGE_BYTES_MAX = 1_048_576
/** @limit Message size that a queue must allow at least. Below it: the request is refused. */
export const QUEUE_MESSAGE_BYTES_MIN = 1_024
/** @limit Source queues that a redrive allow policy names. Past it: `validation_failed`. */
export const QUEUE_ALLOWED_SOURCES_MAX = 10
/** @limit Type of an attribute of a queue's message. Past it: the message is refused. */
export const QUEUE_ATTRIBUTE_TYPE_CHARS_MAX = 256
/** @limit Attributes of a queue's message. Past it: the message is refused. */
export const QUEUE_MESSAGE_ATTRIBUTES_MAX = 10
/** @limit Shortest lease of a queue: a receive may wait 20 seconds. Past it: `validation_failed`. */
export const QUEUE_LEASE_SECONDS_MIN = 60
/** @limit Longest lease of a queue, in seconds. Past it: `validation_failed`. */
export const QUEUE_LEASE_SECONDS_MAX = 604_800
/** @limit `maxReceiveCount` of a redrive policy. Past it: the policy is refused. */
export const QUEUE_MAX_RECEIVE_COUNT_MAX = 1_000
/** @limit Receipt handles of one request to the native API. Past it: `validation_failed`. */
export const QUEUE_HANDLES_MAX = 100

/**
 * @limit Subscriptions of a FIFO topic, which is whole in its home shard. Past it: subscribing is refused.
 */
export const FIFO_SUBSCRIPTIONS_MAX = 100
/** @limit Push consumers of one queue. Past it: `conflict`. */
export const PUSH_CONSUMERS_MAX = 100
/** @limit Name of a push consumer. Past it: the request is refused. */
export const PUSH_CONSUMER_NAME_CHARS_MAX = 80
export const PUSH_CONSUMER_BATCH_SIZE_DEFAULT = 10
/** @limit Messages of a push consumer's batch. Past it: `validation_failed`. */
export const PUSH_CONSUMER_BATCH_MAX = 1_000
/** @limit Messages of a push consumer's batch, if its queue is FIFO. Past it: the request is refused. */
export const PUSH_CONSUMER_FIFO_BATCH_MAX = 10
/** @limit Time for which a push consumer gathers a batch. Past it: `validation_failed`. */
export const PUSH_CONSUMER_WINDOW_SECONDS_MAX = 300
export const PUSH_CONSUMER_CONCURRENCY_DEFAULT = 1
/** @limit Batches that a push consumer may have under way at a time. Past it: `validation_failed`. */
export const PUSH_CONSUMER_CONCURRENCY_MAX = 100
/** Deadline of a push consumer's request, unless it says otherwise. Past it: the batch has failed. */
export const PUSH_CONSUMER_TIMEOUT_SECONDS_DEFAULT = 30
/** @limit Deadline that a push consumer may ask for. Past it: `validation_failed`. */
export const PUSH_CONSUMER_TIMEOUT_SECONDS_MAX = 900

/**
 * @limit Keys of a subscription that sign at the same time. Past it: rotating a key is refused with `conflict`.
 */
export const WEBHOOK_KEYS_MAX = 5
/**
 * How long a replaced webhook key still signs, unless the request says otherwise. After it: the new key signs
 * alone.
 */
export const WEBHOOK_OVERLAP_SECONDS_DEFAULT = 86_400
/** @limit Overlap that a request may ask for. Past it: `validation_failed`. */
export const WEBHOOK_OVERLAP_SECONDS_MAX = 604_800

/** @limit Subscriptions of one slice. Past it: the topic gets a further slice. */
export const SLICE_SUBSCRIPTIONS_MAX = 500

/** Age of the last check of a snapshot that a worker matches by. Past it: the revision is checked first. */
export const SNAPSHOT_AGE_MS_MAX = 50

/** @limit Failures in a row that a circuit breaker may wait for. Past it: `validation_failed`. */
export const CIRCUIT_FAILURES_MAX = 1_000
export const CIRCUIT_FAILURES_DEFAULT = 10
/** @limit Pause between probes of an open circuit. Past it: `validation_failed`. */
export const CIRCUIT_PROBE_SECONDS_MAX = 3_600
/** The default of the pause between probes of an open circuit. */
export const CIRCUIT_PROBE_SECONDS_DEFAULT = 30
/** @limit Message groups of a subscription with a rate of their own. Past it: `validation_failed`. */
export const GROUP_RATES_MAX = 100
/** Rate of a message group, a second. Below it: `validation_failed`. */
export const GROUP_RATE_MIN = 0.01

/** @limit Members of `retryOn`. Past it: the policy is refused. */
export const RETRY_ON_MEMBERS_MAX = 50
/** The default of `retryOn`. The traits classify statuses by it, and documents show it. */
export const RETRY_ON_DEFAULT = ['429', '5xx'] as const

/** Name of an event type. Past it: `validation_failed`. */
export const EVENT_TYPE_NAME_CHARS_MAX = 128
/** @limit Event types of a topic. Past it: `conflict`. */
export const EVENT_TYPES_MAX = 200
/** @limit Names and patterns of event types that a subscription chooses. Past it: `validation_failed`. */
export const EVENT_TYPES_CHOSEN_MAX = 50
/** @limit Schema of an event type, and its examples together. Past it: `validation_failed`. */
export const EVENT_SCHEMA_BYTES_MAX = 65_536
/** Nesting of such a schema. Past it: `validation_failed`. */
export const EVENT_SCHEMA_DEPTH_MAX = 20
/** Versions of an event type. Past it: the oldest one is dropped. */
export const EVENT_TYPE_VERSIONS_MAX = 10
/** Examples of an event type. Past it: `validation_failed`. */
export const EVENT_TYPE_EXAMPLES_MAX = 10
/** Description of an event type. Past it: `validation_failed`. */
export const EVENT_TYPE_DESCRIPTION_CHARS_MAX = 2_000
