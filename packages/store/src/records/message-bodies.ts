/**
 * The stored text of a message, in dispatch jobs, lanes, FIFO logs and rings: its JSON, whose last members are a
 * checksum of all before it and the sequence number, if it has one. A flipped bit in a text often leaves valid JSON,
 * which would be delivered. The checksum is of the text itself, so that nothing is copied or encoded for it.
 */
import type { Message } from '@fantail/contracts'
import { checksum, differs } from './checksums.ts'
import { type BodySeals, openMessage, SealedWhenStored, SealKeyError, sealedForm } from './sealed-messages.ts'
import { openJson, parseStored, UnreadableRecordError } from './stored-json.ts'

const SUM = ',"sum":"'
const NUMBER = '"sequenceNumber":"'
const JOB = '{"v":1,"lengths":['
const MESSAGES = '],"m":['

/** The text that lanes and rings store. A message that was opened is stored as it was sealed. */
export function messageBody(given: Message): string {
  const message = sealedForm(given)
  const { sequenceNumber } = message
  if (sequenceNumber === undefined) return `${openBody(message)}"}`
  const { sequenceNumber: _, ...unnumbered } = message
  return `${openBody(unnumbered)}${numberedEnd(sequenceNumber)}`
}

/** The body of a FIFO message without its end. The script that gives its number writes `numberedEnd`. */
export function openBody(unnumbered: Message): string {
  return summed(openJson(unnumbered))
}

function summed(open: string): string {
  return `${open}${SUM}${checksum(open)}`
}

/** The message has no number. JSON would look for characters of the sealed text to escape, and base64 has none. */
function sealedBody(given: SealedWhenStored): string {
  const { form, sealed } = given.seal()
  const open = `${openJson(form)},"sealed":"${sealed}"`
  return `${summed(open)}"}`
}

function numberedEnd(number: string): string {
  return `${number}",${NUMBER}${number}"}`
}

/** The message in a stored body, with its content. Throws an UnreadableRecordError, or a SealKeyError. */
export function readContent(body: Buffer | string, seals: BodySeals): Message {
  return openMessage(seals, readMessage(body))
}

/** Undefined: the body was changed, or the key that opens it is missing. */
export function contentIfReadable(body: Buffer | string, seals: BodySeals): Message | undefined {
  try {
    return readContent(body, seals)
  } catch (error) {
    if (error instanceof UnreadableRecordError || error instanceof SealKeyError) return undefined
    throw error
  }
}

/** The message in a stored body, sealed or not. Throws an UnreadableRecordError if any of it was changed. */
export function readMessage(body: Buffer | string): Message {
  const text = String(body)
  const at = text.lastIndexOf(SUM)
  const open = text.slice(0, at)
  const sum = checksum(open)
  const endAt = at + SUM.length + sum.length
  if (at < 0 || !text.startsWith(sum, at + SUM.length)) throw changed(text)
  const end = text.slice(endAt)
  if (end === '"}') return parseStored(`${open}}`, NAME) as unknown as Message
  const number = end.slice(0, end.indexOf('"'))
  if (end !== numberedEnd(number)) throw changed(text)
  return parseStored(`${open},${NUMBER}${number}"}`, NAME) as unknown as Message
}

const NAME = 'a message'

function changed(text: string): UnreadableRecordError {
  parseStored(text, NAME)
  return new UnreadableRecordError(NAME, differs(), text)
}

/** A message that a dispatch job may take. */
export type StorableMessage = Message | SealedWhenStored

/**
 * The data of a dispatch job: the lengths of its bodies, in characters, and the bodies. By the lengths, each body is
 * cut out as it was stored.
 */
export function jobText(messages: readonly StorableMessage[]): string {
  const bodies = messages.map((given) =>
    given instanceof SealedWhenStored ? sealedBody(given) : messageBody(given),
  )
  return `${JOB}${bodies.map(({ length }) => length)}${MESSAGES}${bodies.join(',')}]}`
}

/** Whether the text can only be a dispatch job's. */
export function isJobText(text: string): boolean {
  return text.startsWith(JOB)
}

/**
 * The bodies in a dispatch job's data, not verified yet (readMessage). A damaged one leaves the others whole. Throws if
 * the data is not a dispatch job's.
 */
export function bodiesOfJob(text: string): string[] {
  return cut(text) ?? parsedBodies(text)
}

/** Undefined: a length was changed, or the text is not a job's. */
function cut(text: string): string[] | undefined {
  const end = text.indexOf(MESSAGES)
  if (!isJobText(text) || end < 0) return undefined
  let at = end + MESSAGES.length
  const bodies: string[] = []
  for (const length of text.slice(JOB.length, end).split(',')) {
    const next = at + Number(length)
    if (text[at] !== '{' || text[next - 1] !== '}') return undefined
    bodies.push(text.slice(at, next))
    at = next + 1
    if (text[next] !== ',') return text.slice(next) === ']}' ? bodies : undefined
  }
  return undefined
}

function parsedBodies(text: string): string[] {
  const job = JSON.parse(text) as { v?: unknown; m?: unknown } | null
  if (job?.v !== 1 || !Array.isArray(job.m)) throw new TypeError('not the data of a dispatch job')
  return job.m.map((message) => JSON.stringify(message))
}
