/** Publishes a message to one target, for both APIs. It is stored like a message of a topic. */
import { createMessageId } from '@fantail/contracts'
import { notificationProblem, smsTextProblem, textForProtocol } from '@fantail/delivery'
import type { ApiDeps } from '../deps/api-deps.ts'
import { requestHash } from '../messages/idempotent.ts'
import { logPublished } from '../messages/log-published.ts'
import { makeMessages } from '../messages/make-messages.ts'
import type { MessageStore } from '../messages/message-store.ts'
import type { NewMessage } from '../messages/read-messages.ts'
import { type DirectTarget, TargetRefusal } from './direct-targets.ts'
import { directTopic, type TopicTools } from './direct-topics.ts'

interface DirectPublish {
  target: DirectTarget
  message: NewMessage
  /** Size of its text and attributes. */
  bytes: number
  /** The request's `Idempotency-Key`. It belongs to the target. */
  key?: string | undefined
  publicUrl: string
  traceparent?: string | undefined
  traceHeader?: string | undefined
  requestId: string
  /** Monotonic ms. */
  startedAt: number
}

interface Published {
  messageId: string
  /** True: nothing was stored, and the id is that of the earlier request with the same key. */
  replayed: boolean
}

/** Stores the message and resolves when it is stored. Throws a TargetRefusal, or the error of the storage guard. */
export async function publishDirect(
  {
    deps,
    store,
  }: { deps: TopicTools & Pick<ApiDeps, 'clock' | 'spans' | 'log' | 'live'>; store: MessageStore },
  { target: aim, message, bytes, key, requestId, startedAt, ...request }: DirectPublish,
): Promise<Published> {
  const { target } = aim
  checkText(aim, message, deps.clock())
  const topic = await directTopic(deps, aim)
  const made = makeMessages(deps, [message], { topic, ...request })
  const messages = made.map((one) => ({ ...one, target }))
  const hash = () => requestHash({ batch: false, messages: [message] })
  const { receipts, replayed } =
    key === undefined
      ? { receipts: await store.store(topic, messages, bytes), replayed: false }
      : await store.storeOnce(topic, messages, bytes, { key: `${target} ${key}`, hash: hash() })
  const [receipt] = receipts
  if (!receipt) throw new Error('a stored message has no receipt')
  logPublished(deps, { requestId, topicArn: topic.record.arn, receipts, bytes, replayed, startedAt })
  return { messageId: receipt.messageId, replayed }
}

/**
 * Refuses texts that can never be sent to the target. A topic accepts such a text, because it may have subscribers that
 * can get it.
 */
function checkText({ platform }: DirectTarget, message: NewMessage, now: number): void {
  const problem = platform
    ? notificationProblem(
        { messageId: createMessageId(now), topicArn: '', publishedAt: now, ...message },
        platform,
      )
    : smsTextProblem(textForProtocol(message, 'sms'))
  if (problem !== undefined) throw new TargetRefusal('text', problem)
}
