/** One attempt outside the lane, to see what an endpoint answers: nothing is retried, counted or dead-lettered. */
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
import { effectivePolicy } from '@fantail/policy'
import { deliveryItemId } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps.ts'

interface TestAttempt {
  record: SubscriptionRecord
  topic: TopicRecord
  publicUrl: string
  given: z.output<typeof TestInput>
}

interface TestResult {
  /** null where there was no answer. */
  statusCode: number | null
  durationMs: number
  error?: string
}

type Tools = Pick<ApiDeps, 'sender' | 'queues' | 'signing' | 'vault' | 'clock' | 'settings'>

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
    // Only a FIFO queue reads them, and it accepts no message without them.
    ...(isFifoName(record.endpoint) && { groupId: record.id, deduplicationId: messageId }),
  }
  return attemptMessage(deps, { record, topic, message })
}

/** One request outside the lane. */
export async function attemptMessage(
  deps: Tools,
  { record, topic, message }: Pick<TestAttempt, 'record' | 'topic'> & { message: Message },
): Promise<TestResult> {
  const target = compileTarget(record, effectivePolicy(topic, record))
  const envelope = compileEnvelope(message, undefined, signatureVersionOf(topic))
  return toResult(await attempt(deps, { record, target, envelope }))
}

const TEST_SUBJECT = 'Fantail test'
/** JSON, since receivers that verify Standard Webhooks parse what they have verified. */
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

/** Made like a delivery's attempt. */
async function attempt(deps: Tools, { record, target, envelope }: Attempt): Promise<AttemptResult> {
  const { queues, sender, signing, vault, clock, settings } = deps
  try {
    await signing.prepare(envelope, target)
  } catch (error) {
    return unsignedFailure(error)
  }
  // A separate admission check, with the queue's present settings.
  const appends = new QueueAppends({ queues, admission: new QueueAdmission({ queues }) })
  const attempters = createAttempters({
    sender,
    vault,
    clock,
    userAgent: settings.userAgent,
    appends,
    itemIdOf: deliveryItemId,
  })
  const { promise, resolve } = Promise.withResolvers<AttemptResult>()
  attempters[record.protocol].attempt({ target, envelope, delivery: undefined }, resolve)
  return promise
}

function toResult(result: AttemptResult): TestResult {
  const durationMs = Math.round(result.durationMs)
  if (result.kind === 'failure')
    return { statusCode: null, durationMs, error: `${result.error}: ${result.detail}` }
  return { statusCode: result.statusCode, durationMs }
}
