/**
 * The stored records: topics, subscriptions, messages, dead letters, redrive tasks. Times are epoch milliseconds
 * (`…At`), durations carry their unit. The routes make the REST shapes from these.
 */
import type { Protocol } from './protocols.ts'

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
  /** Statuses that are retried, such as `404` or `5xx`; absent: RETRY_ON_DEFAULT. No answer is always retried. */
  retryOn?: (string | number)[]
}

export interface ThrottlePolicy {
  /** A fraction below 1 is a pause between requests: 0.2 is one in 5 s. */
  maxReceivesPerSecond: number
}

export interface RequestPolicy {
  headerContentType: string
}

/**
 * The policy as stored on a topic or a subscription. A group is absent if unset. Optional retry members stay as given.
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

export interface TopicRecord {
  arn: string
  name: string
  /**
   * Each creation gets a new one, also if a topic is deleted and created again. It is part of the names of the slices'
   * keys.
   */
  uid: string
  displayName: string
  deliveryPolicy: DeliveryPolicy | null
  disableSubscriptionOverrides: boolean
  retentionSeconds: number
  signing: 'none' | 'sns'
  /** Messages keep their order within a group; follows from a name that ends in `.fifo`. Absent: standard. */
  fifo?: true
  /** FIFO: a message without a deduplication id gets the SHA-256 of its text. */
  contentBasedDeduplication?: boolean
  /** FIFO: what a deduplication id is unique in; absent: the whole topic. */
  fifoThroughputScope?: FifoThroughputScope
  tags?: Record<string, string>
  createdAt: number
  /** Attributes of the AWS API that the native API does not show. */
  attributes: Record<string, string>
}

export type FilterPolicyScope = 'MessageAttributes' | 'MessageBody'
export type FilterPolicy = Record<string, unknown>
export type SubscriptionStatus = 'pending' | 'active' | 'paused'

export interface RedrivePolicy {
  deadLetterTargetArn: string
}

/** How a subscription's or push consumer's endpoint is reached beyond its URL, without what is secret of it. */
export interface OutboundSettings {
  /** Credentials masked. */
  proxy?: string
  /** The client's certificate, PEM. */
  certificate?: string
  /** Trusted beside the system's authorities, PEM. */
  ca?: string
  /** Names. */
  headers?: string[]
}

export const WEBHOOK_ALGORITHMS = ['hmac-sha256', 'ed25519'] as const
export type WebhookAlgorithm = (typeof WEBHOOK_ALGORITHMS)[number]

/** A key that signs a subscription's requests by Standard Webhooks. */
export interface WebhookKey {
  /** 16 hex digits. */
  id: string
  algorithm: WebhookAlgorithm
  /** The secret or private key. */
  sealed: string
  /** The public key of an ed25519 pair: `whpk_…`. */
  publicKey?: string
  createdAt: number
  /** For a replaced key: when it stops signing. */
  expiresAt: number | null
}

export const RETRY_MODES = ['policy', 'standard', 'adaptive'] as const
/** Whether retries and rate answer to the endpoint beside the curve; policy: they do not. */
export type RetryMode = (typeof RETRY_MODES)[number]

interface CircuitBreaker {
  /** In a row, until nothing more is sent. */
  failures: number
  /** Between two attempts that ask whether the endpoint is back. */
  probeSeconds: number
}

/** Another endpoint of a subscription, as the record has its own. */
export interface SubscriptionMove {
  endpoint: string
  outbound: OutboundSettings | null
  sealed: string | null
}

export interface SubscriptionRecord {
  id: string
  arn: string
  topicArn: string
  protocol: Protocol
  /** Made through the native API. Absent: through an AWS protocol, or by a release that did not note it. */
  origin?: 'native'
  /** A digest stands in the place of a URL's credentials. */
  endpoint: string
  /** Absent or null: reached plainly. */
  outbound?: OutboundSettings | null
  /** Credentials of the endpoint and the secrets of `outbound`, sealed; absent or null: there are none. */
  sealed?: string | null
  /** Where it moves when that endpoint confirms by `token`; absent or null: nowhere. */
  move?: SubscriptionMove | null
  status: SubscriptionStatus
  rawMessageDelivery: boolean
  deliveryPolicy: DeliveryPolicy | null
  redrivePolicy: RedrivePolicy | null
  /** Dead letters go to the topic's own queue, which they make. Absent or null: where `redrivePolicy` says. */
  deadLetters?: 'topicQueue' | null
  /** The filter policy as given, parsed (checklist 77 to 102). Absent or null: every message matches. */
  filterPolicy?: FilterPolicy | null
  /** Remembered also while there is no policy; absent: MessageAttributes. */
  filterPolicyScope?: FilterPolicyScope
  maxInFlight: number
  /** Absent: policy. */
  retryMode?: RetryMode
  /** Absent or null: there is none. */
  circuitBreaker?: CircuitBreaker | null
  /** For people; several may have the same. Absent or null: there is none. */
  name?: string | null
  /** The caller's own words about it, by key. Absent: there are none. */
  metadata?: Record<string, string>
  confirmation: 'none' | 'handshake'
  /** Set while a confirmation is awaited, kept after it (confirming twice answers the same). */
  token: string | null
  tokenExpiresAt: number | null
  /** Unsubscribed through its link: invisible, restorable with `token` until it expires. */
  unsubscribed: boolean
  /** Confirmed by a call that carried a signature. */
  confirmationWasAuthenticated?: true
  /** ARN of the key's user that subscribed. Absent: keys were not required. */
  principal?: string
  /** Only a signed call may unsubscribe it. */
  authenticateOnUnsubscribe?: true
  /** Absent or empty: its requests carry no such signature. */
  webhookKeys?: WebhookKey[]
  createdAt: number
  /** Position in its slice, 0 to 499; stable for the subscription's life, reused after it. */
  slot: number
  attributes: Record<string, string>
}

