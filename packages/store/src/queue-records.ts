/** What queues.ts takes and gives. Times are epoch ms by Redis's clock. */
import type { DeadLetter, MessageAttribute, QueueMessage, QueueRecord } from '@fantail/contracts'

/** What a caller may set; everything else of a QueueRecord is the store's. */
export type QueueSettings = Pick<
  QueueRecord,
  | 'visibilityTimeoutSeconds'
  | 'retentionSeconds'
  | 'delaySeconds'
  | 'receiveWaitSeconds'
  | 'redrivePolicy'
  | 'attributes'
>

export interface QueueCounts {
  visible: number
  /** Received and not yet due back, or on their way to another queue. */
  inFlight: number
  delayed: number
}

export interface QueueWithCounts {
  queue: QueueRecord
  counts: QueueCounts
  /** Of the message whose retention ends first; null where the queue is empty. */
  oldestSentAt: number | null
}

export interface ListQueues {
  /** Of the name, in the default account and region; without it, queues of every account and region. */
  prefix?: string
  cursor?: string
  limit: number
}

export interface SendItem {
  /** A UUID that makes the send repeatable: while the item is in the queue and for 10 minutes after it left. */
  id?: string
  body: string
  attributes?: Record<string, MessageAttribute>
  /** Default: the queue's own delay. */
  delaySeconds?: number
  /** Retention then counts from `deadLetteredAt`, and the send is accepted when memory is full. */
  deadLetter?: DeadLetter
}

export interface ReceiveRequest {
  maxMessages: number
  visibilityTimeoutSeconds?: number
}

export interface ReceiveTurn {
  messages: QueueMessage[]
  /** Until the next message becomes visible by time alone, from now; null where none will, 0 where one is. */
  nextVisibleInMs: number | null
}

/**
 * `invalid_receipt_handle`: not a handle of this queue. `message_not_available`: deleted, or received again since.
 * `visibility_limit_exceeded`: hidden for more than 12 hours after the receive.
 */
export type HandleError = 'invalid_receipt_handle' | 'message_not_available' | 'visibility_limit_exceeded'

export type HandleResult = { ok: true } | { ok: false; error: HandleError }

export interface PeekRequest {
  /** Subscription ARN. */
  subscription?: string
  statusCode?: number
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
