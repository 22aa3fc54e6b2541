/**
 * The rules for a message's content (checklist 117 to 125). Each rule is one function from a value to its problem. The
 * publish route calls them directly. The schemas call the same functions to list every problem.
 */
import type { Problem } from '../fantail-error.ts'
import { isObject, jsonOf } from '../json-values.ts'
import { QUEUE_ATTRIBUTE_TYPE_CHARS_MAX, SUBJECT_CHARS_MAX } from '../limits.ts'
import { formatPath } from '../problems.ts'
import type { MessageAttribute, QueueRecord, TopicRecord } from '../records.ts'

const CONTROL = /\p{Cc}/u
const NAME_CHARS = /^[A-Za-z0-9_.-]{1,256}$/
/** SNS itself defines the names of attributes for mobile push and text messages. */
const RESERVED = /^(?!AWS\.SNS\.MOBILE\.|AWS\.SNS\.SMS\.(SenderID|SMSType|MaxPrice)$)(aws|amazon)\./i
export const SMS_SENDER_ID = /^(?=.*[A-Za-z])[A-Za-z0-9-]{3,11}$/
/** The values of names that SNS defines. */
const RESERVED_VALUES: [name: RegExp, value: RegExp, message: string][] = [
  [/^AWS\.SNS\.SMS\.SenderID$/, SMS_SENDER_ID, 'must be 3 to 11 letters, digits or hyphens, with a letter'],
  [/^AWS\.SNS\.SMS\.SMSType$/, /^(Promotional|Transactional)$/, 'must be Promotional or Transactional'],
  [/^AWS\.SNS\.SMS\.MaxPrice$/, /^\d{1,9}(\.\d{1,9})?$/, 'must be a price in USD'],
  [/^AWS\.SNS\.MOBILE\.\w+\.TTL$/, /^\d{1,10}$/, 'must be a whole number of seconds'],
]
const FIFO_ID = /^[\x21-\x7e]{1,128}$/
/** Characters that SQS refuses, because XML 1.0 does not have them (checklist 182). */
const UNSENDABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const TYPE = /^(String|Number|Binary)(\.[A-Za-z0-9_.-]{1,200})?$/
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export function subjectProblem(subject: string): string | undefined {
  if (subject === '') return 'must not be empty; leave it out instead'
  if (subject.length > SUBJECT_CHARS_MAX) return `must have at most ${SUBJECT_CHARS_MAX} characters`
  if (CONTROL.test(subject)) return 'must not hold line breaks or control characters'
  return unicodeProblem(subject)
}

type Sealing =
  | Pick<TopicRecord, 'attributes' | 'sealMessages'>
  | Pick<QueueRecord, 'attributes' | 'sealMessages'>

/** Whether the topic or queue wants its messages sealed. The AWS protocols say so by the name of a key. */
export function isSealing({ sealMessages, attributes }: Sealing): boolean {
  return sealMessages === true || !!attributes.KmsMasterKeyId || attributes.SqsManagedSseEnabled === 'true'
}

export const UNSENDABLE_TEXT = 'must hold only characters that XML 1.0 allows'

/** Whether no queue takes the text, because it holds a character that XML 1.0 does not have. */
export function unsendable(text: string): boolean {
  return UNSENDABLE.test(text)
}

/** The first character because of which no queue takes the text, as `#x1F`. */
export function unsendableCharacter(text: string): string | undefined {
  const [character] = UNSENDABLE.exec(text) ?? []
  return character === undefined ? undefined : `#x${character.codePointAt(0)?.toString(16).toUpperCase()}`
}

/** Whether no queue takes the attribute, because its type says Number and its value is none. */
export function unsendableNumber({ type, value }: MessageAttribute): boolean {
  return type.startsWith('Number') && !NUMBER.test(value)
}

/** Whether no queue takes the attribute's type or value. */
export function unsendableAttribute(attribute: MessageAttribute): boolean {
  const { type, value } = attribute
  if (type.length > QUEUE_ATTRIBUTE_TYPE_CHARS_MAX || unsendable(type)) return true
  return unsendableNumber(attribute) || (!type.startsWith('Binary') && unsendable(value))
}

export function textProblem(text: string): string | undefined {
  return text === '' ? 'must not be empty' : unicodeProblem(text)
}

function unicodeProblem(text: string): string | undefined {
  return text.isWellFormed() ? undefined : 'holds half of a surrogate pair, which is not Unicode text'
}

