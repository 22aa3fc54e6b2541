/**
 * Reads one message to send, alone or in a batch. It is checked by SQS's rules (checklist 182, 185, 215, 219) and
 * becomes an item of the queue.
 */
import type { AwsCall, AwsError, AwsInput } from '@fantail/aws-wire'
import {
  isSealing,
  parseArn,
  QUEUE_DELAY_SECONDS_MAX,
  QUEUE_MESSAGE_BYTES_MAX,
  type QueueRecord,
  unsendableCharacter,
} from '@fantail/contracts'
import { md5OfAttributes, md5OfBody } from '@fantail/delivery'
import type { SendItem } from '@fantail/store'
import { invalidParameterValue, invalidValue, missingParameter, sqsError } from '../wire/sqs-error.ts'
import { attributeBytes, readAttributes } from './sqs-message-attributes.ts'

export interface SentMessage {
  item: SendItem
  /** Members of the answer that depend only on the message. */
  digests: Record<string, string | undefined>
}

/** The characters of XML 1.0. */
const ALLOWED_CHARACTERS = '#x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]'
const ID = /^[\x21-\x7e]{1,128}$/
const NOT_FOR_THIS_QUEUE = 'The request include parameter that is not valid for this queue type.'

/** The beginning of refusals of long messages. For an entry of a batch the recorded text differs. */
const TOO_LONG = 'One or more parameters are invalid.'
export const ENTRY_TOO_LONG = 'One or more parameters cannot be validated.'

interface Reading {
  queue: QueueRecord
  call: AwsCall
  tooLong?: string
}

/** Throws the refusal. */
export function readMessage(input: AwsInput, { queue, call, tooLong = TOO_LONG }: Reading): SentMessage {
  const body = readBody(input)
  const { attributes, bytes } = readAttributes(input.MessageAttributes)
  const bytesMax = queue.maximumMessageBytes ?? QUEUE_MESSAGE_BYTES_MAX
  if (Buffer.byteLength(body) + bytes > bytesMax) {
    throw invalidParameterValue(`${tooLong} Reason: Message must be shorter than ${bytesMax} bytes.`)
  }
  const trace = readTraceHeader(input.MessageSystemAttributes)
  const traceHeader = trace ?? call.traceHeader
  return {
    item: {
      body,
      attributes,
      ...readDelay(input, queue),
      ...readOrder(input, queue),
      ...(traceHeader !== undefined && { traceHeader }),
      ...(parseArn(queue.arn)?.account !== call.account && { senderId: call.account }),
      ...(isSealing(queue) && { sealed: true }),
    },
    digests: {
      MD5OfMessageBody: md5OfBody(body),
      MD5OfMessageAttributes: md5OfAttributes(attributes),
      MD5OfMessageSystemAttributes:
        trace && md5OfAttributes({ AWSTraceHeader: { type: 'String', value: trace } }),
    },
  }
}

/** Bytes of a message that count against a batch. */
export function sentBytes({ MessageBody, MessageAttributes }: AwsInput): number {
  return Buffer.byteLength(String(MessageBody ?? '')) + attributeBytes(MessageAttributes)
}

/** The error for a FIFO message without group or deduplication id. One such entry refuses the whole batch. */
export function missingOrder(input: AwsInput, queue: QueueRecord): AwsError | undefined {
  if (!queue.fifo) return undefined
  if (!input.MessageGroupId) return missingParameter('MessageGroupId')
  return input.MessageDeduplicationId !== undefined || queue.contentBasedDeduplication
    ? undefined
    : missingDeduplicationId()
}

export function missingDeduplicationId(): AwsError {
  const text =
    'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly'
  return invalidParameterValue(text)
}

function readBody({ MessageBody: body }: AwsInput): string {
  if (typeof body !== 'string' || body === '') throw missingParameter('MessageBody')
  const refused = unsendableCharacter(body)
  if (refused === undefined) return body
  throw sqsError(
    'InvalidMessageContents',
    `Invalid binary character '${refused}' was found in the message body, the set of allowed characters is ${ALLOWED_CHARACTERS}.`,
  )
}

function readDelay({ DelaySeconds: delay }: AwsInput, queue: QueueRecord): Pick<SendItem, 'delaySeconds'> {
  if (typeof delay !== 'number') return {}
  if (delay < 0 || delay > QUEUE_DELAY_SECONDS_MAX) {
    throw invalidValue('DelaySeconds', delay, `DelaySeconds must be >= 0 and <= ${QUEUE_DELAY_SECONDS_MAX}.`)
  }
  if (!queue.fifo) return { delaySeconds: delay }
  if (delay > 0) throw invalidValue('DelaySeconds', delay, NOT_FOR_THIS_QUEUE)
  return {}
}

/** Group and deduplication id. A standard queue only passes a group on. */
function readOrder(input: AwsInput, queue: QueueRecord): Pick<SendItem, 'groupId' | 'deduplicationId'> {
  const missing = missingOrder(input, queue)
  if (missing) throw missing
  const groupId = readId(input, 'MessageGroupId')
  const deduplicationId = readId(input, 'MessageDeduplicationId')
  if (!queue.fifo && deduplicationId !== undefined) {
    throw invalidValue('MessageDeduplicationId', deduplicationId, NOT_FOR_THIS_QUEUE)
  }
  return {
    ...(groupId !== undefined && { groupId }),
    ...(deduplicationId !== undefined && { deduplicationId }),
  }
}

/** Reads the id of a group, a message (for deduplication) or a receive attempt. */
export function readId(input: AwsInput, parameter: string): string | undefined {
  const id = input[parameter]
  if (typeof id !== 'string') return undefined
  if (ID.test(id)) return id
  const reason = 'can only include alphanumeric and punctuation characters. 1 to 128 in length.'
  throw invalidValue(parameter, id, `${parameter} ${reason}`)
}

/** The only system attribute that can be sent. */
function readTraceHeader(given: unknown): string | undefined {
  const entries = Object.entries((given ?? {}) as Record<string, { DataType?: string; StringValue?: string }>)
  for (const [name, { DataType: type, StringValue: value }] of entries) {
    if (name !== 'AWSTraceHeader') {
      const text = `Message system attribute '${name}' is invalid. The only one that can be sent is AWSTraceHeader.`
      throw invalidParameterValue(text)
    }
    if (type !== 'String' || !value || unsendableCharacter(value) !== undefined) {
      const text =
        "Message system attribute 'AWSTraceHeader' must contain a non-empty value of type 'String'."
      throw invalidParameterValue(text)
    }
    return value
  }
  return undefined
}
