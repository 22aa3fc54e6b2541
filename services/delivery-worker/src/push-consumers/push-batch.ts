/** One batch, pushed and settled: the request, what its answer comes to, the deletion of what is done. */
import {
  type AttemptResult,
  type ConsumerRecord,
  FantailError,
  isFifoName,
  type QueueMessage,
} from '@fantail/contracts'
import {
  compileRoute,
  type HttpRequest,
  type HttpSender,
  openConsumer,
  QUEUE_EVENT_HEADERS,
  renderQueueEvent,
  secretsFailure,
} from '@fantail/delivery'
import { createBackoff, type Logger } from '@fantail/runtime'
import type { Queues } from '@fantail/store'
import { type Spans, traceparentOf } from '@fantail/telemetry'
import type { Vault } from '@fantail/vault'
import { endSpan } from '../attempts/attempt-span.ts'
import { type BatchOutcome, judgeBatch } from './batch-answer.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'

/**
 * @limit Answer that is read for batch item failures. Past it: the answer cannot be read and the whole batch has
 * failed.
 */
const RESPONSE_BYTES_MAX = 262_144
/** @limit Messages that one request deletes. Past it: a further one follows. */
const ACK_MAX = 100

export interface PushTools {
  queues: Pick<Queues, 'ack'>
  sender: Pick<HttpSender, 'send'>
  metrics: ConsumerMetrics
  /** Opens the secrets of endpoints; undefined: there is no master key. */
  vault: Pick<Vault, 'open'> | undefined
  spans: Pick<Spans, 'on' | 'start'>
  log: Logger
}

interface PushedBatch {
  record: ConsumerRecord
  batch: string
  messages: readonly QueueMessage[]
  /** By performance.now(): afterwards others may have the messages. */
  hiddenUntil: number
  /** Aborted when the process stops: the request is cut short, and what cannot be written now is not. */
  signal: AbortSignal
}

/** Whether the endpoint did its part for anything in the batch; never rejects. */
export async function pushBatch(tools: PushTools, pushed: PushedBatch): Promise<boolean> {
  const { record, messages } = pushed
  const result = await post(tools, pushed)
  const outcome = judgeBatch({
    result,
    messages,
    reportsFailures: record.reportBatchItemFailures,
    inOrder: isFifoName(record.queueArn),
  })
  const deleted = await deleteAll(tools, pushed, outcome.done)
  report(tools, pushed, { result, outcome, deleted })
  return outcome.done.length > 0
}

/** By the record, of which every change makes another. */
const WAYS = new WeakMap<ConsumerRecord, Way>()

/** The URL with its credentials, and how it is reached. */
type Way = Pick<HttpRequest, 'url' | 'route' | 'memo'>

/** If it cannot be read, the reason becomes the attempt's result. */
function wayOf(record: ConsumerRecord, vault: PushTools['vault']): Way | AttemptResult {
  const known = WAYS.get(record)
  if (known !== undefined) return known
  try {
    const { url, ...options } = openConsumer(record, vault)
    const way: Way = { url, route: compileRoute(options), memo: {} }
    WAYS.set(record, way)
    return way
  } catch (error) {
    return secretsFailure(`its secrets cannot be used: ${error instanceof Error ? error.message : 'unknown'}`)
  }
}

async function post(
  { sender, spans, vault }: PushTools,
  { record, messages, signal }: PushedBatch,
): Promise<AttemptResult> {
  const way = wayOf(record, vault)
  if ('kind' in way) return way
  const attributes = { 'fantail.queue': record.queueArn, 'fantail.consumer': record.name }
  const span = spans.on ? spans.start('attempt', { attributes }) : undefined
  const traceparent = span && traceparentOf(span)
  const request = {
    ...way,
    headers: traceparent ? [...QUEUE_EVENT_HEADERS, 'traceparent', traceparent] : QUEUE_EVENT_HEADERS,
    body: renderQueueEvent(record.queueArn, messages),
    timeoutMs: record.timeoutSeconds * 1_000,
    signal,
    ...(record.reportBatchItemFailures && { responseBytesMax: RESPONSE_BYTES_MAX }),
  }
  return new Promise((resolve) => {
    sender.send(request, (result) => {
      if (span) endSpan(span, result)
      resolve(result)
    })
  })
}

/** How many are deleted. While Redis is away it goes on trying, until others may have the messages. */
async function deleteAll(
  { queues, log }: PushTools,
  { record, hiddenUntil, signal }: PushedBatch,
  done: readonly QueueMessage[],
): Promise<number> {
  const backoff = createBackoff()
  let deleted = 0
  for (let at = 0; at < done.length; ) {
    const handles = done.slice(at, at + ACK_MAX).map(({ receiptHandle = '' }) => receiptHandle)
    try {
      const results = await queues.ack(record.queueArn, handles, { newestOnly: true })
      deleted += results.filter(({ ok }) => ok).length
      at += ACK_MAX
    } catch (error) {
      // A queue that is deleted holds nothing any more.
      if (error instanceof FantailError && error.code === 'not_found') return deleted
      if (signal.aborted || performance.now() > hiddenUntil) {
        log.warn({ queueArn: record.queueArn, consumer: record.name, err: error }, 'consumer.delete_given_up')
        return deleted
      }
      await new Promise((resolve) => setTimeout(resolve, backoff.nextMs()))
    }
  }
  return deleted
}

interface Told {
  result: AttemptResult
  outcome: BatchOutcome
  deleted: number
}

function report({ metrics, log }: PushTools, { record, batch, messages }: PushedBatch, told: Told): void {
  const { result, outcome, deleted } = told
  metrics.pushed(record, { messages: messages.length, deleted, durationMs: result.durationMs })
  if (!log.isLevelEnabled('info')) return
  log.info(
    {
      queueArn: record.queueArn,
      consumer: record.name,
      batch,
      messages: messages.length,
      deleted,
      ...(result.kind === 'response' && { statusCode: result.statusCode }),
      ...(outcome.failure !== null && { failure: outcome.failure }),
      durationMs: Math.round(result.durationMs),
    },
    'consumer.pushed',
  )
}
