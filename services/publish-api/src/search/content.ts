/** The content of a message in lists and searches: its event type, and a line of what it says. */
import { isObject, jsonOf, type Message, type MessageAttribute, type QueueMessage } from '@fantail/contracts'
import { contentLine, printable, textFinder } from '@fantail/policy'

/** The String attribute with the event type of a message. */
const EVENT_TYPE = 'eventType'
/** Characters of an event type in a list. Past it: it is not shown. */
const EVENT_TYPE_CHARS_MAX = 256
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
  const eventType = eventTypeOf(attributes)
  return { eventType: eventType === null ? null : printable(eventType), line: contentLine(message) }
}

function eventTypeOf(attributes: Record<string, MessageAttribute> = {}): string | null {
  const { type, value = '' } = attributes[EVENT_TYPE] ?? {}
  return type === 'String' && value.length <= EVENT_TYPE_CHARS_MAX ? value : null
}

/** An item of a queue says what was published, without the envelope. */
export function contentOfItem({ deadLetter, body, attributes }: QueueMessage): Content {
  if (deadLetter) return contentOf(deadLetter.message)
  const envelope = body.length <= ENVELOPE_CHARS_MAX && body.startsWith('{') ? jsonOf(body) : undefined
  if (!isObject(envelope) || envelope.Type !== 'Notification' || typeof envelope.Message !== 'string')
    return contentOf({ message: body, attributes })
  return contentOf({ message: envelope.Message, attributes: wrappedType(envelope.MessageAttributes) })
}

/** The event type among the attributes of an envelope. */
function wrappedType(attributes: unknown): Record<string, MessageAttribute> {
  const given = isObject(attributes) ? attributes[EVENT_TYPE] : undefined
  if (!isObject(given) || given.Type !== 'String' || typeof given.Value !== 'string') return {}
  return { [EVENT_TYPE]: { type: given.Type, value: given.Value } }
}

interface Wanted {
  text?: string | undefined
  /** A name such as `order.paid`, a pattern such as `order.*`, or `*`. */
  eventType?: string | undefined
}

/** Makes a search for messages of a type that say a text. It gives undefined for a message that does not fit. */
export function contentFinder({ text, eventType }: Wanted): (message: Said) => FoundContent | undefined {
  const find = text === undefined ? undefined : textFinder(text)
  return (message) => {
    if (eventType !== undefined && !isOfType(eventTypeOf(message.attributes), eventType)) return undefined
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

function isOfType(type: string | null, pattern: string): boolean {
  if (type === null) return false
  if (pattern === '*') return true
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern
}