/** A JSON object with a text under `default` (checklist 120). */
export function structureProblem(text: string): string | undefined {
  const value = jsonOf(text)
  if (value === undefined) return 'must be JSON where structure is "json"'
  const fallback = isObject(value) ? value.default : undefined
  return typeof fallback === 'string'
    ? undefined
    : 'must hold a text under "default" where structure is "json"'
}

/** Checks the characters of a message group id or a deduplication id. */
export function fifoIdProblem(id: string): string | undefined {
  return FIFO_ID.test(id) ? undefined : 'must have 1 to 128 letters, digits or punctuation marks of ASCII'
}

export function attributeNameProblem(name: string): string | undefined {
  if (!NAME_CHARS.test(name)) return 'must be named with 1 to 256 of A-Z a-z 0-9 _ - .'
  if (name.startsWith('.') || name.endsWith('.') || name.includes('..')) {
    return 'must not have a dot at either end of its name or two in a row'
  }
  if (RESERVED.test(name)) return 'must not have a name that begins with AWS. or Amazon.'
  return name === '__proto__' ? 'must have another name' : undefined
}

/** The problem of the value of an attribute whose name SNS defines. */
export function reservedValueProblem(name: string, { value }: MessageAttribute): string | undefined {
  if (!name.startsWith('AWS.')) return undefined
  const rule = RESERVED_VALUES.find(([named, right]) => named.test(name) && !right.test(value))
  return rule?.[2]
}

/** The first problem of a typed attribute. */
export function attributeProblem({ type, value }: MessageAttribute): Problem | undefined {
  if (!TYPE.test(type)) {
    return {
      path: 'type',
      message: 'must be String, Number, Binary, String.Array, or one of these with a .label',
    }
  }
  if (value === '') return { path: 'value', message: 'must not be empty' }
  if (unsendableNumber({ type, value })) return { path: 'value', message: 'must be a number' }
  if (type.startsWith('Binary') && !BASE64.test(value)) return { path: 'value', message: 'must be base64' }
  const message = unicodeProblem(value)
  return message === undefined ? undefined : { path: 'value', message }
}

/** An attribute in its stored form. Undefined if the input has none of the four accepted shapes. */
export function toAttribute(input: unknown): MessageAttribute | undefined {
  if (typeof input === 'string') return { type: 'String', value: input }
  if (typeof input === 'number') return { type: 'Number', value: String(input) }
  if (Array.isArray(input)) {
    return input.every(isText) ? { type: 'String.Array', value: JSON.stringify(input) } : undefined
  }
  if (typeof input !== 'object' || input === null) return undefined
  const { type, value } = input as Record<string, unknown>
  if (typeof type !== 'string' || typeof value !== 'string' || Object.keys(input).length !== 2)
    return undefined
  return { type, value }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Every problem of a message's `attributes`. `path` is the place of `attributes` in the request. */
export function attributesProblems(attributes: unknown, path: PropertyKey[]): Problem[] {
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
    return [{ path: formatPath(path), message: 'must be an object' }]
  }
  return Object.entries(attributes).flatMap(([name, input]) => entryProblems(name, input, [...path, name]))
}

function entryProblems(name: string, input: unknown, path: PropertyKey[]): Problem[] {
  const problems: Problem[] = []
  const nameProblem = attributeNameProblem(name)
  if (nameProblem !== undefined) problems.push({ path: formatPath(path), message: nameProblem })
  const attribute = toAttribute(input)
  if (attribute === undefined) {
    const message = 'must be text, a number, an array of texts, or {type, value} with two texts'
    return [...problems, { path: formatPath(path), message }]
  }
  const reserved = reservedValueProblem(name, attribute)
  const found = attributeProblem(attribute) ?? (reserved && { path: 'value', message: reserved })
  const typed = typeof input === 'object' && !Array.isArray(input)
  if (found) problems.push({ path: formatPath(typed ? [...path, found.path] : path), message: found.message })
  return problems
}

/** The attribute of an edited message with the id of the message that it replaces. */
export const EDITED_FROM_ATTRIBUTE = 'fantail.editedFrom'

/** The bytes that count against a message's limit: its text, and name, type and value of each attribute. */
export function messageBytes(
  message: string,
  attributes: Record<string, MessageAttribute> | undefined,
): number {
  let bytes = Buffer.byteLength(message)
  for (const name in attributes) {
    const attribute = attributes[name]
    if (attribute) bytes += name.length + attribute.type.length + Buffer.byteLength(attribute.value)
  }
  return bytes
}
