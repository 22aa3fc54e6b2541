/**
 * Puts a quarantined entry back. Messages are dispatched again under their own ids, and a delivery goes to its lane. If
 * this release cannot decode the entry either, the call is refused and the entry stays. The caller removes the entry
 * afterwards. After a crash in between, the entry still exists although its messages are under way. If it is put back
 * again, they are delivered twice.
 */
import { FantailError, type Message, parseMessageId } from '@fantail/contracts'
import {
  bodiesOfJob,
  deliveryId,
  generationOf,
  messageBody,
  placeOfSubscription,
  type QuarantineEntry,
  readMessage,
  UnreadableRecordError,
} from '@fantail/store'
import type { KnownTopic } from '../caches/topic-cache.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { weightOf, withDeduplicationIds } from '../messages/message-store.ts'

type PutBackDeps = Pick<
  ApiDeps,
  'topicCache' | 'subscriptions' | 'lanes' | 'publisher' | 'fifoLog' | 'storageGuard'
>

interface PutBack {
  messages: number
  deliveries: number
}

/** Rejects with `wrong_state` if it cannot be put back now. The message says why. */
export async function putBack(deps: PutBackDeps, entry: QuarantineEntry, raw: Buffer): Promise<PutBack> {
  await deps.storageGuard.admit()
  if (entry.reason === 'recordUnreadable') throw refused('it is a record, which has stayed where it is')
  const messages = messagesIn(raw)
  if (entry.subscriptionId !== null) {
    const [message] = messages
    if (!message) throw refused('it holds no message')
    await parkDelivery(deps, { ...entry, subscriptionId: entry.subscriptionId }, message)
    return { messages: 0, deliveries: 1 }
  }
  const byTopic = Map.groupBy(messages, ({ topicArn }) => topicArn)
  const topics = await Promise.all([...byTopic.keys()].map((arn) => topicOf(deps, arn)))
  for (const [i, some] of [...byTopic.values()].entries()) {
    const topic = topics[i]
    if (topic) await dispatch(deps, topic, some)
  }
  return { messages: messages.length, deliveries: 0 }
}

/** The messages of a job, or a single message. */
function messagesIn(raw: Buffer): Message[] {
  const text = raw.toString()
  const bodies = isJob(parse(text)) ? bodiesOfJob(text) : [text]
  if (bodies.length === 0) throw refused('it holds no message')
  return bodies.map((body) => {
    if (!isMessage(parse(body))) throw refused('it holds something that is not a message')
    return unchanged(body)
  })
}

function unchanged(body: string): Message {
  try {
    return readMessage(body)
  } catch {
    throw refused('a message in it was changed after it was stored')
  }
}

function parse(text: string): unknown {
  if (text === '') throw refused('nothing is left of it')
  try {
    return JSON.parse(text)
  } catch {
    throw refused('this release cannot decode it')
  }
}

function isJob(data: unknown): boolean {
  const { v, m } = (data ?? {}) as { v?: unknown; m?: unknown }
  return v === 1 && Array.isArray(m)
}

function isMessage(value: unknown): value is Message {
  const { messageId, topicArn, publishedAt, message } = (value ?? {}) as Partial<Message>
  return (
    typeof messageId === 'string' &&
    parseMessageId(messageId) !== undefined &&
    typeof topicArn === 'string' &&
    typeof publishedAt === 'number' &&
    typeof message === 'string'
  )
}

async function topicOf({ topicCache }: PutBackDeps, arn: string): Promise<KnownTopic> {
  try {
    const topic = await topicCache.find(arn)
    if (topic) return topic
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error
    throw refused(`the record of ${arn} cannot be decoded`)
  }
  throw refused(`${arn} is gone`)
}

async function dispatch(
  { publisher, fifoLog }: PutBackDeps,
  topic: KnownTopic,
  messages: Message[],
): Promise<void> {
  const { record } = topic
  if (!record.fifo) {
    const bytes = messages.reduce((sum, message) => sum + Buffer.byteLength(messageBody(message)), 0)
    await publisher.publish(messages, weightOf(topic, messages, bytes))
    return
  }
  const receipts = await fifoLog.publish(record.arn, withDeduplicationIds(record, messages))
  if (receipts.some(({ duplicate }) => duplicate))
    throw refused('its deduplication id was used within the last 5 minutes')
}

type OneDelivery = QuarantineEntry & { subscriptionId: string }

async function parkDelivery(
  { subscriptions, topicCache, lanes }: PutBackDeps,
  { id, subscriptionId }: OneDelivery,
  message: Message,
): Promise<void> {
  const record = await subscriptions.get(subscriptionId)
  const topic = record && (await topicCache.find(record.topicArn))
  const place = placeOfSubscription(subscriptionId)
  if (!record || !topic || !place) throw refused('its subscription is gone')
  if (topic.record.fifo) throw refused('a FIFO topic keeps its order: export it and publish it again')
  const generation = generationOf(id)
  const delivery = deliveryId(message.messageId, generation)
  const body = messageBody(message)
  const entries = [{ subscriptionId, delivery, message: 0, park: { as: 'fresh' as const } }]
  await lanes.park(place.shard, {
    messages: [{ id: deliveryId(message.messageId), body, groupId: message.groupId }],
    jobs: [{ jobName: '', fence: 0, fields: [], entries }],
  })
}

function refused(why: string): FantailError {
  return new FantailError('wrong_state', `cannot be put back: ${why}`)
}
