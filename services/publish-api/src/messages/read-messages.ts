/**
 * Reads the body of a publish as messages. Throughput depends on publishing, so valid shapes are read by hand. For all
 * other bodies the zod schema lists every problem.
 */
import {
  attributeNameProblem,
  attributeProblem,
  BATCH_MESSAGES_MAX,
  countValues,
  EVENT_TYPE_ATTRIBUTE,
  EVENT_TYPE_ATTRIBUTES,
  EVENT_TYPE_VERSION_ATTRIBUTE,
  EVENT_TYPE_VERSION_MAX,
  eventTypeProblem,
  FantailError,
  fifoIdProblem,
  isObject,
  MESSAGE_BYTES_MAX,
  type MessageAttribute,
  messageBytes,
  type Problem,
  parseMessageId,
  problemsOf,
  REQUEST_VALUES_MAX,
  reservedValueProblem,
  structureProblem,
  subjectProblem,
  textProblem,
  toAttribute,
} from '@fantail/contracts'
import { BatchInput, MessageInput } from '@fantail/contracts/schemas/messages/message-schemas'
import { invalid } from '../http/error-answers.ts'
import { parseJson } from '../http/read-input.ts'
import { mayLoseDigits, WrittenValue } from './exact-numbers.ts'

export interface GivenMessage {
  message: string
  subject?: string
  attributes?: Record<string, MessageAttribute>
  structure?: 'json'
  groupId?: string
  deduplicationId?: string
  sourceId?: string
}

export interface GivenMessages {
  /** The body was `{messages: […]}`, so the answer is `{results: […]}`. */
  batch: boolean
  messages: GivenMessage[]
  /** The sum of the bytes of texts and attributes. */
  bytes: number
}

/** The messages of a JSON body. Throws `malformed_json`, `validation_failed` or `too_large`. */
export function readMessages(text: string): GivenMessages {
  const value = parseJson(text, Number.POSITIVE_INFINITY)
  // Each value takes at least two characters. All values of the body are even more than those around messages, so this
  // throws.
  if (text.length > 2 * REQUEST_VALUES_MAX && hasManyAround(entriesOf(value))) parseJson(text)
  const written = hasNumbers(value) && mayLoseDigits(text) ? new WrittenValue(text) : undefined
  return parse(value, written) ?? refuse(value)
}

/**
 * Whether a value may contain a number outside of texts. Texts are stored as they are, and searching them for digits
 * would be expensive.
 */
function hasNumbers(value: unknown): boolean {
  if (!isObject(value)) return false
  const { messages } = value
  return Array.isArray(messages) ? !messages.every(isText) : !isText(value)
}

function isText(value: unknown): boolean {
  return isObject(value) && typeof value.message === 'string' && value.attributes === undefined
}

interface RawMembers {
  subject?: string | undefined
  eventType?: string | undefined
}

/** The whole body as one message, with any content. */
export function readRaw(text: string, { subject, eventType }: RawMembers): GivenMessages {
  const problem = textProblem(text)
  if (problem !== undefined) throw FantailError.invalid('message', problem)
  const message: GivenMessage = subject === undefined ? { message: text } : { message: text, subject }
  if (eventType !== undefined) message.attributes = { [EVENT_TYPE_ATTRIBUTE]: textAttribute(eventType) }
  const bytes = messageBytes(text, message.attributes)
  if (bytes > MESSAGE_BYTES_MAX) throw tooLarge([sizeProblem('message')])
  return { batch: false, messages: [message], bytes }
}

/** `written`: the value in its text. Absent if all of its numbers can be written again. */
function parse(value: unknown, written: WrittenValue | undefined): GivenMessages | undefined {
  if (!isObject(value)) return undefined
  if (!('messages' in value)) {
    const message = takeMessage(value, written)
    const bytes = message === undefined ? 0 : messageBytes(message.message, message.attributes)
    if (message === undefined || bytes > MESSAGE_BYTES_MAX) return undefined
    return { batch: false, messages: [message], bytes }
  }
  return Object.keys(value).length === 1 ? takeBatch(value.messages, written) : undefined
}

function takeBatch(values: unknown, written: WrittenValue | undefined): GivenMessages | undefined {
  if (!Array.isArray(values)) return undefined
  if (values.length === 0 || values.length > BATCH_MESSAGES_MAX) return undefined
  const elements = written?.member('messages')?.elements
  const messages: GivenMessage[] = []
  let bytes = 0
  for (let i = 0; i < values.length; i++) {
    const message = takeMessage(values[i], elements?.[i])
    if (message === undefined) return undefined
    const size = messageBytes(message.message, message.attributes)
    if (size > MESSAGE_BYTES_MAX) return undefined
    bytes += size
    messages.push(message)
  }
  return { batch: true, messages, bytes }
}

const MEMBERS = new Set([
  'message',
  'subject',
  'attributes',
  'structure',
  'groupId',
  'deduplicationId',
  'sourceId',
  ...EVENT_TYPE_ATTRIBUTES,
])

