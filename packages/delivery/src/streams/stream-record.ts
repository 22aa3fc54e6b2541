/**
 * The record of a message in a stream: SNS's envelope in one line, without a signature, or the bare text. A line feed
 * ends each record, so that a reader of the stream's objects can separate them.
 * https://docs.aws.amazon.com/sns/latest/dg/firehose-message-formats.html
 */
import { isResent, type MessageAttribute, shownIdOf } from '@fantail/contracts'
import { type Envelope, linkOf, publishedIso, textFor } from '../envelope/envelope.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import { failure } from '../http/attempt-failure.ts'
import type { PutResults, StreamRecord, StreamSink } from './stream-sink.ts'

export function renderStreamRecord(
  envelope: Envelope,
  target: EndpointTarget,
  delivery?: Buffer | undefined,
): Buffer {
  const { message, kind } = envelope
  const { text } = textFor(envelope, target.protocol)
  if (target.raw) return Buffer.from(`${text}\n`)
  const { attributes = {} } = message
  const record = {
    Type: kind,
    MessageId: shownIdOf(message),
    TopicArn: message.topicArn,
    Subject: message.subject,
    Message: text,
    Timestamp: publishedIso(message),
    UnsubscribeURL: linkOf(envelope, target),
    MessageAttributes: Object.keys(attributes).length === 0 ? undefined : shown(attributes),
    Replayed: isResent(delivery) || undefined,
  }
  return Buffer.from(`${JSON.stringify(record)}\n`)
}

function shown(attributes: Record<string, MessageAttribute>): object {
  const entries = Object.entries(attributes).map(([name, { type, value }]) => {
    return [name, { Type: type, Value: value }] as const
  })
  return Object.fromEntries(entries)
}

/**
 * Writes records to a sink. If a record is larger than the sink allows, it fails permanently, and the other records are
 * written. Never rejects.
 */
export async function putRecords(
  sink: StreamSink,
  records: readonly StreamRecord[],
  timeoutMs: number,
): Promise<PutResults> {
  const { recordBytesMax } = sink
  const fitting = records.filter(({ data }) => data.length <= recordBytesMax)
  const results = fitting.length === 0 ? [] : await sink.put(fitting, timeoutMs)
  const resultOf = new Map(fitting.map((record, i) => [record, results[i]]))
  return records.map((record) => {
    const { length } = record.data
    const detail = `the record has ${length} bytes, and the stream takes ${recordBytesMax}`
    if (length > recordBytesMax) return failure('invalid_record', detail, 0, true)
    return resultOf.get(record) ?? failure('invalid_response', 'the sink has no result for the record', 0)
  })
}
