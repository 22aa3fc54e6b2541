/**
 * The stored records: topics, subscriptions, messages, dead letters, redrive tasks. Times are epoch milliseconds
 * (`…At`), and durations carry their unit. The routes derive the REST shapes from these types.
 */
import type { Protocol } from './protocols.ts'
import type { AttemptRecording, AttemptStage } from './recording.ts'

export type BackoffFunction = 'linear' | 'arithmetic' | 'geometric' | 'exponential'

/** The four-phase retry curve; delays in seconds (checklist 8 to 16, 24 to 31). */
export interface RetryPolicy {
  minDelayTarget: number
  maxDelayTarget: number
  numRetries: number
  numNoDelayRetries: number
  numMinDelayRetries: number
  numMaxDelayRetries: number
  backoffFunction: BackoffFunction
  /**
   * Statuses that are retried, such as `404` or `5xx`. Absent: RETRY_ON_DEFAULT. An attempt without an answer is always
   * retried.
   */
  retryOn?: (string | number)[]
}

export interface ThrottlePolicy {
  /** Below 1 it is a pause between requests: 0.2 means one request in 5 s. */
  maxReceivesPerSecond: number
}

export interface RequestPolicy {
  headerContentType: string
}

/**
 * The policy as stored on a topic or a subscription. A group is absent if it is not set. Optional retry members are
 * stored as given.
 */
export interface DeliveryPolicy {
  healthyRetryPolicy?: Partial<RetryPolicy>
  throttlePolicy?: ThrottlePolicy
  requestPolicy?: RequestPolicy
}

/**
 * The policy that an attempt follows: subscription over topic over system default, group by group (checklist 20 to 22).
 */
export interface EffectiveDeliveryPolicy {
  healthyRetryPolicy: RetryPolicy
  throttlePolicy: ThrottlePolicy | null
  requestPolicy: RequestPolicy
}

export type FifoThroughputScope = 'Topic' | 'MessageGroup'

/** The treatment of published messages that do not fit the catalogue of their topic. */
export const EVENT_TYPE_CHECKS = ['off', 'warn', 'refuse'] as const
type EventTypeCheck = (typeof EVENT_TYPE_CHECKS)[number]

/** How long, and in how many bytes, a topic keeps its messages to show and resend them. */
interface KeepMessages {
  seconds: number
  bytes: number
}

/** How long a topic's archive has its messages, and in how many bytes at most. */
interface ArchiveSettings {
  days: number
  bytes?: number
  /** The effect if Redis has no memory for messages that no block has yet. Absent: refuse. */
  whenFull?: ArchiveWhenFull
}

export const ARCHIVE_WHEN_FULL = ['refuse', 'dropOldest'] as const
type ArchiveWhenFull = (typeof ARCHIVE_WHEN_FULL)[number]

export interface TopicRecord {
  arn: string
  name: string
  /**
   * Random. Each creation gets a new one, also if a topic is deleted and created again. The names of the slices' keys
   * contain it.
   */
  uid: string
  displayName: string
  deliveryPolicy: DeliveryPolicy | null
  disableSubscriptionOverrides: boolean
  retentionSeconds: number
  /**
   * The topic gets notices about topics of its account whose names begin with this text; '': about all, and the
   * server's own account also about the server. Absent or null: it gets none.
   */
  notices?: string | null
  /** A subscription whose endpoint has not accepted a delivery for this long is paused. Absent or null: it is not. */
  disableAfterDays?: number | null
  /** The bounds of the ring of messages that the topic keeps. Absent or null: it keeps none. */
  keepMessages?: KeepMessages | null
  /** The bounds of the topic's archive outside of Redis. Absent or null: it has none. */
  archive?: ArchiveSettings | null
  signing: 'none' | 'sns'
  /** Messages keep their order within a group. True if the name ends in `.fifo`. Absent: standard. */
  fifo?: true
  /** FIFO: a message without a deduplication id gets the SHA-256 of its text. */
  contentBasedDeduplication?: boolean
  /** Which attempts are recorded. Absent: RECORDING_DEFAULT. */
  recordAttempts?: AttemptRecording
  /** FIFO: where a deduplication id must be unique. Absent or null: in the whole topic. */
  fifoThroughputScope?: FifoThroughputScope | null
  /** The treatment of messages that do not fit the catalogue of event types. Absent: off. */
  eventTypeCheck?: EventTypeCheck
  /** Messages are stored sealed. Absent: as they are. */
  sealMessages?: boolean
  tags?: Record<string, string>
  createdAt: number
  /** Attributes of the AWS API that have no member of their own. */
  attributes: Record<string, string>
}

