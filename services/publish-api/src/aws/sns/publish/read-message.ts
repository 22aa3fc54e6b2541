/** Reads a message of Publish or PublishBatch (checklist 117 to 121, 130). Errors have SNS's texts. */
import type { AwsError, AwsInput } from '@fantail/aws-wire'
import { FantailError, fifoIdProblem, objectOf, subjectProblem } from '@fantail/contracts'
import type { KnownTopic } from '../../../caches/topic-cache.ts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import type { Finding } from '../../../event-types/event-type-checks.ts'
import { admit } from '../../../messages/admit.ts'
import type { GivenMessage } from '../../../messages/read-messages.ts'
import { invalidParameter, noSuchTopic } from '../wire/sns-parameters.ts'
import { MESSAGE_ATTRIBUTES, type ReadAttributes } from './sns-message-attributes.ts'

/** Members that both operations have. */
export const MESSAGE_SHAPE = {
  Message: 'string',
  Subject: 'string',
  MessageStructure: 'string',
  MessageAttributes: MESSAGE_ATTRIBUTES,
  MessageDeduplicationId: 'string',
  MessageGroupId: 'string',
} as const

export interface ReadMessage {
  message: GivenMessage
  /** Bytes of text and attributes. */
  bytes: number
}

/** Reads a message, with the checks that need nothing but the message. Its structure is checked apart. */
export function readMessage(input: AwsInput, { attributes, bytes }: ReadAttributes): ReadMessage {
  const { Subject: subject, MessageStructure: structure } = input
  const text = String(input.Message ?? '')
  if (subject !== undefined && subjectProblem(String(subject)) !== undefined) {
    throw invalidParameter('Subject')
  }
  if (text === '') throw invalidParameter('Empty message')
  const message: GivenMessage = { message: text }
  if (subject !== undefined) message.subject = String(subject)
  if (attributes !== undefined) message.attributes = attributes
  if (structure === 'json') message.structure = 'json'
  if (input.MessageGroupId !== undefined) message.groupId = String(input.MessageGroupId)
  if (input.MessageDeduplicationId !== undefined) {
    message.deduplicationId = String(input.MessageDeduplicationId)
  }
  return { message, bytes: Buffer.byteLength(text) + bytes }
}

/**
 * Checks a text for protocols. Throws if it is not marked as one, cannot be read or has no default. `instead`: keys of
 * texts for protocols. If one of them is present, `default` may be missing.
 */
export function checkStructure(
  { MessageStructure: structure, Message: message }: AwsInput,
  instead: readonly string[] = [],
): void {
  if (structure === undefined) return
  if (structure !== 'json') throw invalidParameter('MessageStructure')
  const texts = objectOf(String(message ?? ''))
  if (!texts) throw invalidParameter('Message Structure - JSON message body failed to parse')
  const isThere = (key: string) => Object.hasOwn(texts, key) && typeof texts[key] === 'string'
  if (!['default', ...instead].some(isThere)) {
    throw invalidParameter('Message Structure - No default entry in JSON message body')
  }
}

/** Checks a message's group and deduplication id against the kind of topic. */
export function checkOrdering({ record }: KnownTopic, input: AwsInput): void {
  const { MessageGroupId: groupId, MessageDeduplicationId: deduplicationId } = input
  if (record.fifo) {
    if (groupId === undefined) {
      throw invalidParameter('The MessageGroupId parameter is required for FIFO topics')
    }
    if (deduplicationId === undefined && !record.contentBasedDeduplication) {
      throw invalidParameter(
        'The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
      )
    }
  } else if (deduplicationId !== undefined) {
    throw notForThis()
  }
  checkId('MessageGroupId', groupId)
  checkId('MessageDeduplicationId', deduplicationId)
}

/** Checks the ids of a message that is published to no topic. A group has no effect there. */
export function checkGroup({
  MessageGroupId: groupId,
  MessageDeduplicationId: deduplicationId,
}: AwsInput): void {
  if (deduplicationId !== undefined) throw notForThis()
  checkId('MessageGroupId', groupId)
}

/** The refusal of a message that does not fit the catalogue of its topic. */
export function misfit({ path, message }: Finding): AwsError {
  const parameter = path === 'message' ? 'Message' : 'MessageAttributes'
  return invalidParameter(`${parameter} Reason: ${path} ${message}`)
}

function notForThis() {
  return invalidParameter(
    'MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for this topic type',
  )
}

function checkId(name: string, id: unknown): void {
  if (id === undefined || fifoIdProblem(String(id)) === undefined) return
  throw invalidParameter(
    `${name} Reason: ${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
  )
}

/**
 * The topic of a publish over the AWS protocols. The topic, if there is capacity for a message. Throws `NotFound` if
 * there is no such topic.
 */
export function knownTopic(deps: ApiDeps, topicArn: string): Promise<KnownTopic> {
  return ofTopic(async () => admit(deps, topicArn))
}

/** Returns the result of `work`. Throws `NotFound` if it finds no topic. */
export async function ofTopic<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FantailError && error.code === 'not_found') throw noSuchTopic()
    throw error
  }
}
