/** Types of queues.ts. Times are epoch ms by Redis's clock. */
import type {
  ArnDefaults,
  DeadLetter,
  MessageAttribute,
  QueueMessage,
  QueueRecord,
  RedriveFilter,
} from '@fantail/contracts'
import { shardBase, shardOf } from '../../keys/shards.ts'

/** The common arguments of every queue script: its shard and its ARN. */
export function atQueue(arn: string): { base: string; arn: string } {
  return { base: shardBase(shardOf(arn)), arn }
}

/**
 * Counts the use of queues by all callers: both APIs, deliveries and their dead letters. Moves by maxReceiveCount or a
 * redrive do not count as sends (checklist 201).
 */
export interface QueueUse {
  /** Bytes of each message that was added. */
  sent(arn: string, sizes: number[]): void
  /** Messages that were not added, because a FIFO queue had them already. */
  deduplicated(arn: string, messages: number): void
  received(arn: string, messages: number): void
  emptyReceive(arn: string): void
  deleted(arn: string, messages: number): void
}

export interface QueueCounts {
  visible: number
  /** Received and not yet due back, or on their way to another queue. */
  inFlight: number
  delayed: number
  /** FIFO: groups without a message to receive, because their first message is in flight. */
  groupsInFlight?: number
}

export interface QueueWithCounts {
  queue: QueueRecord
  counts: QueueCounts
  /** When the message whose retention ends first came into this queue. null: the queue is empty. */
  oldestSince: number | null
  /** Present if a standard queue has message groups. */
  groups?: GroupFigures
}

/** The noisy groups, which step back (queue-fair.lua), and what the quiet ones have. */
export interface GroupFigures {
  noisy: number
  quietVisible: number
  quietInFlight: number
  /** When the message came that has been visible longest in the quiet groups. null: none is visible. */
  quietOldestSince: number | null
}

export interface ListQueues {
  /** Prefix of the name. Without `prefix` and `owner`: queues of every account and region. */
  prefix?: string
  /** Account and region. If absent and a prefix is given, the defaults apply. */
  owner?: ArnDefaults
  cursor?: string
  limit: number
}

export interface SendItem {
  /** A UUID that makes the send repeatable, while the item is in the queue and for 10 minutes afterwards. */
  id?: string
  body: string
  attributes?: Record<string, MessageAttribute>
  /**
   * Default: the queue's own delay. A FIFO queue has only its own delay, so only 0 is allowed, which means the same.
   */
  delaySeconds?: number
  /** Required on a FIFO queue. On a standard queue it is only passed on. */
  groupId?: string
  /** FIFO: a duplicate within 5 minutes is not stored. Default: the SHA-256 of the body, if the queue allows it. */
  deduplicationId?: string
  /** System attribute AWSTraceHeader. */
  traceHeader?: string
  /** The account of the sender, if it is not the queue's own. */
  senderId?: string
  /** The queue stores it sealed. A dead letter of a sealed message always is. */
  sealed?: boolean
  /**
   * Set for a dead letter. Retention then counts from `deadLetteredAt`, and the send is accepted when memory is full.
   */
  deadLetter?: DeadLetter
}

export interface SentItem {
  /** If it is a duplicate: the first copy's id. */
  messageId: string
  /** On a FIFO queue. Absent if the first copy with the given id has left the queue. */
  sequenceNumber?: string
  /** Nothing was stored, because this id or deduplication id is known. */
  duplicate?: true
}

export interface ReceiveRequest {
  maxMessages: number
  visibilityTimeoutSeconds?: number
  /** FIFO: within 5 minutes the same id gets the same messages and handles, unless one of them was changed. */
  attemptId?: string
  consumer?: PushConsumerReceive
}

/** A receive for a push consumer. With its messages it takes a lease of the consumer's concurrency. */
export interface PushConsumerReceive {
  name: string
  /** Revision of the record that the caller knows. */
  revision: string
  /**
   * The id of the batch, which is also the name of its lease. If the batch already has a lease, further messages are
   * added to it.
   */
  batch: string
  /** The least time for which messages are hidden, ms. */
  hideMs: number
  /** Batches of the caller that have ended. Their leases are given back. */
  ended: string[]
}

/**
 * Why a consumer gets nothing. `changed`: its record was changed or deleted. `busy`: all its leases are taken. `early`:
 * its batch window has not ended.
 */
export type ReceiveRefusal = 'changed' | 'busy' | 'early'

export interface Received {
  messages: QueueMessage[]
  /** Ms until the next message becomes visible if no new one comes. null: none will. 0: one is visible. */
  nextVisibleInMs: number | null
  /** Nothing can be received from this standard queue, because too many messages are in flight. */
  overLimit: boolean
  refused?: ReceiveRefusal
}

/**
 * `invalid_receipt_handle`: it is not a handle of this queue. `message_not_available`: the message is deleted or not in
 * flight. `visibility_limit_exceeded`: it would be hidden for more than 12 hours after the receive.
 * `expired_receipt_handle`: FIFO only, the visibility timeout of the receive is over.
 */
export type HandleError =
  | 'invalid_receipt_handle'
  | 'message_not_available'
  | 'visibility_limit_exceeded'
  | 'expired_receipt_handle'

export type HandleResult = { ok: true } | { ok: false; error: HandleError }

export interface HandleRule {
  /**
   * Standard queues: only a handle of the newest receive counts. This is for callers that hold messages under a lease
   * (push consumers, a receive that is given back). A late holder must not end a later receive.
   */
  newestOnly?: boolean
}

export interface VisibilityChange {
  handle: string
  /** From now. 0 makes the message visible at once. */
  seconds: number
}

export interface PeekRequest extends RedriveFilter {
  cursor?: string
  limit: number
}

export interface DeadLetterCounts {
  byReason: Record<string, number>
  /** By status code. `none`: there was no answer. */
  byStatusCode: Record<string, number>
  /** By subscription ARN. */
  bySubscription: Record<string, number>
}
