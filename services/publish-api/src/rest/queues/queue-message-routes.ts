/** Routes for messages in a queue: send, receive, acknowledge, and peek. */
import type { Caller } from '@fantail/access'
import { type ErrorCode, isObject, problemsOf, type QueueMessage, type QueueRecord } from '@fantail/contracts'
import { PeekAnswer, PeekQuery } from '@fantail/contracts/schemas/queues/letter-schemas'
import {
  AckInput,
  HandleResults,
  QueueMessageReference,
  QueueMessageView,
  ReceivedAnswer,
  ReceiveInput,
  VisibilityInput,
} from '@fantail/contracts/schemas/queues/queue-message-schemas'
import {
  QueueBatchInput,
  QueueItemInput,
  QueueSendAnswer,
  QueueSendInput,
} from '@fantail/contracts/schemas/queues/queue-sending-schemas'
import { QueueReference } from '@fantail/contracts/schemas/shared-schemas'
import type { PeekRequest, SentItem } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import {
  type Answer,
  type Call,
  type Endpoint,
  endpoint,
  NO_CONTENT,
  ok,
  queueOf,
} from '../../http/endpoint.ts'
import { invalid, notFound } from '../../http/error-answers.ts'
import { parseJson, readJsonText } from '../../http/read-input.ts'
import { lookedAtView, publishedView, queueMessageView, showsBody } from '../../http/record-views.ts'
import { checkKmsUse } from '../../messages/kms-use.ts'
import { sendItems } from '../../queues/queue-settings.ts'
import { letterFilterOf } from '../../redrives/filter-input.ts'
import { contentOfItem, NO_CONTENT_SHOWN } from '../../search/content.ts'

export function queueMessageRoutes(deps: ApiDeps): Endpoint[] {
  const { queues } = deps
  const post = (id: string, name: string, summary: string) => ({
    id,
    method: 'POST' as const,
    path: `/v1/queues/{queue}/${name}`,
    params: { queue: QueueReference },
    tag: 'Queues' as const,
    summary,
    errors: ['not_found' as const],
  })
  const handleResults = { 200: { description: 'In the order of the handles', schema: HandleResults } }
  return [
    endpoint({
      ...post('sendMessages', 'messages', 'Send a message, or a batch of up to 100'),
      description:
        'Answers once the messages are in the queue. A FIFO queue stores no second message with a ' +
        '`deduplicationId` of the last 5 minutes, and answers the id of the first.',
      errors: ['not_found', 'storage_full', 'key_unavailable'],
      body: QueueSendInput,
      bodyIs: 'own',
      answers: { 201: { description: 'Sent', schema: QueueSendAnswer } },
      handle: (call) => send(deps, call),
    }),
    endpoint({
      ...post('receiveMessages', 'receive', 'Receive messages, waiting for them if asked'),
      description:
        'Received messages are hidden from others until their visibility timeout ends; acknowledge them before that, or ' +
        'they come back. A message may come more than once.',
      errors: ['not_found', 'rate_limited', 'key_unavailable'],
      body: ReceiveInput,
      bodyIs: 'optional',
      answers: { 200: { description: 'Up to maxMessages, possibly none', schema: ReceivedAnswer } },
      handle: (call) => receive(deps, call),
    }),
    endpoint({
      ...post(
        'acknowledgeMessages',
        'ack',
        'Delete received messages, by a handle of any receive; on a FIFO queue, of the newest',
      ),
      description:
        'Each handle has a result of its own, so if one is refused, the others are still done. A message that is ' +
        'already gone counts as done.',
      body: AckInput,
      answers: handleResults,
      handle: async (call) =>
        ok({ results: await queues.ack(queueOf(deps, call), call.body.receiptHandles) }),
    }),
    endpoint({
      ...post(
        'changeVisibility',
        'visibility',
        'Hide received messages for longer, or show them at once with 0',
      ),
      description:
        'The time counts from now, up to 12 hours after the receive. Each handle has a result of its own.',
      body: VisibilityInput,
      answers: handleResults,
      handle: async (call) => {
        const { receiptHandles, visibilityTimeoutSeconds } = call.body
        const changes = receiptHandles.map((handle) => ({ handle, seconds: visibilityTimeoutSeconds }))
        const results = await queues.changeVisibility(queueOf(deps, call), changes)
        return ok({ results })
      },
    }),
    ...lookingRoutes(deps),
  ]
}

