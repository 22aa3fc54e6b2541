/**
 * Request headers by kind of message (sns-semantics §2.1), as the flat array that undici takes. Host, Content-Length and
 * Connection are the client's.
 */
import type { Envelope } from './envelope.ts'
import type { Target } from './target.ts'

export const USER_AGENT = 'Amazon Simple Notification Service Agent'
/** Of both confirmations, whatever a policy says (§1.9). */
export const CONFIRMATION_CONTENT_TYPE = 'text/plain; charset=UTF-8'

/** `traceparent` names the attempt's own span where there is one; without it, the publisher's is passed on. */
export function renderHeaders(envelope: Envelope, target: Target, traceparent?: string): string[] {
  const { kind, message } = envelope
  const notification = kind === 'Notification'
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
  const trace = traceparent ?? message.traceparent
  if (trace !== undefined) headers.push('traceparent', trace)
  return headers
}
