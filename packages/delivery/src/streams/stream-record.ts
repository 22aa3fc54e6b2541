/**
 * The record of a message in a stream: SNS's envelope in one line, without a signature, or the bare text. A line feed
 * ends each record, so that a reader of the stream's objects can separate them.
 * https://docs.aws.amazon.com/sns/latest/dg/firehose-message-formats.html
 */
import type { MessageAttribute } from '@fantail/contracts'
import { type Envelope, linkOf, publishedIso, textFor } from '../envelope/envelope.ts'
import type { Target } from '../envelope/target.ts'

export function renderStreamRecord(envelope: Envelope, target: Target): Buffer {
  const { message, kind } = envelope
  const { text } = textFor(envelope, target.protocol)
  if (target.raw) return Buffer.from(`${text}\n`)
  const { attributes = {} } = message
  const record = {
    Type: kind,
    MessageId: message.messageId,
    TopicArn: message.topicArn,
    Subject: message.subject,
    Message: text,
    Timestamp: publishedIso(message),
    UnsubscribeURL: linkOf(envelope, target),
    MessageAttributes: Object.keys(attributes).length === 0 ? undefined : shown(attributes),
  }
  return Buffer.from(`${JSON.stringify(record)}\n`)
}

function shown(attributes: Record<string, MessageAttribute>): object {
  const entries = Object.entries(attributes).map(([name, { type, value }]) => {
    return [name, { Type: type, Value: value }] as const
  })
  return Object.fromEntries(entries)
}
