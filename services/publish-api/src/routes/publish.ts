/** Publishing. The one route whose cost counts: one trip to Redis, no zod and no middleware where nothing is wrong. */
import {
  type Message,
  type Problem,
  PublishAnswer,
  PublishInput,
  PublishQuery,
  resolveTopic,
} from '@fantail/contracts'
import { idempotencyKey } from '@fantail/store'
import type { ApiDeps } from '../deps.ts'
import { msSince } from '../http/duration.ts'
import { type Answer, type Call, type Endpoint, endpoint } from '../http/endpoint.ts'
import { invalid } from '../http/errors.ts'
import { publicUrlFor } from '../http/public-url.ts'
import { jsonTextOf, textOf } from '../http/read-body.ts'
import { admit } from '../publish/admit.ts'
import { keyOf, replay, requestHash } from '../publish/idempotent.ts'
import { makeMessages } from '../publish/make-messages.ts'
import { MessageStore, type Receipt, weightOf } from '../publish/message-store.ts'
import { type NewMessages, readMessages, readRaw } from '../publish/read-messages.ts'
import { topicProblems } from '../publish/topic-rules.ts'
import type { KnownTopic } from '../topic-cache.ts'

export function publishRoutes(deps: ApiDeps): Endpoint[] {
  const tools = { deps, store: new MessageStore(deps) }
  return [
    endpoint({
      method: 'POST',
      path: '/v1/topics/{topic}/messages',
      tag: 'Messages',
      summary: 'Publish a message, or a batch of up to 100',
      description:
        'Answers once the messages are stored, all or none. An `Idempotency-Key` makes a repeated request, within 24 hours, ' +
        'answer the same ids with `Idempotent-Replayed: true`.',
      query: PublishQuery,
      body: PublishInput,
      bodyIs: 'own',
      answers: { 202: { description: 'Stored', schema: PublishAnswer } },
      errors: [
        'malformed_json',
        'validation_failed',
        'not_found',
        'idempotency_mismatch',
        'too_large',
        'unsupported_media_type',
        'rate_limited',
        'storage_full',
      ],
      handle: (call) => publish(tools, call),
    }),
  ]
}

interface Tools {
  deps: ApiDeps
  store: MessageStore
}

type PublishCall = Call<{ raw?: 'true' | 'false' | undefined; subject?: string | undefined }>

async function publish({ deps, store }: Tools, call: PublishCall): Promise<Answer> {
  const { request } = call
  const topicArn = resolveTopic(call.params.topic ?? '', deps.settings.arn)
  const key = keyOf(request)
  const given = readGiven(call, await request.bytes())
  const admitted = admit(deps, topicArn)
  const topic = admitted instanceof Promise ? await admitted : admitted
  const problems = topicProblems(topic, given)
  if (topic.record.fifo && key !== undefined) problems.push(KEY_ON_FIFO)
  if (problems.length > 0) throw invalid(problems)
  const messages = makeMessages(deps, given.messages, {
    topicArn,
    publicUrl: publicUrlFor(deps.settings, request),
    traceparent: request.header('traceparent'),
  })
  const stored = await (key === undefined
    ? store.store(topic, messages, given.bytes)
    : publishOnce(deps, { topic, key, hash: requestHash(given), messages, bytes: given.bytes }))
  const replayed = key !== undefined && stored[0]?.messageId !== messages[0]?.messageId
  if (key !== undefined && !replayed) store.count(topic, messages.length, given.bytes)
  if (deps.log.isLevelEnabled('info')) logPublished(deps, call, { topicArn, stored, given, replayed })
  return toAnswer(stored, given.batch, replayed)
}

/** A FIFO topic has a memory of its own, and what it was told twice must not be in its log twice. */
const KEY_ON_FIFO: Problem = {
  path: 'Idempotency-Key',
  message: 'is not for FIFO topics, whose deduplicationId does the same',
}

interface Published {
  topicArn: string
  stored: Receipt[]
  given: NewMessages
  replayed: boolean
}

function logPublished({ log }: ApiDeps, { requestId, startedAt }: PublishCall, published: Published): void {
  const { topicArn, stored, given, replayed } = published
  const ids = stored.map(({ messageId }) => messageId)
  const which = ids.length === 1 ? { messageId: ids[0] } : { messageIds: ids }
  const durationMs = msSince(startedAt)
  log.info({ requestId, topicArn, ...which, bytes: given.bytes, replayed, durationMs }, 'message.published')
}

function readGiven({ request, query }: PublishCall, body: Buffer): NewMessages {
  if (query.raw === 'true') return readRaw(textOf(body), query.subject)
  if (query.subject !== undefined) {
    const problem: Problem = { path: 'subject', message: 'belongs into the body, unless raw=true' }
    throw invalid([problem])
  }
  return readMessages(jsonTextOf(request, body))
}

interface Once {
  topic: KnownTopic
  key: string
  hash: string
  messages: Message[]
  bytes: number
}

/** The ids that the key stands for after this publish: ours, or those of the one that came first. */
async function publishOnce(deps: ApiDeps, once: Once): Promise<Receipt[]> {
  const { topic, key, hash, messages, bytes } = once
  const topicArn = topic.record.arn
  const earlier = await deps.idempotency.find(topicArn, key)
  if (earlier) return receiptsOf(replay(earlier, hash))
  const value = JSON.stringify({ h: hash, ids: messages.map(({ messageId }) => messageId) })
  const idempotency = { key: idempotencyKey(topicArn, key), value }
  await deps.publisher.publish(
    messages.map((message) => ({ ...message, idempotency })),
    weightOf(topic, messages, bytes),
  )
  return receiptsOf(replay(await deps.idempotency.claim(topicArn, key, value), hash))
}

function receiptsOf(ids: string[]): Receipt[] {
  return ids.map((messageId) => ({ messageId }))
}

function toAnswer(receipts: Receipt[], batch: boolean, replayed: boolean): Answer {
  const body = batch ? { results: receipts } : receipts[0]
  return replayed ? { status: 202, body, headers: { 'Idempotent-Replayed': 'true' } } : { status: 202, body }
}
