/**
 * Twins of subscriptions: on each side a subscription with the same filter policy, whose messages are collected through
 * a queue. Subscriptions of a topic with the same filter policy share a twin. A twin always gets the envelope, because
 * a raw message in a queue has no id.
 *
 * The twins of many topics share queues, because the envelope names the topic: the first twin of each topic has the
 * first queue, and so on. FIFO topics have queues of their own, because two topics may use the same deduplication id.
 *
 * At Fantail the queues have a lease, so they end by themselves after a crash. At AWS they stay until `fantail
 * compare --end` removes them by their names.
 */
import { randomBytes } from 'node:crypto'
import { SubscribeCommand, type SubscribeCommandInput, UnsubscribeCommand } from '@aws-sdk/client-sns'
import { DeleteQueueCommand, ListQueuesCommand } from '@aws-sdk/client-sqs'
import {
  type Client,
  createQueue,
  deleteQueue,
  deleteSubscription,
  type NewSubscription,
  subscribe,
} from '@fantail/client/api'
import { type Consumer, consume, fantailQueue, type MessageSource, sqs } from '@fantail/consumer'
import { nameOfArn, objectOf, parseArn } from '@fantail/contracts'
import { sideBySide } from '@fantail/store'
import type { Server } from '../../../frame/command-context.ts'
import { type AwsTopic, type AwsTopics, allPages, CALLS_AT_ONCE } from '../aws-topic.ts'
import { ifThere, makeAwsQueue, sendersAmong } from '../bridge-queue.ts'
import { filterOfHere, type Pair } from '../subscription-pairs.ts'
import { type Arrival, arrivalOf } from './compare-arrivals.ts'

const TWIN_PREFIX = 'fantail-compare-'
/** Queues of a page of SQS's list. Without a number, SQS gives no further page. */
const QUEUES_OF_PAGE = 1_000
/** How long a queue at Fantail stays after a crash. */
const TWIN_LEASE_SECONDS = 60
/** Topics whose twins share a queue, because Fantail takes no more for a queue with a lease. Past it: another queue. */
const SHARING_TOPICS_MAX = 100
/** Messages of a queue that are collected at the same time. Past it: they wait. */
const COLLECTED_AT_ONCE_MAX = 50

export interface TwinTools {
  client: Client
  server: Server
  /** Steps that remove the twins again: first the subscriptions, then the rest, the last ones first. */
  undo: Undo[]
  /** Called when a subscription was made. It throws if the comparison has to end. */
  onMade(): void
}

/** A topic at AWS, and the name or ARN of the one at Fantail. */
export interface Sides {
  topic: AwsTopic
  to: string
}

export interface Undo {
  /** Names the thing that is removed. */
  what: string
  /** Whether it may lead to a queue of the comparison. Queues are removed when nothing leads to them any more. */
  isSubscription?: true
  remove(): Promise<unknown>
}

export interface Twin {
  pairs: Pair[]
  aws: Map<string, Arrival>
  fantail: Map<string, Arrival>
}

interface Opening extends Sides {
  twin: Twin
  /** Twins with the same text share a queue on each side. */
  sharing: string
}

/** `senders`: the ARN of the topic, or the pattern of all of them. */
export async function openQueueTwins(
  tools: TwinTools,
  topics: (Sides & { pairs: Pair[] })[],
  senders: string,
): Promise<Twin[]> {
  const opening = topics.flatMap(({ pairs, topic, to }, position) => {
    const share = Math.floor(position / SHARING_TOPICS_MAX)
    const alike = Map.groupBy(pairs, ({ here }) => filterOfHere(here) + here.filterPolicyScope)
    return Array.from(alike.values()).map((group, index): Opening => {
      const twin = { pairs: group, aws: new Map(), fantail: new Map() }
      return { topic, to, twin, sharing: `${topic.isFifo ? topic.name : share} ${index}` }
    })
  })
  const groups = [...Map.groupBy(opening, ({ sharing }) => sharing).values()]
  const queues = await sideBySide(groups, CALLS_AT_ONCE, (group) => openQueue(tools, group, senders))
  const placed = groups.flatMap((group, index) => group.map((one) => ({ ...one, queue: queues[index] })))
  await sideBySide(placed, CALLS_AT_ONCE, async ({ queue, ...one }) => {
    if (queue) await subscribeTwin(tools, one, queue)
  })
  return opening.map(({ twin }) => twin)
}

interface TwinQueue {
  /** Its name at Fantail. */
  name: string
  /** Its ARN at AWS. */
  arn: string
}

/** Makes the queue on both sides, and collects what comes to it. */
async function openQueue(tools: TwinTools, group: Opening[], senders: string): Promise<TwinQueue> {
  const [first] = group
  if (!first) throw new RangeError('no twin needs the queue')
  const { topic } = first
  const { client, server, undo } = tools
  const name = `${TWIN_PREFIX}${randomBytes(6).toString('hex')}${topic.isFifo ? '.fifo' : ''}`
  const { queueUrl: QueueUrl, queueArn: arn } = await makeAwsQueue(topic, name, senders)
  const remove = () => topic.sqs.send(new DeleteQueueCommand({ QueueUrl }))
  undo.push({ what: `the queue ${name} at AWS`, remove })
  const settings = { leaseSeconds: TWIN_LEASE_SECONDS, ...(topic.isFifo && { fifo: true }) }
  await createQueue({ client, path: { queue: name }, body: settings })
  undo.push({ what: `the queue ${name}`, remove: () => deleteQueue({ client, path: { queue: name } }) })
  const { url, apiKey } = server
  const here = fantailQueue(name, { url, ...(apiKey !== undefined && { apiKey }) })
  const twinOf = findTwin(group)
  const consumers = [
    collect(sqs(QueueUrl, { client: topic.sqs }), (body) => twinOf(body)?.aws),
    collect(here, (body) => twinOf(body)?.fantail),
  ]
  const stop = () => Promise.all(consumers.map((consumer) => consumer.stop()))
  undo.push({ what: `the consumers of ${name}`, remove: stop })
  return { name, arn }
}

