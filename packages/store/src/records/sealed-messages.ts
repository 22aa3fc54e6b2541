/**
 * Sealed messages. The API seals a message before it stores it, if its topic wants that. One sealed text then has the
 * text, the subject, the attributes and all other content. Only the members that scripts and routing need stay
 * readable, and the seal covers them. Jobs, lanes, logs, rings and dead letters keep the sealed form. A reader opens it
 * when it needs the content. An opened message remembers its sealed form, which is stored when the message is stored
 * again, so that nobody writes the content back.
 */
import { FantailError, type Message } from '@fantail/contracts'
import { CorruptRecordError } from './stored-json.ts'

/** The methods of a vault that seal texts of messages (vault: bodies.ts). */
export interface BodySeals {
  /** Whether messages of all topics and queues are sealed. */
  readonly all?: boolean
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

const sealedForms = new WeakMap<Message, Message>()

/** The message as it is stored. */
export function sealedForm(message: Message): Message {
  return sealedForms.get(message) ?? message
}

/** Whether the message is stored sealed. */
export function isSealed(message: Message): boolean {
  return sealedForm(message).sealed !== undefined
}

/** Throws a SealKeyError. A message that is or was sealed gets the same form. */
export function sealMessage(seals: BodySeals, message: Message): Message {
  if (isSealed(message)) return sealedForm(message)
  const { messageId, topicArn, topicUid, publishedAt, kind, groupId, ...others } = message
  const { deduplicationId, idempotency, sequenceNumber, ...content } = others
  const readable = { messageId, topicArn, topicUid, publishedAt, kind, groupId, deduplicationId }
  const open = { ...readable, idempotency, sequenceNumber, message: '' }
  return { ...open, sealed: sealText(seals, JSON.stringify(content), contextOf(open)) }
}

/**
 * The message with its content. A message that is not sealed stays as it is. Throws a CorruptRecordError if the sealed
 * text was changed or is another message's, and a SealKeyError.
 */
export function openMessage(seals: BodySeals, message: Message): Message {
  if (message.sealed === undefined) return message
  const { sealed, ...open } = message
  const text = openText(seals, sealed, contextOf(open))
  if (text === undefined) throw notItsOwn('a message', JSON.stringify(message))
  const opened = { ...open, ...(JSON.parse(text) as Partial<Message>) }
  sealedForms.set(opened, message)
  return opened
}

/** The sequence number is not covered, because a script gives it after the message was sealed. */
function contextOf(message: Message): string {
  const { messageId, topicArn, topicUid, publishedAt, kind, groupId, deduplicationId, idempotency } = message
  const given = [topicUid, kind, groupId, deduplicationId, idempotency?.key, idempotency?.value]
  return JSON.stringify(['message', messageId, topicArn, publishedAt, ...given.map((value) => value ?? null)])
}

/** Throws a SealKeyError. */
export function sealText(seals: BodySeals, text: string, context: string): string {
  try {
    return seals.seal(text, context)
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

export function notItsOwn(key: string, text: string): CorruptRecordError {
  return new CorruptRecordError(
    key,
    new TypeError('its sealed text was changed, or belongs to another one'),
    text,
  )
}
