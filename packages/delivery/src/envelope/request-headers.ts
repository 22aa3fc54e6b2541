/**
 * Request headers by kind of message (checklist 40 to 46), as the flat array that undici takes. Host, Content-Length
 * and Connection are the client's.
 */
import type { Message } from '@fantail/contracts'
import type { Envelope } from './envelope.ts'
import type { Target } from './target.ts'

const USER_AGENT = 'Amazon Simple Notification Service Agent'
/** The content type of both confirmations. No policy changes it (checklist 45). */
const CONFIRMATION_CONTENT_TYPE = 'text/plain; charset=UTF-8'

/** `traceparent` names the attempt's own span where there is one; without it, the publisher's is passed on. */
export function renderHeaders(envelope: Envelope, target: Target, traceparent?: string): string[] {
  const { kind, message } = envelope
  const notification = kind === 'Notification'
  const trace = traceparent ?? message.traceparent
  if (notification && !target.raw && trace === undefined) return plainHeaders(message, target)
  const headers = [
    'x-amz-sns-message-type',
    kind,
    'x-amz-sns-message-id',
    message.messageId,
    'x-amz-sns-topic-arn',
    message.topicArn,
    'Content-Type',
    notification ? target.contentType : CONFIRMATION_CONTENT_TYPE,
    'User-Agent',
    USER_AGENT,
    'Accept-Encoding',
    'gzip,deflate',
  ]
  if (kind !== 'SubscriptionConfirmation') headers.push('x-amz-sns-subscription-arn', target.subscriptionArn)
  if (notification && target.raw) headers.push('x-amz-sns-rawdelivery', 'true')
  if (trace !== undefined) headers.push('traceparent', trace)
  return headers
}

/** The headers that nearly all requests have. An array literal of known length is allocated once. */
function plainHeaders(message: Message, target: Target): string[] {
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
    USER_AGENT,
    'Accept-Encoding',
    'gzip,deflate',
  ]
}
