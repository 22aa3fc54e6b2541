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
import { spanContextOf, traceparentOf } from '@fantail/telemetry'
import type { ApiDeps } from '../deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import { msSince } from '../http/duration.ts'
import { type Answer, type Call, type Endpoint, endpoint } from '../http/endpoint.ts'
import { invalid, notFound } from '../http/errors.ts'
import { publicUrlFor } from '../http/public-url.ts'
import { jsonTextOf, textOf } from '../http/read-body.ts'
import { keyOf, replay, requestHash } from '../publish/idempotent.ts'
import { PublishCounts } from '../publish/publish-counts.ts'
import { type NewMessages, readMessages, readRaw } from '../publish/read-messages.ts'

/** What a message weighs in a job beside its text and attributes. */
const OVERHEAD_BYTES = 256

export function publishRoutes(deps: ApiDeps): Endpoint[] {
  const tools = { deps, counts: new PublishCounts(deps.metrics) }
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
      handle: (call) => publish(tools, call),
    }),
  ]
}

interface Tools {
  deps: ApiDeps
  counts: PublishCounts
}

type PublishCall = Call<{ raw?: 'true' | 'false' | undefined; subject?: string | undefined }>

async function publish({ deps, counts }: Tools, call: PublishCall): Promise<Answer> {
  const topicArn = resolveTopic(call.params.topic ?? '', deps.settings.arn)
  const key = keyOf(call.request)
  const given = readGiven(call, await call.request.bytes())
  const admitted = admit(deps, topicArn)
  const fanOut = typeof admitted === 'number' ? admitted : await admitted
  const messages = toMessages(deps, call, { topicArn, given })
  const weight = { bytes: given.bytes + given.messages.length * OVERHEAD_BYTES, fanOut }
  const ids = messages.map(({ messageId }) => messageId)
  let stored = ids
  if (key === undefined) await deps.publisher.publish(messages, weight)
  else stored = await publishOnce(deps, { topicArn, key, hash: requestHash(given), messages, weight })
  const replayed = stored[0] !== ids[0]
  if (!replayed) counts.add(topicArn, given.messages.length, given.bytes)
  if (deps.log.isLevelEnabled('info')) logPublished(deps, call, { topicArn, stored, given, replayed })
  return toAnswer(stored, given.batch, replayed)
}

interface Published {
  topicArn: string
  stored: string[]
  given: NewMessages
  replayed: boolean
}

function logPublished({ log }: ApiDeps, { requestId, startedAt }: PublishCall, published: Published): void {
  const { topicArn, stored, given, replayed } = published
  const which = stored.length === 1 ? { messageId: stored[0] } : { messageIds: stored }
  const durationMs = msSince(startedAt)
  log.info({ requestId, topicArn, ...which, bytes: given.bytes, replayed, durationMs }, 'message.published')
}

/** How many subscriptions a message reaches; throws or rejects where the topic is missing or storage is full. */
function admit({ storageGuard, topicCache }: ApiDeps, topicArn: string): number | Promise<number> {
  const topic = topicCache.known(topicArn)
  const waiting = storageGuard.admit(topic?.uid)
  if (topic) return waiting ? waiting.then(() => topic.fanOut) : topic.fanOut
  // Side by side, so that a Redis that does not answer keeps the caller waiting for one timeout and not for two.
  return Promise.all([topicCache.find(topicArn), waiting]).then(([found]) => {
    if (!found) throw notFound('topic')
    return found.fanOut
  })
}

function readGiven({ request, query }: PublishCall, body: Buffer): NewMessages {
  if (query.raw === 'true') return readRaw(textOf(body), query.subject)
  if (query.subject !== undefined) {
    const problem: Problem = { path: 'subject', message: 'belongs into the body, unless raw=true' }
    throw invalid([problem])
  }
  return readMessages(jsonTextOf(request, body))
}

interface Given {
  topicArn: string
  given: NewMessages
}

function toMessages(deps: ApiDeps, { request }: PublishCall, { topicArn, given }: Given): Message[] {
  const publishedAt = deps.clock()
  const publicUrl = publicUrlFor(deps.settings, request)
  const traceparent = traceOf(deps, request)
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

/** The caller's trace, continued by a span of ours where spans are recorded. */
function traceOf({ spans }: ApiDeps, request: ApiRequest): string | undefined {
  const given = request.header('traceparent')
  if (!spans.on) return given !== undefined && spanContextOf(given) ? given : undefined
  const span = spans.start('publish', { traceparent: given })
  span.end()
  return traceparentOf(span)
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
