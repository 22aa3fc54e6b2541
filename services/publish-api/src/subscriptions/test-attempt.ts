/** One attempt outside the lane, to see what an endpoint answers: nothing is retried, counted or dead-lettered. */
import {
  type AttemptResult,
  createMessageId,
  FantailError,
  isFifoName,
  type Message,
  type SubscriptionRecord,
  type TopicRecord,
} from '@fantail/contracts'
import {
  compileEnvelope,
  compileTarget,
  queueBody,
  renderBody,
  renderHeaders,
  signatureVersionOf,
  unlockTarget,
} from '@fantail/delivery'
import { effectivePolicy } from '@fantail/policy'
import type { ApiDeps } from '../deps.ts'

export interface TestAttempt {
  record: SubscriptionRecord
  topic: TopicRecord
  publicUrl: string
}

export interface TestResult {
  /** null where there was no answer. */
  statusCode: number | null
  durationMs: number
  error?: string
}

type Tools = Pick<ApiDeps, 'sender' | 'queues' | 'signing' | 'vault' | 'clock'>

export async function attemptOnce(
  deps: Tools,
  { record, topic, publicUrl }: TestAttempt,
): Promise<TestResult> {
  const publishedAt = deps.clock()
  const messageId = createMessageId(publishedAt)
  const message: Message = {
    messageId,
    topicArn: record.topicArn,
    publishedAt,
    subject: 'Fantail test',
    message: 'This is a test of your subscription. Nothing was published.',
    publicUrl,
    // Of no meaning to anything but a FIFO queue, which takes nothing without.
    ...(isFifoName(record.endpoint) && { groupId: record.id, deduplicationId: messageId }),
  }
  const target = compileTarget(record, effectivePolicy(topic, record))
  const envelope = compileEnvelope(message, undefined, signatureVersionOf(topic))
  await deps.signing.prepare(envelope, target)
  if (record.protocol === 'sqs') return appendOnce(deps, record, queueBody(envelope, target, record.endpoint))
  const locked = unlockTarget(target, deps.vault)
  if (locked !== undefined) return { statusCode: null, durationMs: 0, error: `secrets: ${locked}` }
  const { url, route } = target
  const body = renderBody(envelope, target)
  const headers = renderHeaders(envelope, target)
  try {
    const signed = { messageId, now: publishedAt, body }
    headers.push(...(target.webhook?.headers(signed, deps.vault) ?? []))
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown'
    return { statusCode: null, durationMs: 0, error: `secrets: it cannot be signed: ${why}` }
  }
  return toResult(await deps.sender.attempt({ url, route, headers, body }))
}

function toResult(result: AttemptResult): TestResult {
  const durationMs = Math.round(result.durationMs)
  if (result.kind === 'failure')
    return { statusCode: null, durationMs, error: `${result.error}: ${result.detail}` }
  return { statusCode: result.statusCode, durationMs }
}

/** An append that succeeds counts as 200, the status that SQS would answer. */
async function appendOnce(
  { queues }: Tools,
  { endpoint }: SubscriptionRecord,
  item: ReturnType<typeof queueBody>,
): Promise<TestResult> {
  const startedAt = performance.now()
  const elapsed = () => Math.round(performance.now() - startedAt)
  try {
    await queues.send(endpoint, [item])
    return { statusCode: 200, durationMs: elapsed() }
  } catch (error) {
    if (!(error instanceof FantailError) || error.code !== 'not_found') throw error
    return { statusCode: null, durationMs: elapsed(), error: `queue_missing: no queue ${endpoint}` }
  }
}
