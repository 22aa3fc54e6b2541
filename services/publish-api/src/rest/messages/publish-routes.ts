/**
 * Publishes messages. This is the hottest REST route, so a valid body is read by hand, and zod only lists the problems
 * of an invalid one. If its topic is cached, a request costs one round trip to Redis. With an `Idempotency-Key`, a
 * request to a standard topic costs three: the key is looked up, the messages are stored, and the key is assigned to
 * them.
 */
import { needScope } from '@fantail/access'
import { FantailError, resolveTopic } from '@fantail/contracts'
import {
  IdempotencyKey,
  PublishAnswer,
  PublishInput,
  PublishQuery,
} from '@fantail/contracts/schemas/messages/message-schemas'
import { TopicReference } from '@fantail/contracts/schemas/shared-schemas'
import { z } from 'zod'
import type { KnownTopic } from '../../caches/topic-cache.ts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { invalid } from '../../http/error-answers.ts'
import { publicUrlFor } from '../../http/origin.ts'
import { jsonTextOf, textOf } from '../../http/read-input.ts'
import { admit, topicProblems } from '../../messages/admit.ts'
import { type CheckedTypes, checkTypes, FINE, refusalsOf, warningOf } from '../../messages/check-types.ts'
import { keyOf, requestHash } from '../../messages/idempotent.ts'
import { logPublished } from '../../messages/log-published.ts'
import { makeMessages } from '../../messages/make-messages.ts'
import { MessageStore, type Once, type Receipt, type Stored } from '../../messages/message-store.ts'
import { type GivenMessages, readMessages, readRaw } from '../../messages/read-messages.ts'

export function publishRoutes(deps: ApiDeps): Endpoint[] {
  const tools = { deps, store: new MessageStore(deps) }
  return [
    endpoint({
      id: 'publish',
      method: 'POST',
      path: '/v1/topics/{topic}/messages',
      params: { topic: TopicReference },
      tag: 'Messages',
      summary: 'Publish a message, or a batch of up to 100',
      description:
        'Answers once the messages are stored, all or none. They are delivered afterwards. If no answer comes, repeat the ' +
        'request with the same `Idempotency-Key`: within 24 hours it stores nothing again and answers the same ids. A ' +
        'topic that was deleted and made again knows no keys from before.',
      headers: { 'Idempotency-Key': IdempotencyKey.optional() },
      query: PublishQuery,
      body: PublishInput,
      bodyIs: 'own',
      otherBodies: { 'text/plain': RawMessage },
      answers: {
        202: {
          description: 'The messages are stored and will be delivered.',
          schema: PublishAnswer,
          headers: { 'Idempotent-Replayed': Replayed },
        },
      },
      errors: [
        ...(['not_found', 'quota_exceeded', 'idempotency_mismatch', 'rate_limited'] as const),
        ...(['storage_full', 'key_unavailable'] as const),
      ],
      handle: (call) => publish(tools, call),
    }),
  ]
}

const RawMessage = z
  .string()
  .meta({ description: 'With `raw=true`: the message itself, in UTF-8, of any type.', examples: ['hello'] })

export const Replayed = z
  .literal('true')
  .optional()
  .describe(
    'The `Idempotency-Key` was used before, so nothing was stored, and the ids are the same as before.',
  )

interface Tools {
  deps: ApiDeps
  store: MessageStore
}

type PublishCall = Call<{
  raw?: 'true' | 'false' | undefined
  subject?: string | undefined
  eventType?: string | undefined
}>

async function publish({ deps, store }: Tools, call: PublishCall): Promise<Answer> {
  const { request } = call
  const topicArn = resolveTopic(call.params.topic ?? '', deps.settings.arn)
  const key = keyOf(request)
  const given = readGiven(call, await request.bytes())
  // A publisher that chose the ids of others could make subscribers drop messages as repeated.
  if (call.caller && given.messages.some(({ sourceId }) => sourceId !== undefined))
    needScope(call.caller, ['manage'])
  const admitted = admit(deps, topicArn)
  const topic = admitted instanceof Promise ? await admitted : admitted
  const once = key === undefined ? undefined : { key, hash: requestHash(given) }
  let types = FINE
  let stored: Stored | undefined
  try {
    const checking = check(deps, topic, given)
    types = checking instanceof Promise ? await checking : checking
  } catch (refusal) {
    // The topic may have changed since the same request was stored.
    stored = once && (await store.earlier(topicArn, once))
    if (!stored) throw refusal
  }
  stored ??= await storeNew({ deps, store }, call, { topic, given, once })
  const { receipts, replayed } = stored
  const { requestId, startedAt } = call
  logPublished(deps, { requestId, topicArn, receipts, bytes: given.bytes, replayed, startedAt })
  return toAnswer(withWarnings(receipts, types), given.batch, replayed)
}

/** Throws or rejects if the messages do not fit the topic. Returns a promise only if it must wait. */
function check(deps: ApiDeps, topic: KnownTopic, given: GivenMessages): CheckedTypes | Promise<CheckedTypes> {
  const problems = topicProblems(topic, given)
  if (problems.length > 0) throw invalid(problems)
  const judge = (types: CheckedTypes) => {
    if (types.refused.length > 0) throw invalid(refusalsOf(types, given.batch))
    return types
  }
  const checking = checkTypes(deps, topic, given.messages)
  return checking instanceof Promise ? checking.then(judge) : judge(checking)
}

interface Storing {
  topic: KnownTopic
  given: GivenMessages
  once: Once | undefined
}

async function storeNew({ deps, store }: Tools, call: PublishCall, storing: Storing): Promise<Stored> {
  const { topic, given, once } = storing
  const { bytes } = given
  const messages = makeMessages(deps, given.messages, {
    topic,
    publicUrl: publicUrlFor(deps.settings, call),
    traceparent: call.request.header('traceparent'),
  })
  if (once) return store.storeOnce(topic, messages, bytes, once)
  return { receipts: await store.store(topic, messages, bytes), replayed: false }
}

function readGiven({ request, query }: PublishCall, body: Buffer): GivenMessages {
  if (query.raw === 'true') return readRaw(textOf(body), query)
  for (const path of ['subject', 'eventType'] as const)
    if (query[path] !== undefined) throw FantailError.invalid(path, 'belongs in the body, unless raw=true')
  return readMessages(jsonTextOf(request, body))
}

function withWarnings(receipts: Receipt[], types: CheckedTypes): Receipt[] {
  if (types.warnings.length === 0) return receipts
  return receipts.map((receipt, i) => {
    const warning = warningOf(types, i)
    return warning === undefined ? receipt : { ...receipt, warning }
  })
}

function toAnswer(receipts: Receipt[], batch: boolean, replayed: boolean): Answer {
  const body = batch ? { results: receipts } : receipts[0]
  return replayed ? { status: 202, body, headers: { 'Idempotent-Replayed': 'true' } } : { status: 202, body }
}
