/** Makes one attempt outside the lane, to see an endpoint's answer. Nothing is retried, counted or dead-lettered. */
import {
  type AttemptResult,
  createMessageId,
  isFifoName,
  type Message,
  type SubscriptionRecord,
  type TestInput,
  type TopicRecord,
  toAttribute,
} from '@fantail/contracts'
import {
  type Attempters,
  compileEnvelope,
  compileTarget,
  createAttempters,
  type Envelope,
  QueueAdmission,
  QueueAppends,
  signatureVersionOf,
  type Target,
  unsignedFailure,
} from '@fantail/delivery'
import { effectivePolicy, failureText } from '@fantail/policy'
import { deliveryItemId, openStreamWriter, type Queues } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps.ts'

interface TestAttempt {
  record: SubscriptionRecord
  topic: TopicRecord
  publicUrl: string
  given: z.output<typeof TestInput>
}

interface TestResult {
  /** null if there was no answer. */
  statusCode: number | null
  durationMs: number
  error?: string
}

type AttempterOptions = Omit<Parameters<typeof createAttempters>[0], 'appends' | 'itemIdOf'> & {
  queues: Pick<Queues, 'get' | 'send'>
}

/** The attempters of the worker, but with the present settings of queues. */
export function createTestAttempters({ queues, ...options }: AttempterOptions): Attempters {
  const appends = new QueueAppends({
    queues,
    // An admission check caches a queue's settings. A test must use settings that were changed a moment ago.
    admission: { refusalOf: (...asked) => new QueueAdmission({ queues }).refusalOf(...asked) },
  })
  return createAttempters({ ...options, openStreamWriter, appends, itemIdOf: deliveryItemId })
}

type Tools = Pick<ApiDeps, 'attempters' | 'signing' | 'clock'>

export async function attemptOnce(
  deps: Tools,
  { record, topic, publicUrl, given }: TestAttempt,
): Promise<TestResult> {
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
  return shownResult(await attemptMessage(deps, { record, topic, message }))
}

/** Makes one request outside the lane. */
export async function attemptMessage(
  deps: Tools,
  { record, topic, message }: Pick<TestAttempt, 'record' | 'topic'> & { message: Message },
): Promise<AttemptResult> {
  const target = compileTarget(record, effectivePolicy(topic, record), topic)
  const envelope = compileEnvelope(message, undefined, signatureVersionOf(topic))
  return attempt(deps, { record, target, envelope })
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

interface Attempt {
  record: SubscriptionRecord
  target: Target
  envelope: Envelope
}

/** Makes an attempt in the same way as a delivery. */
async function attempt(deps: Tools, { record, target, envelope }: Attempt): Promise<AttemptResult> {
  const { attempters, signing } = deps
  try {
    await signing.prepare(envelope, target)
  } catch (error) {
    return unsignedFailure(error)
  }
  const { promise, resolve } = Promise.withResolvers<AttemptResult>()
  attempters[record.protocol].attempt({ target, envelope, delivery: undefined }, resolve)
  return promise
}

export function shownResult(result: AttemptResult): TestResult {
  const durationMs = Math.round(result.durationMs)
  if (result.kind !== 'response') return { statusCode: null, durationMs, error: failureText(result) }
  return { statusCode: result.statusCode, durationMs }
}
