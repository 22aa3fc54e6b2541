/**
 * Sealed payloads of items. The content of the message is one sealed text, which belongs to the item's id, to the queue
 * that accepted it, and to the delivery whose dead letter it is. A move to another queue keeps the payload. A redrive
 * gives the item a new id, which follows from the old one and the task. The payload lists both, so that the text still
 * proves which item it belongs to.
 */
import type { DeadLetter } from '@fantail/contracts'
import { type BodySeals, openText, sealMessage, sealText } from '../../records/sealed-messages.ts'
import { redrivenItemId } from './queue-ids.ts'

export interface SealedPayload {
  /** The sealed text. */
  z: string
  /** ARN of the queue that accepted the message. */
  q: string
  /** The first id, and then the tasks that gave the item another one. Absent: it has its first id. */
  i?: string[]
  d?: DeadLetter
}

/** Seals the content for an item. The message of a dead letter is sealed by itself, because lanes take it back. */
export function sealPayload(
  seals: BodySeals,
  content: string,
  { id, arn, deadLetter }: { id: string; arn: string; deadLetter?: DeadLetter | undefined },
): string {
  const payload: SealedPayload = { z: sealText(seals, content, contextOf(id, arn, deadLetter)), q: arn }
  if (deadLetter) payload.d = { ...deadLetter, message: sealMessage(seals, deadLetter.message) }
  return JSON.stringify(payload)
}

/** The content. Undefined: it was changed, or it belongs to another item. Throws a SealKeyError. */
export function openPayload(
  { z, q, i: [first, ...tasks] = [], d }: SealedPayload,
  id: string,
  seals: BodySeals,
): string | undefined {
  const origin = first ?? id
  const isItsOwn = tasks.reduce((from, task) => redrivenItemId(task, from), origin) === id
  return isItsOwn ? openText(seals, z, contextOf(origin, q, d)) : undefined
}

/** The payload of an item to which a redrive gives another id. */
export function redrivenPayload(payload: string, itemId: string, taskId: string): string {
  if (!payload.startsWith('{"z":')) return payload
  const sealed = JSON.parse(payload) as SealedPayload
  return JSON.stringify({ ...sealed, i: [...(sealed.i ?? [itemId]), taskId] })
}

function contextOf(id: string, arn: string, letter: DeadLetter | undefined): string {
  const of = letter && [letter.messageId, letter.topicArn, letter.subscriptionArn, letter.generation]
  return JSON.stringify(['item', id, arn, ...(of ?? [])])
}
