/**
 * Makes the request for one message and one endpoint: its secrets are opened, its body is rendered, and it is signed.
 * Deliveries and tests of a subscription use this code, so a test shows what a delivery would do.
 */
import {
  type AttemptResult,
  eventTypeOf,
  eventTypeProblem,
  isResent,
  type Message,
  shownIdOf,
} from '@fantail/contracts'
import type { HttpRequest } from '../http/http-request.ts'
import type { Sealing } from '../outbound/outbound-secrets.ts'
import { unopenedSecrets } from '../outbound/unopened-secrets.ts'
import { type Envelope, isJsonBody, renderBody, replayedBody, textFor } from './envelope.ts'
import { type EndpointTarget, openTarget } from './target.ts'

export interface AttemptRequestOptions {
  /** Opens secrets. undefined: there is no master key. */
  vault: Pick<Sealing, 'open'> | undefined
  /** Returns epoch ms, for the timestamp of a signed request. */
  clock: () => number
  /** The trace context of the attempt's own span. */
  traceparent?: string | undefined
  /** User agent of requests to native subscriptions (FANTAIL_USER_AGENT); default: SNS's. */
  userAgent?: string | undefined
  /** The id of the delivery. A resent one says so. Undefined in a test. */
  delivery?: Buffer | undefined
}

type AttemptRequest = Pick<HttpRequest, 'url' | 'route' | 'memo' | 'body'> & { headers: string[] }

/**
 * The request. If it cannot be made, the result of the attempt says why, and nothing is sent unsigned. The envelope's
 * own signature has been prepared (EnvelopeSigning).
 */
export function renderRequest(
  envelope: Envelope,
  target: EndpointTarget,
  { vault, clock, traceparent, userAgent, delivery }: AttemptRequestOptions,
): AttemptRequest | AttemptResult {
  if (target.secrets !== undefined) {
    try {
      openTarget(target, vault)
    } catch (error) {
      return unopenedSecrets(error, target.subscriptionArn)
    }
  }
  const { url, memo, route, webhook } = target
  const headers = renderHeaders(envelope, target, { traceparent, userAgent })
  let body = renderBody(envelope, target)
  if (isResent(delivery)) {
    headers.push('x-fantail-replayed', 'true')
    if (!target.raw) body = replayedBody(body)
  }
  if (webhook !== undefined) {
    try {
      const messageId = shownIdOf(envelope.message)
      headers.push(...webhook.headers({ messageId, now: clock(), body }, vault))
    } catch (error) {
      return unopenedSecrets(error, target.subscriptionArn)
    }
  }
  return { url, route, memo, headers, body }
}

/** The result of an attempt whose envelope could not be signed. This failure does not count against the endpoint. */
export function unsignedFailure(error: unknown): AttemptResult {
  const detail = `could not be signed: ${error instanceof Error ? error.message : String(error)}`
  return { kind: 'failure', error: 'storage', detail, durationMs: 0, permanent: false }
}

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

/**
 * Request headers by kind of message (checklist 40 to 46), as the flat array that undici takes. The HTTP client adds
 * Host, Content-Length and Connection.
 */
export function renderHeaders(
  envelope: Envelope,
  target: EndpointTarget,
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
    shownIdOf(message),
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
  if (notification && target.raw)
    headers.push('x-amz-sns-rawdelivery', 'true', ...typeHeader(message, target))
  if (editedFrom !== undefined) headers.push('x-fantail-edited-from', editedFrom)
  if (trace !== undefined) headers.push('traceparent', trace)
  return headers
}

/**
 * A bare body says its event type in a header, except in requests of SNS's form. An attribute that is no such name may
 * have characters of any kind.
 */
function typeHeader({ attributes }: Message, { isNative }: EndpointTarget): string[] {
  const type = isNative ? eventTypeOf(attributes) : undefined
  return type === undefined || eventTypeProblem(type) !== undefined ? [] : ['x-fantail-event-type', type]
}

function contentTypeOf(envelope: Envelope, target: EndpointTarget): string {
  if (envelope.kind !== 'Notification') return target.isNative ? JSON_CONTENT_TYPE : CONFIRMATION_CONTENT_TYPE
  if (!target.saysWhatIsJson) return target.contentType
  return isJsonBody(textFor(envelope, target.protocol)) ? JSON_CONTENT_TYPE : target.contentType
}

/** The headers that nearly all requests have. An array literal of known length is allocated once. */
function plainHeaders(message: Message, target: EndpointTarget, agent: string): string[] {
  return [
    'x-amz-sns-message-type',
    'Notification',
    'x-amz-sns-message-id',
    shownIdOf(message),
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
