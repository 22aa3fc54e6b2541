/** Makes one attempt outside the lane, to see an endpoint's answer. Nothing is retried, counted or dead-lettered. */
import { seesBodies } from '@fantail/access'
import {
  type AttemptResult,
  createMessageId,
  isFifoName,
  type Message,
  type SubscriptionRecord,
  type TopicRecord,
  toAttribute,
} from '@fantail/contracts'
import type { TestInput } from '@fantail/contracts/schemas/messages/message-schemas'
import type { TestAnswer } from '@fantail/contracts/schemas/subscriptions/subscription-action-schemas'
import {
  type Attempters,
  type Attempt as AttemptOptions,
  compileEnvelope,
  compileTarget,
  createAttempters,
  type EndpointTarget,
  type Envelope,
  ExchangeTrace,
  type Links,
  QueueAdmission,
  QueueAppends,
  redactEndpoint,
  shownHeaders,
  signatureVersionOf,
  unsignedFailure,
} from '@fantail/delivery'
import {
  effectivePolicy,
  failureText,
  type KmsKeys,
  type Organizations,
  withoutTokens,
} from '@fantail/policy'
import { deliveryItemId, openStreamWriter, type Queues } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Call, idOf } from '../http/endpoint.ts'
import { notFound } from '../http/error-answers.ts'
import { publicUrlFor } from '../http/origin.ts'
import { visibleSubscription } from './change.ts'

interface TestAttempt {
  record: SubscriptionRecord
  topic: TopicRecord
  publicUrl: string
  given: z.output<typeof TestInput>
  /** Whether the caller may see bodies. */
  showsBodies: boolean
  /** The caller is a portal session, which sees only answers of public addresses. */
  isCustomer: boolean
}

type AttempterOptions = Omit<Parameters<typeof createAttempters>[0], 'appends' | 'itemIdOf'> & {
  queues: Pick<Queues, 'get' | 'send'>
  /** For policies of queues. */
  organizations?: Organizations
  kmsKeys?: KmsKeys | undefined
}

/** The attempters of the worker, but with the present settings of queues. */
export function createTestAttempters({
  queues,
  organizations,
  kmsKeys,
  ...options
}: AttempterOptions): Attempters {
  // An admission check caches a queue's settings. A test must use settings that were changed a moment ago.
  const fresh = () => new QueueAdmission({ queues, clock: options.clock, organizations, kmsKeys })
  let latest = fresh()
  const appends = new QueueAppends({
    queues,
    admission: {
      refusalOf: (...asked) => {
        latest = fresh()
        return latest.refusalOf(...asked)
      },
      seals: (queueArn) => latest.seals(queueArn),
    },
  })
  return createAttempters({ ...options, openStreamWriter, appends, itemIdOf: deliveryItemId })
}

type Tools = Pick<ApiDeps, 'attempters' | 'signing' | 'clock'>
type TestTools = Tools & Pick<ApiDeps, 'settings' | 'linkKey'>

/** @limit Bytes of an answer’s body that a test shows. Past them: the body is cut. */
const TEST_ANSWER_BYTES_MAX = 4_096

/** Tests the subscription that the path names. */
export async function testSubscription(
  deps: TestTools & Pick<ApiDeps, 'topics' | 'subscriptions' | 'queues' | 'addressGuard' | 'vault' | 'log'>,
  call: Call,
  given: TestAttempt['given'],
): Promise<z.input<typeof TestAnswer>> {
  const record = await visibleSubscription(deps, idOf(call))
  const topic = await deps.topics.get(record.topicArn)
  if (!topic) throw notFound('subscription')
  const publicUrl = publicUrlFor(deps.settings, call)
  const showsBodies = seesBodies(call.caller)
  const isCustomer = call.caller?.portal !== undefined
  const answer = await attemptOnce(deps, { record, topic, publicUrl, given, showsBodies, isCustomer })
  const { statusCode, durationMs, error } = answer
  const line = { requestId: call.requestId, subscriptionId: record.id, statusCode, durationMs, error }
  deps.log.info(line, 'subscription.tested')
  return answer
}

/** Tests a subscription for a task, which shows no bodies. */
export async function testRecord(
  deps: TestTools & Pick<ApiDeps, 'topics'>,
  record: SubscriptionRecord,
  publicUrl: string,
): Promise<z.input<typeof TestAnswer>> {
  const topic = await deps.topics.get(record.topicArn)
  if (!topic) throw notFound('subscription')
  return attemptOnce(deps, { record, topic, publicUrl, given: {}, showsBodies: false, isCustomer: false })
}

async function attemptOnce(
  deps: TestTools,
  { record, topic, publicUrl, given, showsBodies, isCustomer }: TestAttempt,
): Promise<z.input<typeof TestAnswer>> {
  const publishedAt = deps.clock()
  const messageId = createMessageId(publishedAt)
  const message: Message = {
    messageId,
    topicArn: record.topicArn,
    publishedAt,
    ...contentOf(given),
    publicUrl,
    // Only a FIFO queue reads these members, and it accepts no message without them.
    ...(isFifoName(record.endpoint) && { groupId: record.id, deduplicationId: messageId }),
  }
  const trace = new ExchangeTrace()
  // In local mode the caller is on the same machine and reaches every private address without Fantail.
  const fromAnywhere = deps.settings.mode === 'local' && !isCustomer
  const keepAnswer = { of: 'all', bytesMax: TEST_ANSWER_BYTES_MAX, fromAnywhere } as const
  const links = { key: await deps.linkKey.get() }
  const prepared = prepare({ record, topic, message, links })
  const result = await attempt(deps, { ...prepared, keepAnswer, trace })
  const content = contentSent(deps, prepared)
  return testAnswer({ endpoint: record.endpoint, result, trace, content, showsBodies })
}

