/** Finds a stored message: in its topic's ring, in a lane, in a FIFO log, or in a dead-letter queue. */
import { FantailError, type Message, type SubscriptionRecord } from '@fantail/contracts'
import {
  type DeliveryOutcome,
  deadLetterItemId,
  deliveryId,
  ifReadable,
  type NotKept,
  readMessage,
  resentGeneration,
} from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import { notFound } from '../http/error-answers.ts'
import { letterQueueOf } from '../redrives/dead-letter-sources.ts'

type Tools = Pick<ApiDeps, 'kept' | 'messages' | 'subscriptions' | 'topicQueues' | 'queues'>

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
export async function topicOfMessage({ messages, kept }: Tools, messageId: string): Promise<string | null> {
  const logged = await messages.message(messageId)
  return logged?.topicArn ?? (await kept.topicOf(messageId))
}

/** Throws `not_found` if the message is unknown, and `body_gone` if its text is stored nowhere. */
export async function storedMessage(deps: Tools, messageId: string): Promise<StoredMessage> {
  const topicArn = await topicOfMessage(deps, messageId)
  if (topicArn === null) throw notFound('message')
  const { found, kept } = await keptOrWaiting(deps, topicArn, messageId)
  if (found) return found
  const letter = await inDeadLetters(deps, messageId)
  if (letter) return { message: letter, from: 'deadLetter' }
  const why = Buffer.isBuffer(kept) ? 'the copy that its topic keeps was damaged' : WHY[kept]
  throw new FantailError('body_gone', `the text of the message is not stored: ${why}`)
}

/** In the ring of the topic, or where a delivery waits. `kept`: what the ring has, or why it has nothing. */
export async function keptOrWaiting(
  deps: Pick<Tools, 'kept'>,
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
    const [message] = ifReadable(() => readMessage(body))
    if (message) return { found: { message, from }, kept }
  }
  return { found: undefined, kept }
}

async function inDeadLetters(deps: Tools, messageId: string): Promise<Message | null> {
  const rows = (await deps.messages.deliveries(messageId)) ?? []
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
  { redrives, resentAt }: Pick<DeliveryOutcome, 'redrives' | 'resentAt'>,
): Promise<{ queue: string; itemId: string; message: Message } | undefined> {
  const queue = await letterQueueOf(deps, record)
  if (queue === undefined) return undefined
  const generation = redrives + (resentAt === null ? 0 : resentGeneration(resentAt))
  const itemId = deadLetterItemId(record.id, deliveryId(messageId, generation))
  const message = (await deps.queues.message(queue, itemId))?.deadLetter?.message
  return message && { queue, itemId, message }
}
