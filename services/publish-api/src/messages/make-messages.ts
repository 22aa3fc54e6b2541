/** Makes messages in their stored form: the publisher's input, an id, the time, and details of the request. */
import { createMessageId, type Message } from '@fantail/contracts'
import { spanContextOf, traceparentOf } from '@fantail/telemetry'
import type { KnownTopic } from '../caches/topic-cache.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { GivenMessage } from './read-messages.ts'

interface PublishRequest {
  topic: KnownTopic
  /** Base of the links in envelopes. */
  publicUrl: string
  /** W3C trace context, as the caller gave it. */
  traceparent?: string | undefined
  /** X-Amzn-Trace-Id. */
  traceHeader?: string | undefined
}

export function makeMessages(
  deps: Pick<ApiDeps, 'clock' | 'spans'>,
  given: GivenMessage[],
  request: PublishRequest,
): Message[] {
  const { topic, publicUrl, traceHeader } = request
  const { arn: topicArn, fifo } = topic.record
  const publishedAt = deps.clock()
  const traceparent = traceOf(deps, request.traceparent)
  return given.map((message) => {
    const messageId = createMessageId(publishedAt)
    const result: Message = { messageId, topicArn, publishedAt, ...message, publicUrl }
    // A FIFO topic's log belongs to one topic anyway.
    if (!fifo) result.topicUid = topic.uid
    if (traceparent !== undefined) result.traceparent = traceparent
    if (traceHeader !== undefined) result.traceHeader = traceHeader
    return result
  })
}

/** The caller's trace. If spans are recorded, a span of this process continues it. */
function traceOf({ spans }: Pick<ApiDeps, 'spans'>, given: string | undefined): string | undefined {
  if (!spans.on) return given !== undefined && spanContextOf(given) ? given : undefined
  const span = spans.start('publish', { traceparent: given })
  span.end()
  return traceparentOf(span)
}