export interface MessageAttribute {
  /** `String`, `Number`, `Binary`, `String.Array`, or one of the first three with a `.label`. */
  type: string
  /** Text; base64 for Binary. */
  value: string
}

export type MessageKind = 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'

/** A message as it travels in a dispatch job and as its body is stored beside lanes. */
export interface Message {
  /** UUIDv7: its first 48 bits are `publishedAt`. */
  messageId: string
  topicArn: string
  /** The uid of the standard topic that was published to. Another topic may have taken its name since. */
  topicUid?: string
  publishedAt: number
  message: string
  subject?: string
  attributes?: Record<string, MessageAttribute>
  structure?: 'json'
  /** Absent means Notification. */
  kind?: MessageKind
  /** For the two confirmation kinds only. */
  token?: string
  /** Base of the links in the envelope; configured, or the origin that the publisher used. */
  publicUrl?: string
  /** W3C trace context of the publish. */
  traceparent?: string
  /** X-Ray's trace header of the publish; queues get it as AWSTraceHeader. */
  traceHeader?: string
  /** FIFO: order holds within it. On a standard topic it is only passed on to queues. */
  groupId?: string
  deduplicationId?: string
  /** FIFO: 20 decimal digits, rising per topic. */
  sequenceNumber?: string
  /** Dispatch does `SET NX` of this Redis key too, and drops the message where it holds another value. */
  idempotency?: { key: string; value: string }
}

export const DEAD_LETTER_REASONS = ['permanent', 'retriesExhausted', 'expired'] as const
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number]

/** Beside a queued dead letter, never an SQS attribute (checklist 154). */
export interface DeadLetter {
  reason: DeadLetterReason
  statusCode: number | null
  lastError: string | null
  attempts: number
  subscriptionArn: string
  topicArn: string
  messageId: string
  /** 0 for a first delivery, +1 with every redrive. */
  generation: number
  publishedAt: number
  deadLetteredAt: number
  /** The stored message, so that a redrive needs nothing else. */
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
  /** Messages keep their order within a group; follows from a name that ends in `.fifo`. Absent: standard. */
  fifo?: true
  contentBasedDeduplication?: boolean
  /** FIFO: what a deduplication id is unique in; absent: queue. */
  deduplicationScope?: 'queue' | 'messageGroup'
  /** FIFO; absent: perQueue. Kept and shown; nothing is limited. */
  fifoThroughputLimit?: 'perQueue' | 'perMessageGroupId'
  /** Limit of body and attributes. Absent: 1,048,576. */
  maximumMessageBytes?: number
  /** Who may name this queue as a dead-letter queue; absent: every queue. */
  redriveAllowPolicy?: RedriveAllowPolicy | null
  tags?: Record<string, string>
  /** ARN of the topic that made it for its dead letters; absent: somebody made it by a request. */
  deadLettersOf?: string
  createdAt: number
  modifiedAt: number
  attributes: Record<string, string>
}

export interface QueueMessage {
  /** The queue's own id of this item (a UUID), not the publisher's messageId. */
  messageId: string
  /** Present when received, absent when peeked. */
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
  /** Account that sent it; absent: the queue's own. */
  senderId?: string
  deadLetter?: DeadLetter
  /** ARN of the queue that maxReceiveCount moved it from. */
  deadLetterSourceArn?: string
}

/** A webhook that a queue's messages are pushed to. */
export interface ConsumerRecord {
  name: string
  queueArn: string
  /** Credentials masked. */
  url: string
  /** Absent or null: reached plainly. */
  outbound?: OutboundSettings | null
  /** The URL with its credentials and the secrets of `outbound`, sealed; absent or null: there are none. */
  sealed?: string | null
  batchSize: number
  batchWindowSeconds: number
  /** Requests at a time, over all workers. */
  concurrency: number
  timeoutSeconds: number
  enabled: boolean
  reportBatchItemFailures: boolean
  /** Another one with every change. */
  revision: string
  createdAt: number
  modifiedAt: number
}

export type RedriveStatus = 'running' | 'paused' | 'canceling' | 'canceled' | 'completed' | 'failed'

export interface RedriveFilter {
  /** Subscription ARN. */
  subscription?: string
  statusCode?: number
  reason?: DeadLetterReason
  /** Bounds of `deadLetteredAt`, inclusive. */
  since?: number
  until?: number
  messageIds?: string[]
}

export interface RedriveTask {
  id: string
  status: RedriveStatus
  source: string
  destination: string | null
  filter: RedriveFilter
  matched: number
  moved: number
  skipped: number
  maxMessagesPerSecond: number | null
  startedAt: number
  endedAt: number | null
  error: string | null
}

/** The result of one attempt. Failures are results too, not errors. */
export type AttemptResult =
  | {
      kind: 'response'
      statusCode: number
      durationMs: number
      retryAfterSeconds?: number
      /** Where it was asked for and is not too long. */
      body?: Buffer
      /** The beginning of the body, where that was asked for. */
      text?: string
      /** Judges the response instead of its status, where the endpoint said more than that. */
      verdict?: ResultClass
    }
  | {
      kind: 'failure'
      error: AttemptErrorCode
      detail: string
      durationMs: number
      permanent: boolean
      retryAfterSeconds?: number
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
  | 'secrets'
  | 'queue_missing'
  | 'queue_refused'
  | 'not_configured'
  | 'storage'
