/** The stored form of a message that was sent, moved by a redrive policy, or redriven. */
import { randomUUID } from 'node:crypto'
import { parseMessageId, type RedriveEdit } from '@fantail/contracts'
import { type BodySeals, isSealed, SealKeyError, sealMessage } from '../../records/sealed-messages.ts'
import { redrivenItemId } from '../items/queue-ids.ts'
import { packPayload, type ReadItem, type StoredItem } from '../items/queue-items.ts'
import type { SendItem } from '../items/queue-records.ts'
import { redrivenPayload, sealPayload } from '../items/sealed-payloads.ts'
import { kindOf } from './queue-kind.ts'

/** Messages that one script stores. Past it: a further script follows. */
const SEND_ITEMS_MAX = 100
/** Bytes that one script stores. Past it: a further script follows. One script must not block Redis for too long. */
const SEND_BYTES_MAX = 4_194_304

/** Throws a SealKeyError if the item must be sealed and there is no key. */
export function storedItem(item: SendItem, arn: string, seals: BodySeals | undefined): StoredItem {
  if (item.id !== undefined && parseMessageId(item.id) === undefined) {
    throw new TypeError(`an item's id must be a UUID: ${item.id}`)
  }
  const deadLetter = item.deadLetter ?? null
  const id = item.id ?? randomUUID()
  return {
    id,
    payload: payloadOf(item, { id, arn, seals }),
    idGiven: item.id !== undefined,
    delayMs: item.delaySeconds === undefined ? null : item.delaySeconds * 1_000,
    sentAt: null,
    retentionFrom: deadLetter?.deadLetteredAt ?? null,
    receiveCount: 0,
    firstReceivedAt: null,
    deadLetterSourceArn: null,
    deadLetter,
    ...kindOf(arn).placeOf(item, id),
  }
}

interface Acceptance {
  id: string
  arn: string
  seals: BodySeals | undefined
}

function payloadOf(item: SendItem, { id, arn, seals }: Acceptance): string {
  const { deadLetter, ...content } = item
  const isOfSealed = deadLetter !== undefined && isSealed(deadLetter.message)
  if (!item.sealed && !isOfSealed && !seals?.all) return packPayload(item)
  if (!seals) throw new SealKeyError('this process seals no messages')
  return sealPayload(seals, packPayload(content), { id, arn, deadLetter })
}

/** The moved item keeps id, body, attributes and receive count, and the members that the kind of the queue keeps. */
export function movedItem({ message, payload }: ReadItem, source: string): StoredItem {
  return {
    id: message.messageId,
    payload,
    idGiven: true,
    delayMs: 0,
    receiveCount: message.receiveCount,
    firstReceivedAt: message.firstReceivedAt,
    deadLetterSourceArn: source,
    deadLetter: message.deadLetter ?? null,
    groupId: message.groupId ?? null,
    deduplication: 'none',
    ...kindOf(source).keptBy(message),
  }
}

/**
 * A new message, as in SQS's redrive: id, time of sending and retention begin again. The reason of its death stays with
 * it.
 */
export function redrivenItem(taskId: string, { message, payload }: ReadItem): StoredItem {
  const id = redrivenItemId(taskId, message.messageId)
  return {
    id,
    payload: redrivenPayload(payload, message.messageId, taskId),
    idGiven: true,
    delayMs: 0,
    sentAt: null,
    retentionFrom: null,
    receiveCount: 0,
    firstReceivedAt: null,
    deadLetterSourceArn: null,
    deadLetter: message.deadLetter ?? null,
    groupId: message.groupId ?? null,
    deduplicationId: message.sequenceNumber === undefined ? (message.deduplicationId ?? null) : id,
    deduplication: 'none',
  }
}

/**
 * The item with the changes of a redrive, if these are for it. A dead letter begins like a letter that was never
 * redriven.
 */
export function edited(item: ReadItem, edit: RedriveEdit | undefined): ReadItem {
  const { message } = item
  if (edit?.itemId !== message.messageId) return item
  const { body, attributes, message: sent, payload } = edit
  const letter = message.deadLetter
  const deadLetter = letter && sent && { ...letter, messageId: sent.messageId, generation: 0, message: sent }
  const next = { ...message, body, attributes, ...(deadLetter && { deadLetter }) }
  return { message: next, payload: payload ?? packPayload(next) }
}

/** The edit of a sealed item in the form in which its task stores it. `arn`: the queue that has the item. */
export function sealedEdit(
  edit: RedriveEdit,
  { message: { deadLetter } }: Pick<ReadItem, 'message'>,
  { arn, seals }: Omit<Acceptance, 'id'> & { seals: BodySeals },
): RedriveEdit {
  const { itemId, message } = edit
  const sent = message && sealMessage(seals, message)
  const letter = deadLetter &&
    sent && { ...deadLetter, messageId: sent.messageId, generation: 0, message: sent }
  const payload = sealPayload(seals, packPayload(edit), { id: itemId, arn, deadLetter: letter })
  return { itemId, body: '', attributes: {}, ...(sent && { message: sent }), payload }
}

/** Groups of items, each small enough for one script. */
export function* chunksOf(items: StoredItem[]): Generator<StoredItem[]> {
  let chunk: StoredItem[] = []
  let bytes = 0
  for (const item of items) {
    const full = chunk.length === SEND_ITEMS_MAX || bytes + item.payload.length > SEND_BYTES_MAX
    if (chunk.length > 0 && full) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(item)
    bytes += item.payload.length
  }
  if (chunk.length > 0) yield chunk
}