export type FilterPolicyScope = 'MessageAttributes' | 'MessageBody'
export type FilterPolicy = Record<string, unknown>
export const ON_GONE = ['pause', 'deadLetter'] as const
export type OnGone = (typeof ON_GONE)[number]
/** Why Fantail itself pauses a subscription: its endpoint answered 410, or has failed for `disableAfterDays`. */
export const PAUSE_CAUSES = ['gone', 'failing'] as const
type PauseCause = (typeof PAUSE_CAUSES)[number]
export type SubscriptionStatus = 'pending' | 'active' | 'paused'

export interface RedrivePolicy {
  deadLetterTargetArn: string
}

/** How a subscription gets access tokens for its endpoint (RFC 6749 §4.4), without the secret. */
interface OAuthSettings {
  tokenUrl: string
  clientId: string
  scope?: string
  audience?: string
}

/** How the endpoint of a subscription or push consumer is reached, beyond its URL. Secrets are not part of it. */
export interface OutboundSettings {
  /** Credentials masked. */
  proxy?: string
  /** The client's certificate (PEM). */
  certificate?: string
  /** Certificates that are trusted in addition to the system's (PEM). */
  ca?: string
  /** Names. */
  headers?: string[]
  oauth?: OAuthSettings
}

export const WEBHOOK_ALGORITHMS = ['hmac-sha256', 'ed25519'] as const
export type WebhookAlgorithm = (typeof WEBHOOK_ALGORITHMS)[number]

/** A key that signs a subscription's requests by the Standard Webhooks specification. */
export interface WebhookKey {
  /** 16 hex digits. */
  id: string
  algorithm: WebhookAlgorithm
  /** The secret or private key. */
  sealed: string
  /** The public key of an ed25519 pair: `whpk_…`. */
  publicKey?: string
  createdAt: number
  /** When a replaced key stops signing. null: the key was not replaced. */
  expiresAt: number | null
}

export const RETRY_MODES = ['policy', 'standard', 'adaptive'] as const
/** How retries and rate follow the endpoint's answers, in addition to the curve. `policy`: only the curve counts. */
export type RetryMode = (typeof RETRY_MODES)[number]

/** The highest rate of requests for each message group of a subscription, over all workers. */
interface GroupThrottle {
  /** The rate of every group without an override. Absent or null: only groups with an override are throttled. */
  maxReceivesPerSecond?: number | null
  /** The rates of single groups. */
  overrides?: Record<string, number>
}

interface CircuitBreaker {
  /** Failures in a row after which nothing more is sent. */
  failures: number
  /** Pause between two probes, which ask whether the endpoint works again. */
  probeSeconds: number
}

/** A new endpoint of a subscription that has not confirmed yet, with its settings. */
export interface SubscriptionMove {
  endpoint: string
  outbound: OutboundSettings | null
  sealed: string | null
}

/** A replay that SNS's ReplayPolicy asks for. */
interface SubscriptionReplay {
  /** The policy as it was given. */
  policy: string
  /** Id of the resend. */
  task: string
  /** The subscription gets no message but from the replay. */
  holds: boolean
}

