/** Publishes a message to one target, for both APIs. It is stored like a message of a topic. */
import { createHash } from 'node:crypto'
import { areNumbers, createMessageId, DIRECT_LANES, directTopicArn } from '@fantail/contracts'
import { notificationProblem, smsTextProblem, textForProtocol } from '@fantail/delivery'
import type { KnownTopic } from '../caches/topic-cache.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { admit } from '../messages/admit.ts'
import { requestHash } from '../messages/idempotent.ts'
import { logPublished } from '../messages/log-published.ts'
import { makeMessages } from '../messages/make-messages.ts'
import type { MessageStore } from '../messages/message-store.ts'
import type { GivenMessage } from '../messages/read-messages.ts'
import { SETTING_DEFAULTS } from '../subscriptions/subscription-settings.ts'
import { type DirectTarget, TargetRefusal } from './direct-targets.ts'

interface DirectPublish {
  target: DirectTarget
  message: GivenMessage
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
function checkText({ platform }: DirectTarget, message: GivenMessage, now: number): void {
  const problem = platform
    ? notificationProblem(
        { messageId: createMessageId(now), topicArn: '', publishedAt: now, ...message },
        platform,
      )
    : smsTextProblem(textForProtocol(message, 'sms'))
  if (problem !== undefined) throw new TargetRefusal('text', problem)
}

/** The parts of the API that find or make a direct topic. */
type TopicTools = Pick<
  ApiDeps,
  'topics' | 'topicCache' | 'subscriptions' | 'platformApplications' | 'quotaWatch' | 'storageGuard'
>

/**
 * Makes the topics through which direct messages go (contracts: arn.ts). The first message for a lane makes a
 * topic with one subscription. A topic without the subscription counts as unfinished. So if the process crashes in
 * between, the next message completes it. No message is stored before that. The topic for messages to the target.
 * Throws if there is no capacity for a message.
 */
async function directTopic(deps: TopicTools, target: DirectTarget): Promise<KnownTopic> {
  const arn = directTopicArn(target.owner, laneOf(target.laneKey))
  const known = deps.topicCache.known(arn) ?? (await deps.topicCache.find(arn))
  if (!known || known.fanOut === 0) await makeTopic(deps, arn, target)
  return admit(deps, arn)
}

/** Deletes the topics of a platform application after the application itself. Waiting messages are discarded. */
export async function deleteDirectTopics(
  { topics, topicCache }: Pick<ApiDeps, 'topics' | 'topicCache'>,
  owner: string,
): Promise<void> {
  const arns = Array.from({ length: DIRECT_LANES }, (_, lane) => directTopicArn(owner, lane))
  await Promise.all(arns.map((arn) => topics.delete(arn)))
  for (const arn of arns) topicCache.forget(arn)
}

function laneOf(key: string): number {
  return createHash('sha1').update(key).digest().readUInt32BE(0) % DIRECT_LANES
}

async function makeTopic(deps: TopicTools, topicArn: string, target: DirectTarget): Promise<void> {
  const { owner, protocol, sharedEndpoint: endpoint } = target
  await deps.topics.create(topicArn, {})
  const settings = { ...SETTING_DEFAULTS, confirmation: 'none' as const }
  await deps.subscriptions.create({ topicArn, protocol, endpoint, ...settings })
  deps.topicCache.forget(topicArn)
  if (areNumbers(owner) || (await deps.platformApplications.get(owner))) return
  // The application was deleted meanwhile. Delete this new topic too, because nothing else would.
  await deleteDirectTopics(deps, owner)
  throw new TargetRefusal('noEndpoint', 'No endpoint found for the target arn specified')
}
