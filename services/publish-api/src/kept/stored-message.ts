/** Finds a stored message: in its topic's ring, in a lane, in a FIFO log, or in a dead-letter queue. */
import { FantailError, type Message, type SubscriptionRecord } from '@fantail/contracts'
import {
  type DeliveryOutcome,
  deadLetterItemId,
  deliveryId,
  ifReadable,
  type NotKept,
  openMessage,
  readContent,
  resentGeneration,
} from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import { notFound } from '../http/error-answers.ts'
import { letterQueueOf } from '../redrives/dead-letter-sources.ts'

type Tools = Pick<ApiDeps, 'kept' | 'outcomes' | 'seals' | 'subscriptions' | 'topicQueues' | 'queues'>

export interface StoredMessage {
  message: Message
  from: 'kept' | 'waiting' | 'deadLetter'
}

/** Dead-letter queues in which the text of one message is looked for. Past it: further ones are not read. */
const LETTERS_READ_MAX = 20

const WHY: Record<NotKept, string> = {
  off: 'its topic keeps no messages (`keepMessages`)',
  tooOld: 'it is older than its topic keeps messages',
  ringFull: 'the messages that its topic keeps have filled their memory since',
  absent: 'it was published before its topic kept messages, is not dispatched yet, or memory was short',
}

/** The message's topic, by the outcome log or by the rings of kept messages. null: the message is unknown. */
export async function topicOfMessage({ outcomes, kept }: Tools, messageId: string): Promise<string | null> {
  const logged = await outcomes.message(messageId)
  return logged?.topicArn ?? (await kept.topicOf(messageId))
}

/**
 * Throws `not_found` if the message is unknown, `body_gone` if its text is stored nowhere, and a SealKeyError if it
 * cannot be opened.
 */
export async function storedMessage(deps: Tools, messageId: string): Promise<StoredMessage> {
  const topicArn = await topicOfMessage(deps, messageId)
  if (topicArn === null) throw notFound('message')
  const { found, kept } = await findStored(deps, topicArn, messageId)
  if (found) return found
  const why = Buffer.isBuffer(kept) ? 'the copy that its topic keeps was damaged' : WHY[kept]
  throw new FantailError('body_gone', `the text of the message is not stored: ${why}`)
}

/**
 * In the ring of the topic, where a delivery waits, or in the dead letter of any subscription. `kept`: what the ring
 * has, or why it has nothing.
 */
export async function findStored(
  deps: Tools,
  topicArn: string,
  messageId: string,
): Promise<{ found: StoredMessage | undefined; kept: Buffer | NotKept }> {
  const [kept, waiting] = await Promise.all([
    deps.kept.read(topicArn, messageId),
    deps.kept.waiting(messageId),
  ])
  for (const [from, body] of [
    ['kept', kept],
    ['waiting', waiting],
  ] as const) {
    if (!Buffer.isBuffer(body)) continue
    const [message] = ifReadable(() => readContent(body, deps.seals))
    if (message) return { found: { message, from }, kept }
  }
  const letter = await inDeadLetters(deps, messageId)
  const found = letter && { message: openMessage(deps.seals, letter), from: 'deadLetter' as const }
  return { found: found ?? undefined, kept }
}

async function inDeadLetters(deps: Tools, messageId: string): Promise<Message | null> {
  const rows = (await deps.outcomes.deliveries(messageId)) ?? []
  const dead = rows.filter(({ state, subscriptionId }) => state === 'deadLettered' && subscriptionId !== null)
  for (const row of dead.slice(0, LETTERS_READ_MAX)) {
    const record = await deps.subscriptions.get(row.subscriptionId ?? '')
    const letter = record && (await letterOf(deps, record, messageId, row))
    if (letter) return letter.message
  }
  return null
}

/** The dead letter of a delivery, by its row. undefined: its queue does not have it. */
export async function letterOf(
  deps: Pick<Tools, 'topicQueues' | 'queues'>,
  record: SubscriptionRecord,
  messageId: string,
  row: Times,
): Promise<{ queue: string; itemId: string; message: Message } | undefined> {
  const place = await placeOf(deps, record, { messageId, generation: generationIn(row) })
  const item = place && (await deps.queues.message(place.queueArn, place.messageId))
  const message = item?.deadLetter?.message
  return place && message && { queue: place.queueArn, itemId: place.messageId, message }
}

type Times = Pick<DeliveryOutcome, 'redrives' | 'resentAt'>

/** The generation of a delivery that was redriven or resent. */
export function generationIn({ redrives, resentAt }: Times): number {
  return redrives + (resentAt === null ? 0 : resentGeneration(resentAt))
}

interface LetterPlace {
  queueArn: string
  /** Id of the letter in the queue. */
  messageId: string
}

interface DeadDelivery {
  messageId: string
  subscriptionId: string
  generation: number
}

/** Where the dead letter of a delivery is stored, if it is still there. undefined: nobody knows its queue any more. */
export async function letterPlaceOf(
  deps: Pick<Tools, 'subscriptions' | 'topicQueues' | 'queues'>,
  delivery: DeadDelivery,
): Promise<LetterPlace | undefined> {
  const record = await deps.subscriptions.get(delivery.subscriptionId)
  return record ? placeOf(deps, record, delivery) : placeOfDeleted(deps, delivery)
}

/** A letter of a deleted subscription, if the topic's own dead-letter queue has it. */
async function placeOfDeleted(
  { subscriptions, topicQueues, queues }: Pick<Tools, 'subscriptions' | 'topicQueues' | 'queues'>,
  { messageId, subscriptionId, generation }: DeadDelivery,
): Promise<LetterPlace | undefined> {
  const topicArn = await subscriptions.topicOf(subscriptionId)
  const own = topicArn === null ? undefined : await topicQueues.find(topicArn)
  if (!own?.exists) return undefined
  const item = deadLetterItemId(subscriptionId, deliveryId(messageId, generation))
  return (await queues.message(own.queueArn, item)) ? { queueArn: own.queueArn, messageId: item } : undefined
}

async function placeOf(
  deps: Pick<Tools, 'topicQueues'>,
  record: SubscriptionRecord,
  { messageId, generation }: Pick<DeadDelivery, 'messageId' | 'generation'>,
): Promise<LetterPlace | undefined> {
  const queueArn = await letterQueueOf(deps, record)
  if (queueArn === undefined) return undefined
  return { queueArn, messageId: deadLetterItemId(record.id, deliveryId(messageId, generation)) }
}
