/**
 * Request headers by kind of message (checklist 40 to 46), as the flat array that undici takes. The HTTP client adds
 * Host, Content-Length and Connection.
 */
import type { Message } from '@fantail/contracts'
import { type Envelope, isJsonBody, textFor } from './envelope.ts'
import type { Target } from './target.ts'

const USER_AGENT = 'Amazon Simple Notification Service Agent'
/** The content type of both confirmations. No policy changes it (checklist 45). */
const CONFIRMATION_CONTENT_TYPE = 'text/plain; charset=UTF-8'
const JSON_CONTENT_TYPE = 'application/json'

export interface HeaderOptions {
  /** Names the attempt's own span; without it, the publisher's trace context is passed on. */
  traceparent?: string | undefined
  /** User agent of requests to native subscriptions (FANTAIL_USER_AGENT). */
  userAgent?: string | undefined
}

export function renderHeaders(
  envelope: Envelope,
  target: Target,
  { traceparent, userAgent = USER_AGENT }: HeaderOptions = {},
): string[] {
  const { kind, message } = envelope
  const notification = kind === 'Notification'
  const trace = traceparent ?? message.traceparent
  const agent = target.isNative ? userAgent : USER_AGENT
  const { editedFrom } = message
  if (notification && !target.raw && trace === undefined && editedFrom === undefined)
    return plainHeaders(message, target, agent)
  const headers = [
    'x-amz-sns-message-type',
    kind,
    'x-amz-sns-message-id',
    message.messageId,
    'x-amz-sns-topic-arn',
    message.topicArn,
    'Content-Type',
    contentTypeOf(envelope, target),
    'User-Agent',
    agent,
    'Accept-Encoding',
    'gzip,deflate',
  ]
  if (kind !== 'SubscriptionConfirmation') headers.push('x-amz-sns-subscription-arn', target.subscriptionArn)
  if (notification && target.raw) headers.push('x-amz-sns-rawdelivery', 'true')
  if (editedFrom !== undefined) headers.push('x-fantail-edited-from', editedFrom)
  if (trace !== undefined) headers.push('traceparent', trace)
  return headers
}

function contentTypeOf(envelope: Envelope, target: Target): string {
  if (envelope.kind !== 'Notification') return target.isNative ? JSON_CONTENT_TYPE : CONFIRMATION_CONTENT_TYPE
  if (!target.saysWhatIsJson) return target.contentType
  return isJsonBody(textFor(envelope, target.protocol)) ? JSON_CONTENT_TYPE : target.contentType
}

/** The headers that nearly all requests have. An array literal of known length is allocated once. */
function plainHeaders(message: Message, target: Target, agent: string): string[] {
  return [
    'x-amz-sns-message-type',
    'Notification',
    'x-amz-sns-message-id',
    message.messageId,
    'x-amz-sns-topic-arn',
    message.topicArn,
    'x-amz-sns-subscription-arn',
    target.subscriptionArn,
    'Content-Type',
    target.contentType,
    'User-Agent',
    agent,
    'Accept-Encoding',
    'gzip,deflate',
  ]
}