/** Makes one request outside the lane. The message is a confirmation, which has no link to unsubscribe. */
export async function attemptMessage(
  deps: Tools,
  made: Pick<TestAttempt, 'record' | 'topic'> & { message: Message },
): Promise<AttemptResult> {
  return attempt(deps, prepare(made))
}

interface Wanted extends Pick<TestAttempt, 'record' | 'topic'> {
  message: Message
  links?: Links
}

function prepare({ record, topic, message, links }: Wanted) {
  const target = compileTarget(record, effectivePolicy(topic, record), topic)
  return { record, target, envelope: compileEnvelope(message, links, signatureVersionOf(topic)) }
}

/** undefined: the kind's requests are traced, or its text is not known. */
function contentSent({ attempters }: Tools, { record, target, envelope }: Attempt): string | undefined {
  return attempters[record.protocol].contentOf?.({ envelope, delivery: undefined }, target)
}

const TEST_SUBJECT = 'Fantail test'
/** JSON, because receivers that verify Standard Webhooks parse the verified body. */
const TEST_MESSAGE = JSON.stringify({
  type: 'fantail.test',
  message: 'This is a test of your subscription. Nothing was published.',
})

function contentOf({
  message,
  subject,
  attributes,
}: TestAttempt['given']): Pick<Message, 'message' | 'subject' | 'attributes'> {
  if (message === undefined) return { subject: subject ?? TEST_SUBJECT, message: TEST_MESSAGE }
  const named = Object.entries((attributes ?? {}) as Record<string, unknown>).flatMap(([name, value]) => {
    const attribute = toAttribute(value)
    return attribute ? [[name, attribute] as const] : []
  })
  return {
    message: typeof message === 'string' ? message : JSON.stringify(message),
    ...(subject !== undefined && { subject }),
    ...(named.length > 0 && { attributes: Object.fromEntries(named) }),
  }
}

interface Attempt extends Pick<AttemptOptions, 'keepAnswer' | 'trace'> {
  record: SubscriptionRecord
  target: EndpointTarget
  envelope: Envelope
}

/** Makes an attempt in the same way as a delivery. */
async function attempt(
  deps: Tools,
  { record, target, envelope, keepAnswer, trace }: Attempt,
): Promise<AttemptResult> {
  const { attempters, signing } = deps
  try {
    await signing.prepare(envelope, target)
  } catch (error) {
    return unsignedFailure(error)
  }
  const { promise, resolve } = Promise.withResolvers<AttemptResult>()
  const wanted = { target, envelope, delivery: undefined, keepAnswer, trace }
  attempters[record.protocol].attempt(wanted, resolve)
  return promise
}

type Answer = z.input<typeof TestAnswer>

/** @limit Bytes of the request’s body that a test shows. Past them: the body is cut. */
const TESTED_BODY_BYTES_MAX = 65_536

interface Tested {
  endpoint: string
  result: AttemptResult
  trace: ExchangeTrace
  /** The text that an endpoint without HTTP requests gets. undefined: not known. */
  content: string | undefined
  /** Whether the caller may see bodies. */
  showsBodies: boolean
}

/** The answer to `/test`: the request, the answer and the times, if the endpoint's kind has them. */
function testAnswer(tested: Tested): Answer {
  const { result, trace, showsBodies } = tested
  const { isReused, ...parts } = trace.timings()
  const totalMs = Math.round(result.durationMs)
  return {
    ...shownResult(result),
    stage: (result.kind === 'failure' && result.stage) || null,
    bodies: showsBodies ? 'shown' : 'withheld',
    request: requestView(tested),
    answer: answerView(result, showsBodies),
    timings: { connectionReused: isReused, ...parts, totalMs },
  }
}

/** The part of the answer that logs have too. */
export function shownResult(result: AttemptResult): Pick<Answer, 'statusCode' | 'durationMs' | 'error'> {
  const durationMs = Math.round(result.durationMs)
  if (result.kind !== 'response') return { statusCode: null, durationMs, error: failureText(result) }
  return { statusCode: result.statusCode, durationMs }
}

function requestView({ endpoint, trace, content, showsBodies }: Tested): Answer['request'] {
  const { request, isSent } = trace
  const body = request?.body ?? content
  const bytes = body === undefined ? undefined : Buffer.from(body)
  return {
    method: request?.method ?? null,
    url: request?.url ?? redactEndpoint(endpoint),
    headers: request?.headers ?? {},
    body: showsBodies && bytes ? withoutTokens(bytes.toString('utf8', 0, TESTED_BODY_BYTES_MAX)) : null,
    bodyBytes: bytes?.length ?? null,
    sent: request ? isSent : null,
  }
}

function answerView(result: AttemptResult, showsBodies: boolean): Answer['answer'] {
  if (result.kind !== 'response' || !result.answer) return null
  const body = result.answer.body()
  return {
    headers: shownHeaders(result.answer.headers),
    body: (showsBodies ? body : undefined) ?? null,
    bodyWithheld: showsBodies ? (body === undefined ? 'address' : null) : 'scope',
  }
}