export interface SubscriptionRecord {
  id: string
  arn: string
  topicArn: string
  protocol: Protocol
  /** It behaves as subscriptions of the native API do. Absent: as subscriptions of an AWS protocol do. */
  origin?: 'native'
  /** The URL, ARN, mail address or phone number. A digest replaces the credentials of a URL. */
  endpoint: string
  /** Absent or null: there is no proxy, certificate or other setting. */
  outbound?: OutboundSettings | null
  /** Credentials of the endpoint and the secrets of `outbound`, sealed. Absent or null: there are none. */
  sealed?: string | null
  /** The new endpoint, which replaces the present one when it confirms with `token`. Absent or null: there is none. */
  move?: SubscriptionMove | null
  status: SubscriptionStatus
  /** Why Fantail itself paused the subscription. Absent or null: it did not. */
  pausedBecause?: PauseCause | null
  /** How often a pause was ended. An attempt that began before the latest resume pauses nothing. Absent: never. */
  resumes?: number
  /** The effect of a 410 of the endpoint. Absent or null: the default (policy: actionOnGone). */
  onGone?: OnGone | null
  rawMessageDelivery: boolean
  deliveryPolicy: DeliveryPolicy | null
  /**
   * The rate that a customer has set in the portal, in requests a second. The lower one of it and the throttle holds.
   * Absent or null: there is none.
   */
  customerRate?: number | null
  redrivePolicy: RedrivePolicy | null
  /**
   * Dead letters go to the topic's own queue, which the first of them creates. Absent or null: `redrivePolicy` names
   * the queue.
   */
  deadLetters?: 'topicQueue' | null
  /** The parsed filter policy as it was given (checklist 77 to 102). Absent or null: every message matches. */
  filterPolicy?: FilterPolicy | null
  /** Stays while there is no policy. Absent: MessageAttributes. */
  filterPolicyScope?: FilterPolicyScope
  /**
   * Names and patterns of event types. A message must have one of them, in addition to what the policy asks. Absent or
   * null: any type or none.
   */
  eventTypes?: string[] | null
  /** The latest replay of a FIFO topic's archive. Absent or null: none was asked for. */
  replay?: SubscriptionReplay | null
  maxInFlight: number
  /** Absent: policy. */
  retryMode?: RetryMode
  /** Absent or null: there is none. */
  circuitBreaker?: CircuitBreaker | null
  /** Absent or null: groups have no throttle of their own. */
  groupThrottle?: GroupThrottle | null
  /** A name for people. Several subscriptions may have the same one. Absent or null: there is none. */
  name?: string | null
  /** Texts of the caller by key. Absent: there are none. */
  metadata?: Record<string, string>
  confirmation: 'none' | 'handshake'
  /** The token of the confirmation. It is kept afterwards, because confirming twice gives the same answer. */
  token: string | null
  tokenExpiresAt: number | null
  /**
   * The subscription was ended by the link in a message. It is invisible, and `token` can restore it until it expires.
   */
  unsubscribed: boolean
  /** The call that confirmed the subscription was signed. */
  confirmationWasAuthenticated?: true
  /** ARN of the key's user that subscribed. Absent: keys were not required. */
  principal?: string
  /** Only a signed call may delete the subscription. */
  authenticateOnUnsubscribe?: true
  /** Absent or empty: requests have no Standard Webhooks signature. */
  webhookKeys?: WebhookKey[]
  /** Signatures are also in Svix's headers. Absent: only in those of Standard Webhooks. */
  svixHeaders?: boolean
  createdAt: number
  /** Its number in the bitmaps of its slice, 0 to 499. After the subscription's life the number is reused. */
  bit: number
  /**
   * How many subscriptions its slice had lost before it came. Subscriptions that had the same bit differ in it. Absent:
   * none.
   */
  departures?: number
  attributes: Record<string, string>
}

export interface MessageAttribute {
  /** `String`, `Number`, `Binary`, `String.Array`, or one of the first three with a `.label`. */
  type: string
  /** Text; base64 for Binary. */
  value: string
}

export type MessageKind = 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'

/** A message. Dispatch jobs, lanes and rings store it with a checksum. */
export interface Message {
  /** UUIDv7: its first 48 bits are `publishedAt`. */
  messageId: string
  /**
   * The id of a message that another service has published first. Subscribers see it in place of `messageId`, so that
   * they recognize a copy.
   */
  sourceId?: string
  topicArn: string
  /** The uid of the standard topic to which it was published. Another topic may have the same name by now. */
  topicUid?: string
  publishedAt: number
  /** Empty while the message is sealed. */
  message: string
  /**
   * The text, the subject, the attributes and other content of a sealed message (store: sealed-messages.ts). Absent: it
   * is not sealed, or it was opened.
   */
  sealed?: string
  subject?: string
  attributes?: Record<string, MessageAttribute>
  structure?: 'json'
  /** Absent means Notification. */
  kind?: MessageKind
  /** Only the two kinds of confirmation requests have it. */
  token?: string
  /** The base of the links in the envelope: configured, or the origin that the publisher used. */
  publicUrl?: string
  /** W3C trace context of the publish request. */
  traceparent?: string
  /** X-Ray's trace header of the publish request. Queues get it as AWSTraceHeader. */
  traceHeader?: string
  /** FIFO: messages of one group keep their order. On a standard topic it is only passed on to queues. */
  groupId?: string
  deduplicationId?: string
  /** FIFO: 20 decimal digits, rising for each topic. */
  sequenceNumber?: string
  /**
   * The message is an event of a platform application. If its delivery fails, no further event is published, so that
   * there is no endless series of events.
   */
  isEvent?: true
  /** A direct message: the phone number, or the ARN of the platform endpoint, to which it was published. */
  target?: string
  /** An edited message: the id of the message that it replaces. */
  editedFrom?: string
  /**
   * Dispatch sets this Redis key if it does not exist (`SET NX`). If the key exists with another value, the message is
   * dropped.
   */
  idempotency?: { key: string; value: string }
}

