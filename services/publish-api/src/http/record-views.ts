/** Records in the form of the REST API. */
import { hash } from 'node:crypto'
import { type Caller, seesBodies } from '@fantail/access'
import {
  type DeadLetter,
  type QueueMessage,
  RECORDING_DEFAULT,
  type RedriveTask,
  type TopicRecord,
} from '@fantail/contracts'
import type { QueueView } from '@fantail/contracts/schemas/queues/queue-schemas'
import type { RedriveView } from '@fantail/contracts/schemas/queues/redrive-schemas'
import type { TopicView } from '@fantail/contracts/schemas/topic-schemas'
import { effectivePolicy } from '@fantail/policy'
import { QUEUE, type QueueWithCounts, REDRIVE, type SubscriptionCounts, TOPIC } from '@fantail/store'
import type { z } from 'zod'

export function iso(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

export function isoOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : iso(epochMs)
}

interface CountedTopic {
  topic: TopicRecord
  subscriptions: SubscriptionCounts
}

/** If the topic has no content type of its own, native subscriptions send each body with its real type. */
function topicPolicy(topic: TopicRecord): z.input<typeof TopicView>['effectiveDeliveryPolicy'] {
  const policy = effectivePolicy(topic)
  const requestPolicy = topic.deliveryPolicy?.requestPolicy ?? { headerContentType: null }
  return { ...policy, requestPolicy }
}

export function topicView({ topic, subscriptions }: CountedTopic): z.input<typeof TopicView> {
  const { active, pending, paused } = subscriptions
  return {
    ...TOPIC.shown(topic),
    effectiveDeliveryPolicy: topicPolicy(topic),
    fifo: topic.fifo === true,
    recordAttempts: topic.recordAttempts ?? RECORDING_DEFAULT,
    ...(topic.fifo && { contentBasedDeduplication: topic.contentBasedDeduplication ?? false }),
    subscriptions: { active, pending, paused },
    createdAt: iso(topic.createdAt),
  }
}

interface QueueFacts extends QueueWithCounts {
  /** Epoch ms. null: the queue has no lease. */
  leaseEndsAt: number | null
  sources: string[]
  url: string
  now: number
}

export function queueView(facts: QueueFacts): z.input<typeof QueueView> {
  const { queue, counts, oldestSince, groups, leaseEndsAt, sources, url, now } = facts
  return {
    ...QUEUE.shown(queue),
    url,
    fifo: queue.fifo === true,
    ...(queue.fifo && {
      contentBasedDeduplication: queue.contentBasedDeduplication ?? false,
      deduplicationScope: queue.deduplicationScope ?? 'queue',
    }),
    counts,
    oldestSeconds: oldestSince === null ? null : secondsSince(oldestSince, now),
    ...(groups && { groups: groupsView(groups, now) }),
    leaseEndsAt: isoOrNull(leaseEndsAt),
    deadLetterSources: sources,
    createdAt: iso(queue.createdAt),
    modifiedAt: iso(queue.modifiedAt),
  }
}

function groupsView({ quietOldestSince, ...counts }: NonNullable<QueueFacts['groups']>, now: number) {
  return {
    ...counts,
    quietOldestSeconds: quietOldestSince === null ? null : secondsSince(quietOldestSince, now),
  }
}

/** To the millisecond, and never negative, because the two times may come from different clocks. */
export function secondsSince(then: number, now: number): number {
  return Math.round(Math.max(0, now - then)) / 1_000
}

export function queueMessageView(message: QueueMessage): object {
  const { messageId, receiptHandle, receiveCount, body, attributes, sentAt, deadLetter } = message
  const { groupId, deduplicationId, sequenceNumber } = message
  return {
    messageId,
    ...(receiptHandle !== undefined && { receiptHandle }),
    receiveCount,
    body,
    attributes,
    sentAt: iso(sentAt),
    ...(groupId !== undefined && { groupId }),
    ...(deduplicationId !== undefined && { deduplicationId }),
    ...(sequenceNumber !== undefined && { sequenceNumber }),
    ...(deadLetter && { deadLetter: deadLetterView(deadLetter) }),
  }
}

/**
 * A message that is looked at without receiving it. Callers without the scope `bodies` see its size and digest, unless
 * it is locked.
 */
export function lookedAtView(message: QueueMessage, caller: Caller): object {
  const { body, sealed } = message
  const isLocked = sealed === 'locked'
  return {
    ...queueMessageView(message),
    ...(!showsBody(message, caller) && { body: null, attributes: {} }),
    bodyBytes: isLocked ? null : Buffer.byteLength(body),
    bodySha256: isLocked ? null : hash('sha256', body, 'hex'),
  }
}

/** Whether the caller may see the content of the message, and it could be opened. */
export function showsBody({ sealed }: QueueMessage, caller: Caller): boolean {
  return sealed !== 'locked' && seesBodies(caller)
}

/** The published text and attributes of a dead letter, for callers who may see them. */
export function publishedView(item: QueueMessage, caller: Caller): object {
  const { deadLetter } = item
  if (!deadLetter || !showsBody(item, caller)) return {}
  const { message, attributes = {} } = deadLetter.message
  return { published: { message, attributes } }
}

function deadLetterView(letter: DeadLetter): object {
  return {
    reason: letter.reason,
    statusCode: letter.statusCode,
    lastError: letter.lastError,
    attempts: letter.attempts,
    subscriptionArn: letter.subscriptionArn,
    topicArn: letter.topicArn,
    publishedMessageId: letter.messageId,
    publishedAt: iso(letter.publishedAt),
    deadLetteredAt: iso(letter.deadLetteredAt),
  }
}

export function redriveView(task: RedriveTask): z.input<typeof RedriveView> {
  return {
    ...REDRIVE.shown(task),
    startedAt: iso(task.startedAt),
    endedAt: isoOrNull(task.endedAt),
    ...(task.pauseReason !== null && { pauseReason: task.pauseReason }),
    ...(task.error !== null && { error: task.error }),
  }
}
