/** Makes the request that a webhook subscription would get, from the envelope that the queue holds. */
import { createHmac } from 'node:crypto'
import { printable } from '@fantail/policy'

export interface RequestForm {
  /** Whether the bare message is sent in place of the envelope. */
  raw: boolean
  /** The content type. null: JSON if the body is JSON, otherwise plain text. */
  contentType: string | null
  userAgent: string
  /** ARN of the subscription in the envelope. undefined: that of the queue's own subscription stays. */
  subscriptionArn: string | undefined
  /** The secret (`whsec_…`) that signs requests by Standard Webhooks. undefined: they are not signed. */
  secret: string | undefined
  /** Further headers, by name. They replace headers of the same name. */
  headers: Record<string, string>
}

/** The envelope of a notification, as a queue gets it. */
export interface ListenEnvelope {
  MessageId: string
  TopicArn: string
  Message: string
}

export interface ForwardRequest {
  text: string
  headers: Record<string, string>
}

/** The pattern finds only the member of the envelope, because quotes inside of JSON texts are escaped. */
const UNSUBSCRIBE_ARN = /("UnsubscribeURL" : "[^"]*SubscriptionArn=)[^"]*"/
const TEXT_TYPE = 'text/plain; charset=UTF-8'

export function forwardRequest(body: string, form: RequestForm, now: number): ForwardRequest {
  const envelope = JSON.parse(body) as ListenEnvelope
  const text = form.raw ? envelope.Message : addressed(body, form.subscriptionArn)
  const { raw, contentType, subscriptionArn, userAgent, secret } = form
  const headers = {
    'x-amz-sns-message-type': 'Notification',
    'x-amz-sns-message-id': envelope.MessageId,
    'x-amz-sns-topic-arn': envelope.TopicArn,
    ...(subscriptionArn !== undefined && { 'x-amz-sns-subscription-arn': subscriptionArn }),
    'content-type': contentType ?? (isJson(text) ? 'application/json' : TEXT_TYPE),
    'user-agent': userAgent,
    'accept-encoding': 'gzip,deflate',
    ...(raw && { 'x-amz-sns-rawdelivery': 'true' }),
    ...(secret !== undefined && signature(secret, { id: envelope.MessageId, text, now })),
    ...lowerCased(form.headers),
  }
  return { text, headers: onOneLine(headers) }
}

/** Ids come from the queue's message, which anybody with the right to send may have written. */
function onOneLine(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, printable(value)]))
}

function addressed(body: string, arn: string | undefined): string {
  return arn === undefined ? body : body.replace(UNSUBSCRIBE_ARN, (_, link: string) => `${link}${arn}"`)
}

interface Signed {
  id: string
  text: string
  now: number
}

export function signature(secret: string, { id, text, now }: Signed): Record<string, string> {
  const seconds = String(Math.floor(now / 1_000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const hash = createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${hash}` }
}

/** Whether the text is a JSON object or array. A number or a word counts as text, as for deliveries. */
function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