export const SUPPRESSION_REASONS = ['bounce', 'complaint', 'manual'] as const
/** Why an address gets no mail. */
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

export const DEAD_LETTER_REASONS = [
  'permanent',
  'retriesExhausted',
  'expired',
  'outcomeUnknown',
  'setAside',
] as const
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number]

/** Stored next to a dead letter's text, never as an SQS attribute (checklist 154). */
export interface DeadLetter {
  reason: DeadLetterReason
  statusCode: number | null
  lastError: string | null
  attempts: number
  subscriptionArn: string
  topicArn: string
  messageId: string
  /** 0 for a delivery that was never redriven. Each redrive adds 1. */
  generation: number
  publishedAt: number
  deadLetteredAt: number
  /** The whole message, so that a redrive needs no other data. */
  message: Message
}

export interface QueueRedrivePolicy {
  deadLetterTargetArn: string
  maxReceiveCount: number
}

export interface RedriveAllowPolicy {
  redrivePermission: 'allowAll' | 'denyAll' | 'byQueue'
  sourceQueueArns?: string[]
}

export interface QueueRecord {
  arn: string
  name: string
  uid: string
  visibilityTimeoutSeconds: number
  retentionSeconds: number
  delaySeconds: number
  receiveWaitSeconds: number
  redrivePolicy: QueueRedrivePolicy | null
  /** Messages keep their order within a group. True if the name ends in `.fifo`. Absent: standard. */
  fifo?: true
  contentBasedDeduplication?: boolean
  /** FIFO: where a deduplication id must be unique. Absent: in the queue. */
  deduplicationScope?: 'queue' | 'messageGroup'
  /** FIFO: stored and shown, but it limits nothing. Absent or null: perQueue. */
  fifoThroughputLimit?: 'perQueue' | 'perMessageGroupId' | null
  /** Limit of the size of body and attributes. Absent: 1,048,576. */
  maximumMessageBytes?: number
  /** Which queues may name this one as their dead-letter queue. Absent: every queue. */
  redriveAllowPolicy?: RedriveAllowPolicy | null
  /** The queue is deleted if nobody has received from it for this time. Absent or null: it stays. */
  leaseSeconds?: number | null
  /** Messages are stored sealed. Absent: as they are. */
  sealMessages?: boolean
  tags?: Record<string, string>
  /** ARN of the topic that made this queue for its dead letters. Absent: a request made it. */
  deadLettersOf?: string
  createdAt: number
  modifiedAt: number
  attributes: Record<string, string>
}

export interface QueueMessage {
  /** The queue's own id of this message (a UUID), not the publisher's messageId. */
  messageId: string
  /** Set if the message was received, absent if it was only shown. */
  receiptHandle?: string
  receiveCount: number
  body: string
  attributes: Record<string, MessageAttribute>
  sentAt: number
  firstReceivedAt: number | null
  groupId?: string
  deduplicationId?: string
  /** For a FIFO queue. */
  sequenceNumber?: string
  /** System attribute AWSTraceHeader. */
  traceHeader?: string
  /** The account that sent the message. Absent: the queue's own account. */
  senderId?: string
  deadLetter?: DeadLetter
  /** ARN of the queue from which `maxReceiveCount` moved the message. */
  deadLetterSourceArn?: string
  /** The message is stored sealed. `locked`: it could not be opened, so its body and attributes are empty here. */
  sealed?: 'open' | 'locked'
}

