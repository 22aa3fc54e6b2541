/**
 * Sealed messages. The API seals a message when it stores it, if its topic wants that. One sealed text then has the
 * text, the subject, the attributes and all other content. Only the members that scripts and routing need stay
 * readable, and the seal covers them. Jobs, lanes, logs, rings and dead letters keep the sealed form. A reader opens it
 * when it needs the content. An opened message remembers its sealed form, which is stored when the message is stored
 * again, so that nobody writes the content back.
 */
import { FantailError, type Message } from '@fantail/contracts'
import { UnreadableRecordError } from './stored-json.ts'

/** The methods of a vault that seal texts of messages (vault: bodies.ts). */
export interface BodySeals {
  /** Whether messages of all topics and queues are sealed. */
  readonly all?: boolean
  /** Throws if there is no key. Afterwards `seal` does not throw. */
  needKey(): void
  /** Throws if there is no key. */
  seal(text: string, context: string): string
  /** Undefined: the text was changed, or it belongs to another owner. Throws if its key is missing. */
  open(sealed: string, context: string): string | undefined
  /** Whether one of these calls threw the error because a key is missing. */
  isKeyError(error: unknown): boolean
}

/** A text cannot be sealed or opened now, because this process lacks the key. */
export class SealKeyError extends FantailError {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super('key_unavailable', `a message cannot be sealed or opened: ${reason}`, {
      cause,
      retryAfterSeconds: RETRY_SECONDS,
    })
    this.name = 'SealKeyError'
  }
}

/** Somebody has to give the key to the process first. */
const RETRY_SECONDS = 10

/**
 * Names the member of an opened message that keeps its sealed form. It cannot be enumerated, so that a changed copy
 * does not get it. With a WeakMap instead, every scavenge would keep the sealed forms of all messages.
 */
const SEALED_FORM = Symbol('sealed form')

/** The message as it is stored. */
export function sealedForm(message: Message & { [SEALED_FORM]?: Message }): Message {
  return message[SEALED_FORM] ?? message
}

/** Whether the message is stored sealed. */
export function isSealed(message: Message): boolean {
  return sealedForm(message).sealed !== undefined
}

/** Throws a SealKeyError. A message that is or was sealed gets the same form. */
export function sealMessage(seals: BodySeals, message: Message): Message {
  if (isSealed(message)) return sealedForm(message)
  const { form, sealed } = sealedNow(seals, message)
  return { ...form, sealed }
}

/**
 * A new message that is sealed when it is stored. Messages of several requests that are stored together are then sealed
 * one after another. This takes two thirds of the time, because the cipher's code stays in the processor's caches.
 */
export class SealedWhenStored {
  readonly #seals: BodySeals
  readonly #message: Message

  /** Throws a SealKeyError. */
  constructor(seals: BodySeals, message: Message) {
    withKey(seals, () => seals.needKey())
    this.#seals = seals
    this.#message = message
  }

  /** The members that stay readable, and the sealed text of all others. */
  seal(): { form: Message; sealed: string } {
    return sealedNow(this.#seals, this.#message)
  }
}

/** The members that stay readable. All others are sealed. */
const READABLE = new Set<keyof Message>([
  'messageId',
  'topicArn',
  'topicUid',
  'publishedAt',
  'kind',
  'groupId',
  'deduplicationId',
  'idempotency',
  'sequenceNumber',
])

/**
 * Seals the message's text after a line with the JSON of all other content. Most texts are JSON themselves, so JSON
 * would have to escape them. A text that UTF-8 cannot encode stays in the JSON, and no line follows.
 */
function sealedNow(seals: BodySeals, message: Message): { form: Message; sealed: string } {
  const isWellFormed = message.message.isWellFormed()
  const form: Partial<Record<keyof Message, unknown>> = {}
  const content: typeof form = {}
  for (const name in message) {
    const key = name as keyof Message
    if (READABLE.has(key)) form[key] = message[key]
    else if (key !== 'message' || !isWellFormed) content[key] = message[key]
  }
  form.message = ''
  const json = JSON.stringify(content)
  const text = isWellFormed ? `${json}\n${message.message}` : json
  return { form: form as Message, sealed: sealText(seals, text, contextOf(message)) }
}

/**
 * The message with its content. A message that is not sealed stays as it is. Throws an UnreadableRecordError if the
 * sealed text was changed or is another message's, and a SealKeyError.
 */
export function openMessage(seals: BodySeals, message: Message): Message {
  if (message.sealed === undefined) return message
  const text = openText(seals, message.sealed, contextOf(message))
  if (text === undefined) throw notItsOwn('a message', JSON.stringify(message))
  const opened = { ...message, sealed: undefined, ...contentOf(text) }
  return Object.defineProperty(opened, SEALED_FORM, { value: message })
}

function contentOf(text: string): Partial<Message> {
  const end = text.indexOf('\n')
  if (end < 0) return JSON.parse(text) as Partial<Message>
  return { ...(JSON.parse(text.slice(0, end)) as Partial<Message>), message: text.slice(end + 1) }
}

/** The sequence number is not covered, because a script gives it after the message was sealed. */
function contextOf(message: Message): string {
  const { messageId, topicArn, publishedAt, topicUid, kind, groupId, deduplicationId, idempotency } = message
  const { key, value } = idempotency ?? {}
  const given = [messageId, topicArn, publishedAt, topicUid, kind, groupId, deduplicationId, key, value]
  // JSON writes an undefined item of a list as null.
  return `message ${JSON.stringify(given)}`
}

/** Throws a SealKeyError. */
export function sealText(seals: BodySeals, text: string, context: string): string {
  return withKey(seals, () => seals.seal(text, context))
}

function withKey<T>(seals: BodySeals, use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw seals.isKeyError(error) ? new SealKeyError(error) : error
  }
}

/** Undefined: the text was changed, or it belongs to another owner. Throws a SealKeyError. */
export function openText(seals: BodySeals, sealed: string, context: string): string | undefined {
  try {
    return seals.open(sealed, context)
  } catch (error) {
    if (seals.isKeyError(error)) throw new SealKeyError(error)
    return undefined
  }
}

export function notItsOwn(key: string, text: string): UnreadableRecordError {
  return new UnreadableRecordError(
    key,
    new TypeError('its sealed text was changed, or belongs to another one'),
    text,
  )
}
