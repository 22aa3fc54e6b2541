/** Publishing. The one route whose cost counts: one trip to Redis, no zod and no middleware where nothing is wrong. */
import {
  createMessageId,
  type Message,
  type Problem,
  PublishAnswer,
  PublishInput,
  PublishQuery,
  resolveTopic,
} from '@fantail/contracts'
import { idempotencyKey } from '@fantail/store'
import type { ApiDeps } from '../deps.ts'
import { type Answer, type Call, type Endpoint, endpoint } from '../http/endpoint.ts'
import { invalid, notFound } from '../http/errors.ts'
import { publicUrlFor } from '../http/public-url.ts'
import { readJsonText, readText } from '../http/read-body.ts'
import { keyOf, replay, requestHash } from '../publish/idempotent.ts'
import { type NewMessages, readMessages, readRaw } from '../publish/read-messages.ts'

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
/** What a message weighs in a job beside its text and attributes. */
const OVERHEAD_BYTES = 256

export function publishRoutes(deps: ApiDeps): Endpoint[] {
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
        'not_supported',
        'not_found',
        'idempotency_mismatch',
        'too_large',
        'unsupported_media_type',
        'rate_limited',
        'storage_full',
      ],
      handle: (call) => publish(deps, call),
    }),
  ]
}

type PublishCall = Call<{ raw?: 'true' | 'false' | undefined; subject?: string | undefined }>

async function publish(deps: ApiDeps, call: PublishCall): Promise<Answer> {
  const startedAt = performance.now()
  const topicArn = resolveTopic(call.params.topic ?? '', deps.settings.arn)
  const key = keyOf(call.request)
  const given = await readGiven(call)
  const waiting = deps.storageGuard.admit()
  if (waiting) await waiting
  const topic = deps.topicCache.known(topicArn) ?? (await deps.topicCache.find(topicArn))
  if (!topic) throw notFound('topic')
  const weight = { bytes: given.bytes + given.messages.length * OVERHEAD_BYTES, fanOut: topic.fanOut }
  const messages = toMessages(deps, call, { topicArn, given })
  const ids = messages.map(({ messageId }) => messageId)
  let stored = ids
  if (key === undefined) await deps.publisher.publish(messages, weight)
  else stored = await publishOnce(deps, { topicArn, key, hash: requestHash(given), messages, weight })
  const replayed = stored[0] !== ids[0]
  if (!replayed) deps.metrics.published(messages.length, given.bytes)
  const { requestId } = call
  const durationMs = performance.now() - startedAt
  const which = stored.length === 1 ? { messageId: stored[0] } : { messageIds: stored }
  deps.log.info(
    { requestId, topicArn, ...which, bytes: given.bytes, replayed, durationMs },
    'message.published',
  )
  return toAnswer(stored, given.batch, replayed)
}

async function readGiven({ request, query }: PublishCall): Promise<NewMessages> {
  if (query.raw === 'true') return readRaw(await readText(request), query.subject)
  if (query.subject !== undefined) {
    const problem: Problem = { path: 'subject', message: 'belongs into the body, unless raw=true' }
    throw invalid([problem])
  }
  return readMessages(await readJsonText(request))
}

interface Given {
  topicArn: string
  given: NewMessages
}

function toMessages(deps: ApiDeps, { request }: PublishCall, { topicArn, given }: Given): Message[] {
  const publishedAt = deps.clock()
  const publicUrl = publicUrlFor(deps.settings, request)
  const trace = request.headers.get('traceparent')
  const traceparent = trace !== null && TRACEPARENT.test(trace) ? trace : undefined
  return given.messages.map((message) => {
    const result: Message = {
      messageId: createMessageId(publishedAt),
      topicArn,
      publishedAt,
      ...message,
      publicUrl,
    }
    if (traceparent !== undefined) result.traceparent = traceparent
    return result
  })
}

interface Once {
  topicArn: string
  key: string
  hash: string
  messages: Message[]
  weight: { bytes: number; fanOut: number }
}

/** The ids that the key stands for after this publish: ours, or those of the one that came first. */
async function publishOnce(
  deps: ApiDeps,
  { topicArn, key, hash, messages, weight }: Once,
): Promise<string[]> {
  const earlier = await deps.idempotency.find(topicArn, key)
  if (earlier) return replay(earlier, hash)
  const value = JSON.stringify({ h: hash, ids: messages.map(({ messageId }) => messageId) })
  const idempotency = { key: idempotencyKey(topicArn, key), value }
  await deps.publisher.publish(
    messages.map((message) => ({ ...message, idempotency })),
    weight,
  )
  return replay(await deps.idempotency.claim(topicArn, key, value), hash)
}

function toAnswer(ids: string[], batch: boolean, replayed: boolean): Answer {
  const body = batch ? { results: ids.map((messageId) => ({ messageId })) } : { messageId: ids[0] }
  return replayed ? { status: 202, body, headers: { 'Idempotent-Replayed': 'true' } } : { status: 202, body }
}
