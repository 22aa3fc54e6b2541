/** Types of queues.ts. Times are epoch ms by Redis's clock. */
import type {
  ArnDefaults,
  DeadLetter,
  DeadLetterReason,
  MessageAttribute,
  QueueMessage,
  QueueRecord,
} from '@fantail/contracts'

export interface QueueCounts {
  visible: number
  /** Received and not yet due back, or on their way to another queue. */
  inFlight: number
  delayed: number
  /** FIFO: groups of which nothing can be received, because their first message is in flight. */
  groupsInFlight?: number
}

export interface QueueWithCounts {
  queue: QueueRecord
  counts: QueueCounts
  /** When the message whose retention ends first came into this queue; null where the queue is empty. */
  oldestSince: number | null
}

export interface ListQueues {
  /** Prefix of the name. Without it and `owner`: queues of every account and region. */
  prefix?: string
  /** Account and region; where a prefix is given, the default ones else. */
  owner?: ArnDefaults
  cursor?: string
  limit: number
}

export interface SendItem {
  /** A UUID that makes the send repeatable: while the item is in the queue and for 10 minutes after it left. */
  id?: string
  body: string
  attributes?: Record<string, MessageAttribute>
  /** Default: the queue's own delay, which is the only one on a FIFO queue; there 0 means the same. */
  delaySeconds?: number
  /** A FIFO queue's needs one. On a standard queue it is only passed on. */
  groupId?: string
  /** FIFO: a copy within 5 minutes is not stored. Default: the SHA-256 of the body, where the queue says so. */
  deduplicationId?: string
  /** System attribute AWSTraceHeader. */
  traceHeader?: string
  /** Account that sends it, where that is not the queue's own. */
  senderId?: string
  /** Retention then counts from `deadLetteredAt`, and the send is accepted when memory is full. */
  deadLetter?: DeadLetter
}

export interface SentItem {
  /** For a duplicate: the first copy's id. */
  messageId: string
  /** On a FIFO queue; absent where the first copy with the given id has left the queue. */
  sequenceNumber?: string
  /** Nothing was stored, because this id or deduplication id is known. */
  duplicate?: true
}

export interface ReceiveRequest {
  maxMessages: number
  visibilityTimeoutSeconds?: number
  /** FIFO: within 5 minutes the same id gets the same messages and handles, while none of them was changed. */
  attemptId?: string
  consumer?: ConsumerReceive
}

/** A receive for a push consumer: along with messages it takes a share of the consumer's concurrency. */
export interface ConsumerReceive {
  name: string
  /** Revision of the caller's record. */
  revision: string
  /** Names the share; one that holds it already goes on filling. */
  batch: string
  /** Messages are hidden for at least this long. */
  hideMs: number
  /** Batches of the caller that are over, whose shares are given back. */
  ended: string[]
}

/**
 * Why a consumer gets nothing: its record is another by now, or gone; all its shares are taken; its batch window is
 * not over.
 */
export type ReceiveRefusal = 'changed' | 'busy' | 'early'

export interface ReceiveTurn {
  messages: QueueMessage[]
  /** Until the next message becomes visible by time alone, from now; null where none will, 0 where one is. */
  nextVisibleInMs: number | null
  /** Nothing can be received from this standard queue, because too much of it is in flight. */
  overLimit: boolean
  refused?: ReceiveRefusal
}

/**
 * `invalid_receipt_handle`: not a handle of this queue. `message_not_available`: deleted, or neither in flight nor this
 * its newest receive.
 * `visibility_limit_exceeded`: hidden for more than 12 hours after the receive. `expired_receipt_handle`: FIFO only,
 * the visibility timeout of the receive was over.
 */
export type HandleError =
  | 'invalid_receipt_handle'
  | 'message_not_available'
  | 'visibility_limit_exceeded'
  | 'expired_receipt_handle'

export type HandleResult = { ok: true } | { ok: false; error: HandleError }

export interface HandleRule {
  /**
   * Standard queues: only a handle of the newest receive counts, for callers that hold messages under a lease (push
   * consumers, a receive that is given back). A late holder must not end a later receive.
   */
  newestOnly?: boolean
}

export interface VisibilityChange {
  handle: string
  /** From now; 0 shows the message at once. */
  seconds: number
}

export interface PeekRequest {
  /** Subscription ARN. */
  subscription?: string
  statusCode?: number
  reason?: DeadLetterReason
  /** Bounds of `deadLetteredAt`, inclusive. */
  since?: number
  until?: number
  cursor?: string
  limit: number
}

export interface DeadLetterCounts {
  byReason: Record<string, number>
  /** By status code; `none` where there was no answer. */
  byStatusCode: Record<string, number>
  /** By subscription ARN. */
  bySubscription: Record<string, number>
}
