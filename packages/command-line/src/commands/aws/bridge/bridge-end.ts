/** The end of a bridge at AWS: `fantail bridge --end`, and the deletion of the queues that it has made. */
import { setTimeout as delay } from 'node:timers/promises'
import { UnsubscribeCommand } from '@aws-sdk/client-sns'
import { DeleteQueueCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs'
import { sideBySide } from '@fantail/store'
import type { CommandContext } from '../../../frame/command-context.ts'
import { confirm } from '../../../frame/confirm.ts'
import { durationText, parseDuration } from '../../../output/durations.ts'
import { CommandError, type ExitName } from '../../../output/exit-codes.ts'
import { counted } from '../../../output/text-table.ts'
import {
  type AwsSubscription,
  type AwsTopic,
  type AwsTopics,
  CALLS_AT_ONCE,
  confirmedSubscriptions,
} from '../aws-topic.ts'
import {
  bridgeQueueName,
  bridgesAmong,
  ifThere,
  isEmpty,
  refusedQueueName,
  sendersAmong,
} from '../bridge-queue.ts'
import { isOff } from '../subscription-pairs.ts'

export interface EndFlags {
  queue?: string
  endpoint?: string
  deleteQueues?: boolean
  settle: string
}

/** Asks first if a subscription is off at AWS, because it then gets only what is published at Fantail. */
export async function endBridges(
  context: CommandContext,
  { topics, pattern }: AwsTopics,
  { endpoint, queue, deleteQueues, settle }: EndFlags,
): Promise<ExitName> {
  const { out } = context
  const settleMs = parseDuration(settle, '--settle')
  const nameOf = (topic: AwsTopic) => endpoint ?? queue ?? bridgeQueueName(topic)
  const found = []
  const queues: OwnQueue[] = []
  for (const topic of topics) {
    const present = await confirmedSubscriptions(topic)
    const bridges = bridgesAmong(present, nameOf(topic))
    if (bridges.length > 0) found.push({ topic, bridges, off: present.filter(isOff).length })
    const others = present.filter((one) => !bridges.includes(one))
    if (deleteQueues) queues.push(...(await ownQueues(topic, others)))
  }
  if (found.length === 0 && queues.length === 0) {
    const [first] = topics
    const name = topics.length === 1 && first ? nameOf(first) : 'no bridge'
    throw new CommandError('notFound', `${name} is not subscribed to ${pattern}`)
  }
  const off = found.reduce((sum, one) => sum + one.off, 0)
  if (off > 0)
    await confirm(
      `end the bridge, so that what is published at AWS no longer reaches ${counted(off, 'subscription')}`,
      context,
    )
  for (const { topic, bridges } of found) {
    for (const { arn } of bridges) await topic.sns.send(new UnsubscribeCommand({ SubscriptionArn: arn }))
    const unsubscribed = nameOf(topic)
    out.item({ unsubscribed }, () => `unsubscribed ${unsubscribed}`, unsubscribed)
  }
  if (deleteQueues)
    return (await deleteEmpty(context, withoutDoubles(queues), settleMs)) ? 'done' : 'partlyDone'
  if (endpoint === undefined)
    out.note(
      found.length === 1
        ? 'The queue stays. Delete it at AWS when it is empty.'
        : 'The queues stay. Delete them at AWS when they are empty.',
    )
  return 'done'
}

/** The bridge of a topic that ends in -refused has a queue whose name another topic's refused messages would have. */
function withoutDoubles(queues: OwnQueue[]): OwnQueue[] {
  const ofBridges = queues.filter(({ refusedOf }) => refusedOf === undefined).map(({ name }) => name)
  return queues.filter(({ name, refusedOf }) => refusedOf === undefined || !ofBridges.includes(name))
}

/**
 * Deletes those that were empty twice, before and after SQS had the time to count. While the queue of a bridge stays,
 * that of its refused messages also does, because a bridge may still put one there. Resolves with whether none has
 * stayed.
 */
async function deleteEmpty(
  { out, signal }: CommandContext,
  queues: OwnQueue[],
  settleMs: number,
): Promise<boolean> {
  const stay = new Map<string, string>()
  const look = async (queue: OwnQueue) => {
    const reason = await ifThere(reasonToStay(queue))
    if (reason !== undefined) stay.set(queue.name, reason)
  }
  const rest = () => queues.filter(({ name }) => !stay.has(name))
  await sideBySide(rest(), CALLS_AT_ONCE, look)
  if (rest().length > 0) {
    out.note(`Looking at ${counted(rest().length, 'empty queue')} again in ${durationText(settleMs)}.`)
    await delay(settleMs, undefined, { signal })
  }
  await sideBySide(rest(), CALLS_AT_ONCE, look)
  for (const { name, refusedOf = '' } of rest())
    if (stay.has(refusedOf)) stay.set(name, `${refusedOf} stays.`)
  for (const { name } of queues)
    if (stay.has(name)) out.warn(`the queue ${name} stays, because ${stay.get(name)}`)
  await sideBySide(rest(), CALLS_AT_ONCE, async ({ topic, name: deletedQueue, url }) => {
    if (await ifThere(topic.sqs.send(new DeleteQueueCommand({ QueueUrl: url }))))
      out.item({ deletedQueue }, () => `deleted the queue ${deletedQueue}`, deletedQueue)
  })
  return stay.size === 0
}

/** A queue with a name that a bridge gives by itself. */
interface OwnQueue {
  topic: AwsTopic
  name: string
  url: string
  /** The queue of the bridge, if this one has the messages that were refused. */
  refusedOf?: string
  /** Another bridge copies the refused messages. */
  isSubscribed: boolean
}

/** The queues that a bridge of the topic has made. `present`: the subscriptions beside its own. */
async function ownQueues(topic: AwsTopic, present: AwsSubscription[]): Promise<OwnQueue[]> {
  const bridge = bridgeQueueName(topic)
  const names = [{ name: bridge }, { name: refusedQueueName(topic, bridge), refusedOf: bridge }]
  const found = await Promise.all(
    names.map(async (own): Promise<OwnQueue[]> => {
      const asked = new GetQueueUrlCommand({ QueueName: own.name })
      const { QueueUrl: url } = (await ifThere(topic.sqs.send(asked))) ?? {}
      const isSubscribed = bridgesAmong(present, own.name).length > 0
      return url === undefined ? [] : [{ topic, url, isSubscribed, ...own }]
    }),
  )
  return found.flat()
}

/**
 * Why the queue must not be deleted, and what to do about it. Undefined: it is empty, and only the topic may send to
 * it. The bridge makes the queue of refused messages without a policy.
 */
async function reasonToStay(queue: OwnQueue): Promise<string | undefined> {
  const { topic, name, url, refusedOf, isSubscribed } = queue
  if (isSubscribed)
    return `a bridge reads it. End that with \`fantail bridge ${topic.arn} --queue ${name} --end\`, and run this again.`
  const { isNamed, areAll, hasOthers } = await sendersAmong(topic, url, [topic.arn])
  if (!areAll || hasOthers || !(isNamed || refusedOf))
    return `its policy is not that of a bridge of ${topic.name}`
  if (await isEmpty(topic.sqs, url)) return undefined
  return refusedOf
    ? `it is not empty. Copy its messages with \`fantail bridge ${topic.arn} --queue ${name}\`, or delete it at AWS.`
    : `it is not empty. Let \`fantail bridge ${topic.arn}\` copy its messages, and run this again.`
}