function lookingRoutes(deps: ApiDeps): Endpoint[] {
  const { queues } = deps
  const route = {
    path: '/v1/queues/{queue}/messages/{messageId}',
    params: { queue: QueueReference, messageId: QueueMessageReference },
    tag: 'Queues' as const,
  }
  const errors: ErrorCode[] = ['validation_failed', 'not_found']
  return [
    endpoint({
      id: 'peekMessages',
      method: 'GET',
      path: '/v1/queues/{queue}/messages',
      params: { queue: QueueReference },
      tag: 'Queues',
      summary: 'Look at messages without receiving them',
      description:
        'Oldest first, whether they are visible, delayed or in flight; nothing is changed. The conditions of the query ' +
        'are about dead letters and must all hold. A key without the scope `bodies` sees neither texts nor attributes.',
      query: PeekQuery,
      answers: { 200: { description: 'A page', schema: PeekAnswer } },
      errors,
      handle: (call) => peek(deps, call),
    }),
    endpoint({
      ...route,
      id: 'getQueueMessage',
      method: 'GET',
      summary: 'Look at one message',
      description:
        'Shows the message without receiving it, so its receive count and visibility stay as they are. A key without the scope `bodies` sees neither ' +
        'text nor attributes.',
      answers: { 200: { description: 'The message', schema: QueueMessageView } },
      errors,
      handle: async (call) => {
        const message = await queues.message(queueOf(deps, call), call.params.messageId ?? '')
        if (!message) throw notFound('message in this queue')
        return ok({ ...itemView(message, call.caller), ...publishedView(message, call.caller) })
      },
    }),
    endpoint({
      ...route,
      id: 'deleteQueueMessage',
      method: 'DELETE',
      summary: 'Delete one message, whoever has received it',
      description: 'Needs no receipt handle. Nothing brings the message back.',
      answers: { 204: { description: 'Gone, or there was none' } },
      errors,
      handle: async (call) => {
        await queues.deleteMessage(queueOf(deps, call), call.params.messageId ?? '')
        return NO_CONTENT
      },
    }),
  ]
}

/** With the line by which people recognise a message. */
function itemView(message: QueueMessage, caller: Caller): object {
  const content = showsBody(message, caller) ? contentOfItem(message) : NO_CONTENT_SHOWN
  return { ...lookedAtView(message, caller), ...content }
}

async function send(deps: ApiDeps, call: Call): Promise<Answer> {
  const value = parseJson(await readJsonText(call.request))
  const batch = isObject(value) && 'messages' in value
  const result = (batch ? QueueBatchInput : QueueItemInput).safeParse(value)
  if (!result.success) throw invalid(problemsOf(result.error))
  const inputs = 'messages' in result.data ? result.data.messages : [result.data]
  const queueArn = queueOf(deps, call)
  const queue = await needQueue(deps, queueArn)
  const items = sendItems(queue, inputs, batch)
  checkKmsUse(deps, queue)
  const waiting = deps.storageGuard.admit()
  if (waiting) await waiting
  const results = await deps.queues.send(queueArn, items)
  deps.log.info({ requestId: call.requestId, queueArn, messages: items.length }, 'queue.sent')
  return { status: 201, body: batch ? { results: results.map(receipt) } : receipt(results[0]) }
}

function receipt(sent: SentItem | undefined): object {
  const { messageId, sequenceNumber } = sent ?? {}
  return { messageId, ...(sequenceNumber !== undefined && { sequenceNumber }) }
}

async function needQueue({ queueCache }: ApiDeps, queueArn: string): Promise<QueueRecord> {
  const queue = queueCache.known(queueArn) ?? (await queueCache.find(queueArn))
  if (!queue) throw notFound('queue')
  return queue
}

async function receive(deps: ApiDeps, call: Call<unknown, z.output<typeof ReceiveInput>>): Promise<Answer> {
  const queueArn = queueOf(deps, call)
  const { maxMessages, visibilityTimeoutSeconds } = call.body
  const queue = await needQueue(deps, queueArn)
  await deps.leaseRenewals.received(queue)
  const messages = await deps.queueWaits.receiveWaiting(queueArn, {
    maxMessages,
    waitSeconds: call.body.waitSeconds ?? queue.receiveWaitSeconds,
    ...(visibilityTimeoutSeconds !== undefined && { visibilityTimeoutSeconds }),
    signal: call.request.signal,
  })
  if (messages.length > 0) {
    deps.log.info({ requestId: call.requestId, queueArn, messages: messages.length }, 'queue.received')
  }
  return ok({ messages: messages.map(queueMessageView) })
}

async function peek(deps: ApiDeps, call: Call<z.output<typeof PeekQuery>>): Promise<Answer> {
  const { cursor, limit, ...filter } = call.query
  const request: PeekRequest = {
    ...(await letterFilterOf(deps, filter, '')),
    limit,
    ...(cursor !== undefined && { cursor }),
  }
  const { items, nextCursor } = await deps.queues.peek(queueOf(deps, call), request)
  return ok({ messages: items.map((message) => itemView(message, call.caller)), nextCursor })
}
