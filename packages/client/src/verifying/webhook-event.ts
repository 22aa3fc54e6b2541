/** The event that a webhook has received, from the envelope or from a raw delivery. */
import type { Confirmation, Notification } from '../generated/index.ts'
import { VerifyError } from './received-request.ts'

export interface WebhookEvent {
  type: 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'
  /** The same at every attempt. Ignore a message whose id you have seen. */
  messageId: string
  /** undefined for a raw delivery, which signs only its id, its time and the message. */
  topicArn: string | undefined
  subject: string | undefined
  /** The published text. It is JSON if an object was published. */
  message: string
  /** Attributes by name. undefined for a raw delivery. */
  attributes: Record<string, { type: string; value: string }> | undefined
  /** The URL that confirms a subscription. Only confirmation requests have it. */
  subscribeUrl: string | undefined
  token: string | undefined
  /** undefined for a raw delivery. */
  envelope: Notification | Confirmation | undefined
}

export function rawEvent(message: string, messageId: string): WebhookEvent {
  return {
    type: 'Notification',
    messageId,
    message,
    topicArn: undefined,
    subject: undefined,
    attributes: undefined,
    subscribeUrl: undefined,
    token: undefined,
    envelope: undefined,
  }
}

const TYPES = new Set<unknown>(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'])

export function parseEnvelope(text: string): Notification | Confirmation {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new VerifyError('wrong_body', 'the body is not JSON', cause)
  }
  const { Type, MessageId, Message } = (value ?? {}) as Record<string, unknown>
  if (!TYPES.has(Type) || typeof MessageId !== 'string' || typeof Message !== 'string') {
    throw new VerifyError('wrong_body', 'the body is not an envelope of SNS')
  }
  return value as Notification | Confirmation
}

/** The members of both kinds. */
interface Envelope {
  Type: WebhookEvent['type']
  MessageId: string
  TopicArn: string
  Message: string
  Subject?: string
  MessageAttributes?: Record<string, { Type: string; Value: string }>
  SubscribeURL?: string
  Token?: string
}

export function eventOf(envelope: Notification | Confirmation): WebhookEvent {
  const { Type, MessageId, TopicArn, Message, ...others } = envelope as Envelope
  const attributes = Object.entries(others.MessageAttributes ?? {}).map(
    ([name, { Type: type, Value: value }]) => [name, { type, value }] as const,
  )
  return {
    type: Type,
    messageId: MessageId,
    topicArn: TopicArn,
    subject: others.Subject,
    message: Message,
    attributes: Object.fromEntries(attributes),
    subscribeUrl: others.SubscribeURL,
    token: others.Token,
    envelope,
  }
}
