/** A received message in SQS's form, with the requested attributes and their digests. */
import type { AwsInput } from '@fantail/aws-wire'
import type { QueueMessage } from '@fantail/contracts'
import { md5OfAttributes, md5OfBody, SYSTEM_ATTRIBUTE_NAMES, systemAttributes } from '@fantail/delivery'
import { isQueueAttribute } from '../queues/queue-attributes.ts'
import { sqsError } from '../wire/sqs-error.ts'
import { attributeValues, selectAttributes } from './sqs-message-attributes.ts'

interface Selection {
  /** Names of system attributes. */
  system: readonly string[]
  /** Names of message attributes, patterns included. */
  message: readonly string[]
}

const SYSTEM_NAMES = new Set(SYSTEM_ATTRIBUTE_NAMES)

/** Throws `InvalidAttributeName` if a system attribute does not exist. */
export function readSelection(input: AwsInput): Selection {
  const asked = [...list(input.AttributeNames), ...list(input.MessageSystemAttributeNames)]
  for (const name of asked) {
    if (name === 'All' || SYSTEM_NAMES.has(name) || isQueueAttribute(name)) continue
    throw sqsError('InvalidAttributeName', `Unknown Attribute ${name}.`)
  }
  const system = asked.includes('All')
    ? SYSTEM_ATTRIBUTE_NAMES
    : asked.filter((name) => SYSTEM_NAMES.has(name))
  return { system, message: list(input.MessageAttributeNames) }
}

function list(names: unknown): string[] {
  return (names ?? []) as string[]
}

/** `owner` is the queue's account. */
export function messageView(message: QueueMessage, selection: Selection, owner: string): object {
  const system = selection.system.length > 0 ? systemAttributes(message, owner, selection.system) : {}
  const selected = selectAttributes(message.attributes, selection.message)
  const digest = md5OfAttributes(selected)
  return {
    MessageId: message.messageId,
    ReceiptHandle: message.receiptHandle,
    MD5OfBody: md5OfBody(message.body),
    Body: message.body,
    ...(Object.keys(system).length > 0 && { Attributes: system }),
    ...(digest !== undefined && {
      MD5OfMessageAttributes: digest,
      MessageAttributes: attributeValues(selected),
    }),
  }
}