/** A webhook or function to which a queue's messages are pushed. */
export interface PushConsumerRecord {
  name: string
  queueArn: string
  /** Credentials masked. */
  url: string
  /** Absent or null: there is no proxy, certificate or other setting. */
  outbound?: OutboundSettings | null
  /** The URL with its credentials and the secrets of `outbound`, sealed. Absent or null: there are none. */
  sealed?: string | null
  batchSize: number
  batchWindowSeconds: number
  /** The most requests at a time, over all workers. */
  concurrency: number
  timeoutSeconds: number
  enabled: boolean
  reportBatchItemFailures: boolean
  /** Random. It changes with every change of the record. */
  revision: string
  createdAt: number
  modifiedAt: number
}

export type RedriveStatus = 'running' | 'paused' | 'canceling' | 'canceled' | 'completed' | 'failed'

export interface RedriveFilter {
  /** Subscription ARN. */
  subscription?: string
  /** Subscription ARNs. */
  subscriptions?: string[]
  /** Topic ARN. */
  topic?: string
  /** The beginning of topic ARNs. */
  topicPrefix?: string
  /** ARNs of topics whose letters do not match. */
  exceptTopics?: string[]
  /** `none`: the last attempt got no answer. */
  statusCode?: number | 'none'
  reason?: DeadLetterReason
  /** Code of the failure of the last attempt. `none`: it got an answer, or there was no attempt. */
  error?: string
  /** Bounds of `deadLetteredAt`, inclusive. */
  since?: number
  until?: number
  messageIds?: string[]
  /** Resends only: messages whose latest delivery has failed. */
  failedOnly?: boolean
}

/** The changes that a redrive of one message makes. */
export interface RedriveEdit {
  /** The queue's id of the message. */
  itemId: string
  /** The body and the attributes, if the message goes to a queue. */
  body: string
  attributes: Record<string, MessageAttribute>
  /** For a dead letter: the message that the subscription gets. */
  message?: Message
  /** The payload of the item, if it is stored sealed. Body and attributes are then empty here. */
  payload?: string
}

/**
 * `redrive` moves messages of a queue, most of them dead letters that are sent again. `purge` removes dead letters.
 * `resend` sends kept or archived messages to a subscription again.
 */
export type RedriveAction = 'redrive' | 'purge' | 'resend'

export interface RedriveTask {
  id: string
  action: RedriveAction
  status: RedriveStatus
  source: string
  destination: string | null
  filter: RedriveFilter
  /** The changes to make. Absent: messages stay as they are. Removed when the task ends. */
  edit?: RedriveEdit
  matched: number
  moved: number
  skipped: number
  /** How the deliveries that it sent have ended so far. Purges, and messages that went to queues, are not counted. */
  delivered: number
  backInDlq: number
  discarded: number
  /** How many deliveries it sent. */
  inLanes: number
  /** Shards of these deliveries. */
  shards: number[]
  /** The number of messages that go first. Their ends decide whether the others follow. */
  canary: number | null
  /** Why the task paused itself. */
  pauseReason: string | null
  /** A task that a portal session has started gives way to tasks of others. */
  startedBy: 'portal' | null
  maxMessagesPerSecond: number | null
  startedAt: number
  endedAt: number | null
  error: string | null
}

/** The actions of bulk tasks. `erase`: a customer leaves. */
export const BULK_ACTIONS = ['test', 'retry', 'pause', 'resume', 'redrive', 'purge', 'erase'] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

/** An object that a bulk task did not act on. */
export interface BulkFailure {
  /** An id or ARN. */
  object: string
  code: string
  message: string
}

export interface BulkTask {
  id: string
  action: BulkAction
  status: 'planned' | 'running' | 'canceling' | 'canceled' | 'completed'
  /** The key that planned it. null: keys are not required. */
  key: { id: string; account: string; prefixes: readonly string[] } | null
  /** The numbers of what was found, by kind: lanes, deliveries, …. */
  counts: Record<string, number>
  /** The first of its objects, for people. */
  sample: string[]
  /** Selected objects that were left out: how many, and the first of them. */
  refused: { count: number; first: BulkFailure[] }
  /** Retries and redrives: the highest rate for each lane or queue. */
  maxPerSecond: number | null
  /** The customer that an erasure erases. null: the task is none. */
  leaving: { topicPrefix: string } | { metadata: { key: string; value: string } } | null
  /** Id of the task that this one undoes. */
  undoes: string | null
  undoneBy: string | null
  /** URL of this server for links in messages of tests. */
  publicUrl: string
  total: number
  done: number
  failed: number
  /** Numbers of what was done, by kind. */
  results: Record<string, number>
  plannedAt: number
  /** Until when it can be started. null: it was. */
  expiresAt: number | null
  startedAt: number | null
  endedAt: number | null
}

