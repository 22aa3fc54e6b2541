/**
 * Publishes a message of SNS at Fantail, under the id that SNS has given to it. Publishing it again changes nothing,
 * because the id is also the key of the request. SNS and SQS may hand over a message several times.
 */
import { type Client, getMessage, type MessageInput, publish } from '@fantail/client/api'
import { isObject, objectOf } from '@fantail/contracts'
import { ApiRefusal } from '../../../output/exit-codes.ts'

export interface SnsMessage {
  messageId: string
  topicArn: string | undefined
  subject: string | undefined
  message: string
  attributes: Record<string, { type: string; value: string }> | undefined
}

/** The message in an envelope of SNS. Undefined: the text is no such envelope, as with raw delivery. */
export function readEnvelope(text: string): SnsMessage | undefined {
  const { Type, MessageId, TopicArn, Subject, Message, MessageAttributes } = objectOf(text) ?? {}
  if (Type !== 'Notification' || typeof MessageId !== 'string' || typeof Message !== 'string')
    return undefined
  const given = Object.entries(isObject(MessageAttributes) ? MessageAttributes : {})
  const attributes = given.map(([name, attribute]) => {
    const { Type: type, Value: value } = isObject(attribute) ? attribute : {}
    return [name, { type: String(type), value: String(value) }] as const
  })
  return {
    messageId: MessageId,
    topicArn: String(TopicArn),
    subject: typeof Subject === 'string' ? Subject : undefined,
    message: Message,
    attributes: Object.fromEntries(attributes),
  }
}

/**
 * copied: it was published. repeated: it had been published before, so nothing was stored. own: this Fantail has
 * published it to this topic first. A message that goes round in a circle is therefore copied at most once.
 */
export type Copied = 'copied' | 'repeated' | 'own'

export interface Destination {
  client: Client
  /** ARN. */
  topic: string
  /** The message's group. FIFO topics need one. */
  groupId?: string | undefined
}

export async function copyMessage(
  { messageId, subject, message, attributes = {} }: SnsMessage,
  { client, topic, groupId }: Destination,
): Promise<Copied> {
  if (await isOwn(client, messageId, topic)) return 'own'
  const body: MessageInput = {
    message,
    ...(subject && { subject }),
    attributes,
    sourceId: messageId,
    ...(groupId !== undefined && { groupId }),
    ...(topic.endsWith('.fifo') && { deduplicationId: messageId }),
  }
  const headers = { 'Idempotency-Key': messageId }
  // The generated function answers the body alone, unless it is told otherwise.
  const request = { client, path: { topic }, body, headers, responseStyle: 'fields' }
  const answer: unknown = await publish(request as Parameters<typeof publish>[0])
  const { response } = answer as { response: Response }
  return response.headers.get('idempotent-replayed') === 'true' ? 'repeated' : 'copied'
}

/** Ids of SNS are of another version than Fantail's, so only a message of a Fantail costs this request. */
const VERSION_AT = 14
const OWN_VERSION = '7'

async function isOwn(client: Client, messageId: string, topic: string): Promise<boolean> {
  if (messageId[VERSION_AT] !== OWN_VERSION) return false
  try {
    const { topicArn } = await getMessage({ client, path: { messageId } })
    return topicArn === topic
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 404) return false
    throw error
  }
}