/** Finds the twin of an envelope by its topic, which has the same name on both sides if there are several topics. */
function findTwin(group: Opening[]): (body: string) => Twin | undefined {
  const [first] = group
  if (group.length === 1) return () => first?.twin
  const byName = new Map(group.map(({ topic, twin }) => [topic.name, twin]))
  return (body) => byName.get(nameOfArn(String(objectOf(body)?.TopicArn)))
}

async function subscribeTwin(
  tools: TwinTools,
  { twin, ...sides }: Sides & { twin: Twin },
  { name, arn }: TwinQueue,
): Promise<void> {
  const { filterPolicy = null, filterPolicyScope } = twin.pairs[0]?.here ?? {}
  const text = JSON.stringify(filterPolicy)
  const Attributes = filterPolicyScope && { FilterPolicyScope: filterPolicyScope, FilterPolicy: text }
  const atAws = { Protocol: 'sqs', Endpoint: arn, ...(filterPolicy !== null && Attributes && { Attributes }) }
  await subscribeAtAws(tools, sides, atAws)
  const filter = filterPolicy !== null && { filterPolicy, filterPolicyScope }
  await subscribeHere(tools, sides, { protocol: 'sqs', endpoint: name, redrivePolicy: null, ...filter })
}

/** Subscribes a twin to the topic at AWS, until the comparison ends. */
export async function subscribeAtAws(
  { undo, onMade }: TwinTools,
  { topic: { sns, arn: TopicArn } }: Sides,
  input: Omit<SubscribeCommandInput, 'TopicArn'>,
): Promise<void> {
  const { SubscriptionArn } = await sns.send(new SubscribeCommand({ TopicArn, ...input }))
  const unsubscribe = () => sns.send(new UnsubscribeCommand({ SubscriptionArn }))
  undo.push({ what: `the subscription ${SubscriptionArn}`, isSubscription: true, remove: unsubscribe })
  onMade()
}

/** Subscribes a twin to the topic of Fantail, until the comparison ends. */
export async function subscribeHere(
  { client, undo }: TwinTools,
  { to }: Sides,
  body: NewSubscription,
): Promise<void> {
  const { id } = await subscribe({ client, path: { topic: to }, body })
  const remove = () => deleteSubscription({ client, path: { id } })
  undo.push({ what: `the subscription ${id}`, isSubscription: true, remove })
}

/** Whether a comparison has made the subscription of this endpoint. */
export function isQueueTwin(endpoint: string): boolean {
  return parseArn(endpoint)?.name.startsWith(TWIN_PREFIX) === true
}

/**
 * Deletes the queues at AWS of comparisons of the topics, also those to which a killed comparison had not yet
 * subscribed. `unsubscribed`: names of queues that were just unsubscribed. One of them stays if topics send to it that
 * are not among these.
 */
export async function deleteTwinQueues(
  { topics, pattern }: AwsTopics,
  unsubscribed: ReadonlySet<string>,
  { deleted, stays }: Record<'deleted' | 'stays', (name: string) => void>,
): Promise<void> {
  const [first] = topics
  if (!first) return
  const senders = [pattern, ...topics.map(({ arn }) => arn)]
  const urls = await allPages(async (NextToken) => {
    const asked = { QueueNamePrefix: TWIN_PREFIX, MaxResults: QUEUES_OF_PAGE, NextToken }
    const page = await first.sqs.send(new ListQueuesCommand(asked))
    return { items: page.QueueUrls ?? [], next: page.NextToken }
  })
  await sideBySide(urls, CALLS_AT_ONCE, async (QueueUrl) => {
    const name = QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1)
    // SQS lists a queue for a while after it was deleted.
    const found = await ifThere(sendersAmong(first, QueueUrl, senders))
    if (!found) return
    if (!found.areAll && unsubscribed.has(name)) stays(name)
    if (!found.areAll || !(found.isNamed || unsubscribed.has(name))) return
    if (await ifThere(first.sqs.send(new DeleteQueueCommand({ QueueUrl })))) deleted(name)
  })
}

type Arrivals = Map<string, Arrival>

function collect(source: MessageSource, intoOf: (body: string) => Arrivals | undefined): Consumer {
  const consumer = consume(
    source,
    ({ body, sentAt }) => {
      const [arrival, into] = [arrivalOf({ body, at: sentAt.getTime() }), intoOf(body)]
      if (arrival && into && !into.has(arrival.messageId)) into.set(arrival.messageId, arrival)
    },
    { concurrency: COLLECTED_AT_ONCE_MAX, waitSeconds: 1 },
  )
  // The next receive tries again, and a message that was not collected is missing in the comparison.
  consumer.on('problem', () => undefined)
  return consumer
}
