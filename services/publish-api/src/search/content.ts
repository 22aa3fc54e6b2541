/** The content of a message in lists and searches: its event type, and a line of what it says. */
import {
  choosesType,
  EVENT_TYPE_ATTRIBUTE,
  eventTypeOf,
  isObject,
  jsonOf,
  type Message,
  type MessageAttribute,
  type QueueMessage,
} from '@fantail/contracts'
import { contentLine, textFinder } from '@fantail/policy'

/** Characters of an item in which the published text is looked for in its envelope. Past it: the item is shown. */
const ENVELOPE_CHARS_MAX = 65_536

export interface Content {
  eventType: string | null
  line: string
}

interface FoundContent extends Content {
  foundIn: 'message' | 'subject' | 'attributes' | null
}

type Said = Pick<Message, 'message' | 'subject' | 'attributes'>

export const NO_CONTENT_SHOWN = { eventType: null, line: null }

export function contentOf({ message, attributes }: Said): Content {
  const type = eventTypeOf(attributes)
  return { eventType: type === undefined ? null : contentLine(type), line: contentLine(message) }
}

export function contentOfItem(item: QueueMessage): Content {
  return contentOf(saidByItem(item))
}

/** An item of a queue says what was published, without the envelope. */
export function saidByItem({ deadLetter, body, attributes }: QueueMessage): Said {
  if (deadLetter) return deadLetter.message
  const envelope = body.length <= ENVELOPE_CHARS_MAX && body.startsWith('{') ? jsonOf(body) : undefined
  if (!isObject(envelope) || envelope.Type !== 'Notification' || typeof envelope.Message !== 'string')
    return { message: body, attributes }
  return { message: envelope.Message, attributes: wrappedType(envelope.MessageAttributes) }
}

/** The event type among the attributes of an envelope. */
function wrappedType(attributes: unknown): Record<string, MessageAttribute> {
  const given = isObject(attributes) ? attributes[EVENT_TYPE_ATTRIBUTE] : undefined
  if (!isObject(given) || given.Type !== 'String' || typeof given.Value !== 'string') return {}
  return { [EVENT_TYPE_ATTRIBUTE]: { type: given.Type, value: given.Value } }
}

interface Wanted {
  text?: string | undefined
  /** A name such as `order.paid`, a pattern such as `order.*`, or `*`. */
  eventType?: string | undefined
}

/** Makes a search for messages of a type that say a text. It gives undefined for a message that does not fit. */
export function contentFinder({ text, eventType }: Wanted): (message: Said) => FoundContent | undefined {
  const find = text === undefined ? undefined : textFinder(text)
  const patterns = eventType === undefined ? undefined : [eventType]
  return (message) => {
    const type = eventTypeOf(message.attributes)
    if (patterns && (type === undefined || !choosesType(patterns, type))) return undefined
    if (!find) return { ...contentOf(message), foundIn: null }
    for (const [foundIn, said] of placesIn(message)) {
      const found = find(said)
      if (found) return { ...contentOf(message), line: contentLine(found.text, found.at), foundIn }
    }
    return undefined
  }
}

function* placesIn({
  message,
  subject,
  attributes = {},
}: Said): Generator<['message' | 'subject' | 'attributes', string]> {
  yield ['message', message]
  if (subject !== undefined) yield ['subject', subject]
  for (const [name, { type, value }] of Object.entries(attributes))
    yield ['attributes', type.startsWith('Binary') ? name : `${name} = ${value}`]
}
