/** Pushes and settles one batch: makes the request, reads its answer, and deletes the messages that are done. */
import {
  type AttemptResult,
  FantailError,
  isFifoName,
  type PushConsumerRecord,
  parseArn,
  type QueueMessage,
} from '@fantail/contracts'
import { renderQueueEvent } from '@fantail/delivery'
import { createBackoff, type Logger } from '@fantail/runtime'
import type { Queues } from '@fantail/store'
import { type Metrics, type Spans, traceparentOf } from '@fantail/telemetry'
import { endSpan } from '../attempts/attempt-outcome.ts'
import { type BatchOutcome, judgeBatch } from './batch-answer.ts'
import { type BatchReply, type RequestTools, requestBatch } from './push-request.ts'

/** Messages that one request to Redis deletes. Past it: a further request follows. */
const ACK_MAX = 100

export interface BatchTools extends RequestTools {
  queues: Pick<Queues, 'ack'>
  metrics: PushConsumerMetrics
  spans: Pick<Spans, 'on' | 'start'>
  log: Logger
}

interface PushedBatch {
  record: PushConsumerRecord
  batch: string
  messages: readonly QueueMessage[]
  /** Until this time, by performance.now(), no other receiver gets the messages. */
  hiddenUntil: number
  /** Aborted when the process stops. The request then ends early, and failed writes are not repeated. */
  signal: AbortSignal
}

/**
 * accepted: any message of the batch. misconfigured: the service's own configuration keeps requests from the endpoint.
 */
type BatchEnd = 'accepted' | 'failed' | 'misconfigured'

/** Never rejects. */
export async function pushBatch(tools: BatchTools, pushed: PushedBatch): Promise<BatchEnd> {
  const { record, messages } = pushed
  const { result, failure } = await request(tools, pushed)
  const outcome = judgeBatch({
    result,
    failure,
    messages,
    reportsFailures: record.reportBatchItemFailures,
    inOrder: isFifoName(record.queueArn),
  })
  const deleted = await deleteAll(tools, pushed, outcome.done)
  report(tools, pushed, { result, outcome, deleted })
  if (result.kind === 'misconfigured') return 'misconfigured'
  return outcome.done.length > 0 ? 'accepted' : 'failed'
}

async function request(tools: BatchTools, { record, messages, signal }: PushedBatch): Promise<BatchReply> {
  const { spans } = tools
  const attributes = { 'fantail.queue': record.queueArn, 'fantail.push_consumer': record.name }
  const span = spans.on ? spans.start('attempt', { attributes }) : undefined
  const traceparent = span && traceparentOf(span)
  const body = renderQueueEvent(record.queueArn, messages)
  const reply = await requestBatch(tools, { record, body, traceparent, signal })
  if (span) endSpan(span, reply.result)
  return reply
}

/**
 * Deletes messages and returns how many. While Redis is unreachable it tries again, until others may have the messages.
 */
async function deleteAll(
  { queues, log }: BatchTools,
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
      // The queue was deleted, and its messages with it.
      if (error instanceof FantailError && error.code === 'not_found') return deleted
      if (signal.aborted || performance.now() > hiddenUntil) {
        log.warn(
          { queueArn: record.queueArn, consumer: record.name, err: error },
          'push_consumer.delete_failed',
        )
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

function report({ metrics, log }: BatchTools, { record, batch, messages }: PushedBatch, told: Told): void {
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
    'push_consumer.pushed',
  )
}

interface PushedCounts {
  messages: number
  deleted: number
  durationMs: number
}

interface PushConsumerMetrics {
  /** One request has ended and is settled. */
  pushed(record: PushConsumerRecord, counts: PushedCounts): void
}

export function createPushConsumerMetrics(metrics: Metrics): PushConsumerMetrics {
  return {
    pushed({ queueArn, name: consumer }, { messages, deleted, durationMs }) {
      const queue = parseArn(queueArn)?.name ?? queueArn
      const result = deleted === messages ? 'succeeded' : deleted > 0 ? 'partial' : 'failed'
      metrics.pushConsumerRequestSeconds.of({ result }).record(durationMs / 1_000)
      if (deleted > 0) metrics.pushConsumerMessages.of({ queue, consumer, result: 'deleted' }).add(deleted)
      const returned = messages - deleted
      if (returned > 0) metrics.pushConsumerMessages.of({ queue, consumer, result: 'returned' }).add(returned)
    },
  }
}
