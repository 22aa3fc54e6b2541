/** Shapes that several operations share. `flat` has the names of the Query protocol. */
import type { ListShape, MapShape, Shape, StructShape } from '@fantail/aws-wire'

const VALUE: StructShape = {
  struct: {
    StringValue: 'string',
    BinaryValue: 'blob',
    // SQS has lists in its model only. They are read so that they can be refused.
    StringListValues: { list: 'string', flat: 'StringListValue' },
    BinaryListValues: { list: 'blob', flat: 'BinaryListValue' },
    DataType: 'string',
  },
}
const NAMED = { key: 'Name', value: 'Value' }

/** Shapes of messages, and of batches of messages. `flat` has the names of the Query protocol. */
export const MESSAGE_ATTRIBUTES: MapShape = { map: VALUE, entry: NAMED, flat: 'MessageAttribute' }
const MESSAGE_SYSTEM_ATTRIBUTES: MapShape = { map: VALUE, entry: NAMED, flat: 'MessageSystemAttribute' }

/** A message to send, alone or as an entry of a batch. */
export const SENT_MESSAGE: Record<string, Shape> = {
  MessageBody: 'string',
  DelaySeconds: 'integer',
  MessageAttributes: MESSAGE_ATTRIBUTES,
  MessageSystemAttributes: MESSAGE_SYSTEM_ATTRIBUTES,
  MessageDeduplicationId: 'string',
  MessageGroupId: 'string',
}

export const SENT_RESULT: Record<string, Shape> = {
  MD5OfMessageBody: 'string',
  MD5OfMessageAttributes: 'string',
  MD5OfMessageSystemAttributes: 'string',
  MessageId: 'string',
  SequenceNumber: 'string',
}

/** `SendMessageBatch`: an entry is a `SendMessageBatchRequestEntry`, and its result a `SendMessageBatchResultEntry`. */
export function batchShapes(
  operation: string,
  entry: Record<string, Shape>,
  result: Record<string, Shape>,
): { input: Record<string, Shape>; output: Record<string, Shape> } {
  const list = (struct: Record<string, Shape>, flat: string): ListShape => ({ list: { struct }, flat })
  const failure: Record<string, Shape> = {
    Id: 'string',
    SenderFault: 'boolean',
    Code: 'string',
    Message: 'string',
  }
  return {
    input: { QueueUrl: 'string', Entries: list({ Id: 'string', ...entry }, `${operation}RequestEntry`) },
    output: {
      Successful: list({ Id: 'string', ...result }, `${operation}ResultEntry`),
      Failed: list(failure, 'BatchResultErrorEntry'),
    },
  }
}

export const ATTRIBUTES: MapShape = {
  map: 'string',
  entry: { key: 'Name', value: 'Value' },
  flat: 'Attribute',
}

export const TAGS: MapShape = { map: 'string', entry: { key: 'Key', value: 'Value' }, flat: 'Tag' }