/** A message that is valid except perhaps for its size. */
function takeMessage(value: unknown, written?: WrittenValue): GivenMessage | undefined {
  if (!isObject(value)) return undefined
  for (const name in value) if (!MEMBERS.has(name)) return undefined
  const { subject, structure, groupId, deduplicationId, sourceId } = value
  const message = messageText(value.message, written)
  if (message === undefined || textProblem(message) !== undefined) return undefined
  const result: GivenMessage = { message }
  if (subject !== undefined) {
    if (typeof subject !== 'string' || subjectProblem(subject) !== undefined) return undefined
    result.subject = subject
  }
  if (structure !== undefined) {
    if (structure !== 'json' || structureProblem(message) !== undefined) return undefined
    result.structure = structure
  }
  if (value.attributes !== undefined) {
    const attributes = takeAttributes(value.attributes, written)
    if (attributes === undefined) return undefined
    result.attributes = attributes
  }
  if (value.eventType !== undefined || value.eventTypeVersion !== undefined)
    if (!takeType(result, value)) return undefined
  if (groupId !== undefined) {
    if (typeof groupId !== 'string' || fifoIdProblem(groupId) !== undefined) return undefined
    result.groupId = groupId
  }
  if (deduplicationId !== undefined) {
    if (typeof deduplicationId !== 'string' || fifoIdProblem(deduplicationId) !== undefined) return undefined
    result.deduplicationId = deduplicationId
  }
  if (sourceId !== undefined) {
    if (typeof sourceId !== 'string' || parseMessageId(sourceId) === undefined) return undefined
    result.sourceId = sourceId
  }
  return result
}

/** Adds the attributes that the members become. False: a member is wrong. */
function takeType(
  message: GivenMessage,
  { eventType, eventTypeVersion: version }: Record<string, unknown>,
): boolean {
  const attributes = { ...message.attributes }
  if (EVENT_TYPE_ATTRIBUTES.some((name) => Object.hasOwn(attributes, name))) return false
  if (eventType !== undefined) {
    if (typeof eventType !== 'string' || eventTypeProblem(eventType) !== undefined) return false
    attributes[EVENT_TYPE_ATTRIBUTE] = textAttribute(eventType)
  }
  if (version !== undefined) {
    if (!Number.isInteger(version) || Number(version) < 1 || Number(version) > EVENT_TYPE_VERSION_MAX)
      return false
    attributes[EVENT_TYPE_VERSION_ATTRIBUTE] = { type: 'Number', value: String(version) }
  }
  message.attributes = attributes
  return true
}

function textAttribute(value: string): MessageAttribute {
  return { type: 'String', value }
}

function messageText(value: unknown, written: WrittenValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return undefined
  return written?.member('message')?.text ?? JSON.stringify(value)
}

function takeAttributes(
  value: unknown,
  written: WrittenValue | undefined,
): Record<string, MessageAttribute> | undefined {
  if (!isObject(value)) return undefined
  const sources = written?.member('attributes')
  const attributes: Record<string, MessageAttribute> = {}
  for (const name of Object.keys(value)) {
    const attribute = toAttribute(value[name])
    if (attribute === undefined || attributeNameProblem(name) !== undefined) return undefined
    if (attributeProblem(attribute) !== undefined) return undefined
    if (reservedValueProblem(name, attribute) !== undefined) return undefined
    const source = typeof value[name] === 'number' ? sources?.member(name)?.text : undefined
    attributes[name] = source === undefined ? attribute : { ...attribute, value: source }
  }
  return attributes
}

/** Throws the problems of a body that `take` did not accept. */
function refuse(value: unknown): never {
  const batch = isObject(value) && 'messages' in value
  const entries = entriesOf(value)
  const pathTo = (index: number) => (batch ? `messages[${index}].` : '')
  const result = (batch ? BatchInput : MessageInput).safeParse(value)
  const problems = result.success ? [] : problemsOf(result.error)
  const sizes = entries.flatMap((entry, index) => {
    const message = takeMessage(entry)
    if (message === undefined || messageBytes(message.message, message.attributes) <= MESSAGE_BYTES_MAX)
      return []
    return [sizeProblem(`${pathTo(index)}message`)]
  })
  if (problems.length === 0 && sizes.length > 0) throw tooLarge(sizes)
  throw invalid([...problems, ...sizes])
}

function entriesOf(value: unknown): unknown[] {
  if (!isObject(value) || !('messages' in value)) return [value]
  return Array.isArray(value.messages) ? value.messages : []
}

/** Whether a body has too many values outside of its messages. No check looks at each value of a message. */
function hasManyAround(entries: unknown[]): boolean {
  let values = 0
  for (const entry of entries) {
    values++
    if (!isObject(entry)) continue
    for (const name in entry) {
      const value = name === 'message' ? null : entry[name]
      values += typeof value === 'object' && value !== null ? countValues(JSON.stringify(value)) : 1
      if (values > REQUEST_VALUES_MAX) return true
    }
  }
  return values > REQUEST_VALUES_MAX
}

function sizeProblem(path: string): Problem {
  return { path, message: `and its attributes must have at most ${MESSAGE_BYTES_MAX} bytes together` }
}

function tooLarge(details: Problem[]): FantailError {
  const [first] = details
  return new FantailError('too_large', `${first?.path} ${first?.message}`, { details })
}
