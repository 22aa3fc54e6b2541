/**
 * The event with which SNS invokes functions. Its members differ from the envelope of other endpoints: `Url` instead of
 * `URL`, `Subject` and `MessageAttributes` are always there, and attributes of all types but Binary are Strings.
 * https://docs.aws.amazon.com/lambda/latest/dg/with-sns.html
 */
import { isResent, type MessageAttribute, shownIdOf } from '@fantail/contracts'
import { type Envelope, linkOf, publishedIso, textFor } from '../envelope/envelope.ts'
import type { EndpointTarget } from '../envelope/target.ts'

/**
 * The signature members in events of unsigned topics. They are empty texts, because readers in typed languages need
 * these members.
 */
const UNSIGNED = { version: '', value: '', certificateUrl: '' }

/** Throws if the topic signs and the signature has not been made (`EnvelopeSigning`). */
export function renderSnsEvent(
  envelope: Envelope,
  target: EndpointTarget,
  delivery?: Buffer | undefined,
): string {
  const { message, kind, signatureVersion } = envelope
  const { protocol, subscriptionArn } = target
  const { text, signature } = textFor(envelope, protocol)
  if (signatureVersion !== undefined && !signature) throw new Error('the message is not signed yet')
  const { version, value, certificateUrl } = signature ?? UNSIGNED
  const Sns = {
    Type: kind,
    MessageId: shownIdOf(message),
    TopicArn: message.topicArn,
    Subject: message.subject ?? null,
    Message: text,
    Timestamp: publishedIso(message),
    SignatureVersion: version,
    Signature: value,
    SigningCertUrl: certificateUrl,
    UnsubscribeUrl: linkOf(envelope, target),
    MessageAttributes: attributesOf(message.attributes ?? {}),
    ...(isResent(delivery) && { Replayed: true }),
  }
  const record = { EventSource: 'aws:sns', EventVersion: '1.0', EventSubscriptionArn: subscriptionArn, Sns }
  return JSON.stringify({ Records: [record] })
}

function attributesOf(attributes: Record<string, MessageAttribute>): object {
  const entries = Object.entries(attributes).map(([name, { type, value }]) => {
    const Type = type.startsWith('Binary') ? 'Binary' : 'String'
    return [name, { Type, Value: value }] as const
  })
  return Object.fromEntries(entries)
}