/** A setting of delivery status logs: which ended deliveries are logged. */
export interface StatusLog {
  /** Share of successes to log, from 0 to 1. */
  share: number
  failures: boolean
}

/** Mobile push: the platform application of an attempt, whose attributes may ask for delivery status logs. */
export interface AttemptedApplication {
  arn: string
  statusLog: StatusLog
}

/** A text message. The attributes of its account may ask for delivery status logs. */
export interface AttemptedText {
  statusLog: StatusLog
  parts: number
  priceUsd: number
  type: 'Promotional' | 'Transactional'
}

/** The beginning of an endpoint's answer. */
export interface AnswerStart {
  /** Whether it came straight from a public address. */
  readonly isPublic: boolean
  headers: Record<string, string | string[] | undefined>
  /** The beginning of the body as text. undefined: the body may not be shown. */
  body(): string | undefined
}

/** The result of one attempt. A failure is a result, too, and not an exception. */
export type AttemptResult =
  | {
      kind: 'response'
      statusCode: number
      durationMs: number
      retryAfterSeconds?: number
      /** Set if it was requested and is not too long. */
      body?: Buffer
      /** The headers that were requested, by names in lower case. */
      headers?: Record<string, string>
      /** The beginning of the body, if it was requested. */
      text?: string
      /**
       * The endpoint has refused because it gets too many requests at a time. A protocol may have a slower retry policy
       * for that.
       */
      isThrottled?: true
      /** The class of the result, if the response says more than its status does. */
      resultClass?: ResultClass
      application?: AttemptedApplication
      textMessage?: AttemptedText
      /** Set if it was requested. */
      answer?: AnswerStart
    }
  | {
      kind: 'failure'
      error: AttemptErrorCode
      detail: string
      durationMs: number
      permanent: boolean
      retryAfterSeconds?: number
      /** The status that the endpoint's service reports for it, for delivery status logs. */
      statusCode?: number
      /** The part of the attempt in which it failed. */
      stage?: AttemptStage
      application?: AttemptedApplication
      textMessage?: AttemptedText
    }

  /**
   * Fantail's own configuration prevents the attempt. The attempt is not counted, and the lane waits without attempts.
   */
  | {
      kind: 'misconfigured'
      /** Name of the broken credential, without secrets: `smtp:mail.example.com`. Many endpoints may share it. */
      credential: string
      detail: string
      durationMs: number
    }

/** An attempt's result: delivered, worth another attempt, or final. */
export type ResultClass = 'delivered' | 'retry' | 'permanent'

export type AttemptErrorCode =
  | 'timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'connection_failed'
  | 'dns'
  | 'tls'
  | 'invalid_response'
  | 'forbidden_address'
  | 'proxy'
  | 'queue_missing'
  | 'queue_refused'
  | 'invalid_record'
  | 'storage'
  | 'recipient_suppressed'
  | 'endpoint_disabled'
  | 'token_refused'
  | 'notification_expired'
  /** A limit of Fantail itself kept the attempt back, and nothing was sent. */
  | 'service_limit'
  | 'opted_out'
  | 'number_refused'
  | 'text_refused'
  | 'spend_exceeded'
  /** The provider may have sent the message. Another attempt could send it twice. */
  | 'outcome_unknown'

/** One of the schemas of an event type. Numbers begin with 1. */
export interface EventTypeVersion {
  version: number
  /** The JSON Schema as text, as its author gave it. */
  schema: string
  createdAt: number
}

/** A type in the catalogue of a topic. */
export interface EventTypeRecord {
  name: string
  description: string | null
  deprecated: boolean
  /** The oldest first. Empty: messages of this type are not checked further. */
  versions: EventTypeVersion[]
  /** Number of the newest version that was removed. Absent: `versions` has it, or there was none. */
  lastVersion?: number
  /** Each as JSON text. */
  examples: string[]
  createdAt: number
  modifiedAt: number
}
