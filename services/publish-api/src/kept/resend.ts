/** Resends: one delivery at once, or a task for all kept messages since a time. */
import { createHash, randomUUID } from 'node:crypto'
import { FantailError, RESEND_RATE_DEFAULT, type SubscriptionRecord } from '@fantail/contracts'
import type { ResendInput, ResendSinceInput } from '@fantail/contracts/schemas/messages/kept-schemas'
import { deliveryId, messageBody, orderIn, resentGeneration } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, idOf, ok } from '../http/endpoint.ts'
import { notFound } from '../http/error-answers.ts'
import { redriveView } from '../http/record-views.ts'
import { keyOf } from '../messages/idempotent.ts'
import { subscriptionIdIn } from '../redrives/filter-input.ts'
import { visibleSubscription } from '../subscriptions/change.ts'
import { type StoredMessage, storedMessage, topicOfMessage } from './stored-message.ts'

type Tools = Pick<
  ApiDeps,
  | 'addressGuard'
  | 'clock'
  | 'kept'
  | 'lanes'
  | 'log'
  | 'outcomes'
  | 'queues'
  | 'redrives'
  | 'seals'
  | 'storageGuard'
  | 'subscriptions'
  | 'topicQueues'
  | 'vault'
>

export async function resendOne(
  deps: Tools,
  { body, request, requestId }: Call<unknown, z.output<typeof ResendInput>>,
  messageId: string,
): Promise<Answer> {
  const key = keyOf(request)
  const record = await receiverOf(deps, messageId, body.subscription)
  await deps.storageGuard.admit()
  const stored = await storedMessage(deps, messageId)
  await park(deps, record, stored, taskOf(record.id, messageId, key))
  deps.log.info({ requestId, messageId, subscriptionId: record.id }, 'message.resent')
  return { status: 202, body: { messageId, subscriptionId: record.id } }
}

/** A subscription of the message's topic that may get messages. */
async function receiverOf(deps: Tools, messageId: string, given: string): Promise<SubscriptionRecord> {
  const topicArn = await topicOfMessage(deps, messageId)
  if (topicArn === null) throw notFound('message')
  const record = await deps.subscriptions.get(subscriptionIdIn(given, 'subscription'))
  if (!record || record.unsubscribed || record.topicArn !== topicArn)
    throw FantailError.invalid('subscription', 'names no subscription of the message’s topic')
  refusePending(record)
  return record
}

function refusePending({ status }: SubscriptionRecord): void {
  if (status === 'pending') throw new FantailError('wrong_state', 'the subscription is not confirmed yet')
}

/**
 * The name under which the shard remembers for a day which delivery was parked. A request without a key gets a unique
 * name.
 */
function taskOf(subscriptionId: string, messageId: string, key: string | undefined): string {
  if (key === undefined) return `resend:${randomUUID()}`
  const hash = createHash('sha256').update(JSON.stringify([subscriptionId, messageId, key]))
  return `resend:${hash.digest('base64url')}`
}

async function park(
  deps: Tools,
  record: SubscriptionRecord,
  { message }: StoredMessage,
  task: string,
): Promise<void> {
  const { id: subscriptionId } = record
  const place = await deps.subscriptions.locate(subscriptionId)
  if (!place) throw notFound('subscription')
  const { messageId, groupId } = message
  const generation = resentGeneration(deps.clock())
  const delivery = deliveryId(messageId, generation)
  const entry = { subscriptionId, delivery, itemId: messageId, message: 0, ...orderIn(record, groupId) }
  const result = await deps.lanes.parkRedriven(place.shard, {
    task,
    fence: 1,
    batch: 1,
    messages: [{ id: delivery.subarray(0, 16), body: messageBody(message), groupId }],
    entries: [entry],
  })
  if (result.stale || result.outcomes[0] === 'unsubscribed') throw notFound('subscription')
  if (result.outcomes[0] === 'parked') await note(deps, { messageId, subscriptionId, generation })
}

/** The entry only shows that the delivery waits again. If it is lost, the end of the delivery is still logged. */
async function note(
  { outcomes, log }: Tools,
  entry: { messageId: string; subscriptionId: string; generation: number },
): Promise<void> {
  await outcomes
    .append({ dispatch: [], lanes: [], resent: [entry] })
    .catch((error: unknown) => log.debug({ err: error, messageId: entry.messageId }, 'resend.note_failed'))
}

export async function resendSince(
  deps: Tools,
  call: Call<unknown, z.output<typeof ResendSinceInput>>,
): Promise<Answer> {
  const record = await visibleSubscription(deps, idOf(call))
  refusePending(record)
  const { since, until, failedOnly, dryRun, maxMessagesPerSecond = RESEND_RATE_DEFAULT } = call.body
  const bounds = { since: Date.parse(since), ...(until !== undefined && { until: Date.parse(until) }) }
  const asked = { subscriptionArn: record.arn, ...bounds, ...(failedOnly && { failedOnly }) }
  if (dryRun) return ok({ matched: await deps.redrives.countResend(asked) })
  await deps.storageGuard.admit()
  const task = await deps.redrives.createResend({ ...asked, maxMessagesPerSecond })
  const { id: redriveId, matched } = task
  deps.log.info(
    { requestId: call.requestId, redriveId, subscriptionId: record.id, matched },
    'resend.created',
  )
  return { status: 202, body: redriveView(task) }
}
