/**
 * Makes the message that an edited redrive sends. It is a new message with a new id, so a receiver that has seen the
 * old one does not drop it. The old id is sent as an attribute, and to webhooks also as a header.
 */
import {
  createMessageId,
  type DeadLetter,
  EDITED_FROM_ATTRIBUTE,
  FantailError,
  isObject,
  jsonOf,
  type Message,
  type MessageAttribute,
  messageBytes,
  QUEUE_MESSAGE_ATTRIBUTES_MAX,
  type QueueMessage,
  type RedriveEdit,
  structureProblem,
  UNSENDABLE_TEXT,
  unsendable,
  unsendableAttribute,
} from '@fantail/contracts'

interface Changes {
  message?: string | undefined
  attributes?: Record<string, MessageAttribute> | undefined
}

/** The text that a caller edits: the published text, or the body of a message that is no dead letter. */
export function textOf({ deadLetter, body }: QueueMessage): string {
  return deadLetter?.message.message ?? body
}

/** Throws `validation_failed` if the new text does not fit the message's structure. */
export function editOf(item: QueueMessage, changes: Changes, now: number): RedriveEdit {
  const { deadLetter, messageId: itemId } = item
  if (!deadLetter) {
    const attributes = withOrigin(changes.attributes ?? item.attributes, itemId)
    return { itemId, body: changes.message ?? item.body, attributes }
  }
  const message = editedMessage(deadLetter, changes, now)
  const isWrapped = wrappedIn(item.body, deadLetter) !== undefined
  const attributes = isWrapped ? {} : (message.attributes ?? {})
  return { itemId, body: rewrapped(item.body, deadLetter, message), attributes, message }
}

function editedMessage({ message, messageId }: DeadLetter, changes: Changes, now: number): Message {
  const text = changes.message ?? message.message
  const problem = message.structure === 'json' ? structureProblem(text) : undefined
  if (problem !== undefined) throw FantailError.invalid('message', problem)
  return {
    ...message,
    messageId: createMessageId(now),
    publishedAt: now,
    message: text,
    attributes: withOrigin(changes.attributes ?? message.attributes ?? {}, messageId),
    editedFrom: messageId,
  }
}

function withOrigin(attributes: Record<string, MessageAttribute>, from: string) {
  return { ...attributes, [EDITED_FROM_ATTRIBUTE]: { type: 'String', value: from } }
}

/** SNS's envelope, if the dead letter has one around its message. */
function wrappedIn(body: string, { messageId }: DeadLetter): Record<string, unknown> | undefined {
  const value = jsonOf(body)
  return isObject(value) && value.Type === 'Notification' && value.MessageId === messageId ? value : undefined
}

/** The body of the letter with the new message. A signature of the old one would be wrong, so it is left out. */
function rewrapped(body: string, letter: DeadLetter, message: Message): string {
  const envelope = wrappedIn(body, letter)
  if (envelope === undefined) return message.message
  const { Signature: _, SignatureVersion: __, SigningCertURL: ___, ...rest } = envelope
  const attributes = Object.entries(message.attributes ?? {}).map(([name, { type, value }]) => [
    name,
    { Type: type, Value: value },
  ])
  const changed = {
    ...rest,
    MessageId: message.messageId,
    Message: message.message,
    Timestamp: new Date(message.publishedAt).toISOString(),
    MessageAttributes: Object.fromEntries(attributes),
  }
  return JSON.stringify(changed, null, 2)
}

/** Throws `too_large` if text and attributes have more bytes together. */
export function checkBytes(
  text: string,
  attributes: Record<string, MessageAttribute> | undefined,
  bytesMax: number,
): void {
  if (messageBytes(text, attributes) <= bytesMax) return
  const message = `and its attributes must have at most ${bytesMax} bytes together`
  throw new FantailError('too_large', `message ${message}`, { details: [{ path: 'message', message }] })
}

/** Throws `validation_failed` if no queue takes the text, or the attributes. One attribute is the old id. */
export function checkSendable(text: string, attributes: Record<string, MessageAttribute> = {}): void {
  if (unsendable(text)) throw FantailError.invalid('message', UNSENDABLE_TEXT)
  for (const [name, attribute] of Object.entries(attributes)) {
    if (unsendableAttribute(attribute)) throw FantailError.invalid(`attributes.${name}`, UNSENDABLE_TEXT)
  }
  if (Object.keys(attributes).length <= QUEUE_MESSAGE_ATTRIBUTES_MAX) return
  const most = QUEUE_MESSAGE_ATTRIBUTES_MAX - 1
  throw FantailError.invalid(
    'attributes',
    `must be at most ${most}: a queue takes ${most + 1}, and ${EDITED_FROM_ATTRIBUTE} is one of them`,
  )
}
