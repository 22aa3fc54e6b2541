/**
 * Twins of subscriptions: on each side a queue with the same filter policy, whose messages are collected. Subscriptions
 * with the same filter policy share them. A twin always gets the envelope, because a raw message in a queue has no id.
 *
 * At Fantail the queues have a lease, so they end by themselves after a crash. At AWS they stay until `fantail
 * compare --end` removes them by their names.
 */
import { randomBytes } from 'node:crypto'
import { SubscribeCommand, type SubscribeCommandInput, UnsubscribeCommand } from '@aws-sdk/client-sns'
import { DeleteQueueCommand, GetQueueUrlCommand, QueueDoesNotExist } from '@aws-sdk/client-sqs'
import {
  type Client,
  createQueue,
  deleteQueue,
  deleteSubscription,
  type NewSubscription,
  subscribe,
} from '@fantail/client/api'
import { type Consumer, consume, fantailQueue, type MessageSource, sqs } from '@fantail/consumer'
import { parseArn } from '@fantail/contracts'
import type { Server } from '../../frame/command-context.ts'
import type { AwsTopic } from './aws-topic.ts'
import { makeAwsQueue } from './bridge-queue.ts'
import { type Arrival, arrivalOf } from './compare-arrivals.ts'
import { filterOfHere, type Pair } from './subscription-pairs.ts'

const TWIN_PREFIX = 'fantail-compare-'
/** How long a queue at Fantail stays after a crash. */
const TWIN_LEASE_SECONDS = 60
/** Messages of a queue that are collected at the same time. Past it: they wait. */
const COLLECTED_AT_ONCE_MAX = 50

export interface TwinTools {
  topic: AwsTopic
  client: Client
  server: Server
  /** The topic of Fantail. */
  to: string
  /** Steps that remove the twins again. The last one comes first. */
  undo: Undo[]
}

export interface Undo {
  /** Names the thing that is removed. */
  what: string
  remove(): Promise<unknown>
}

export interface Twin {
  pairs: Pair[]
  aws: Map<string, Arrival>
  fantail: Map<string, Arrival>
}

export async function openQueueTwins(tools: TwinTools, pairs: Pair[]): Promise<Twin[]> {
  const alike = Map.groupBy(pairs, ({ here }) => filterOfHere(here) + here.filterPolicyScope)
  const twins: Twin[] = []
  for (const group of alike.values()) twins.push(await openTwin(tools, group))
  return twins
}

async function openTwin(tools: TwinTools, pairs: Pair[]): Promise<Twin> {
  const { topic, server, undo } = tools
  const [aws, fantail] = [new Map<string, Arrival>(), new Map<string, Arrival>()]
  const name = `${TWIN_PREFIX}${randomBytes(6).toString('hex')}${topic.isFifo ? '.fifo' : ''}`
  const queueUrl = await openAtAws(tools, name, pairs[0])
  await openHere(tools, name, pairs[0])
  const { url, apiKey } = server
  const here = fantailQueue(name, { url, ...(apiKey !== undefined && { apiKey }) })
  const consumers = [collect(sqs(queueUrl, { client: topic.sqs }), aws), collect(here, fantail)]
  const stop = () => Promise.all(consumers.map((consumer) => consumer.stop()))
  undo.push({ what: `the consumers of ${name}`, remove: stop })
  return { pairs, aws, fantail }
}

/** Resolves with the queue's URL. */
async function openAtAws(tools: TwinTools, name: string, pair: Pair | undefined): Promise<string> {
  const { topic, undo } = tools
  const { sqs: client } = topic
  const { queueUrl: QueueUrl, queueArn: Endpoint } = await makeAwsQueue(topic, name)
  const remove = () => client.send(new DeleteQueueCommand({ QueueUrl }))
  undo.push({ what: `the queue ${name} at AWS`, remove })
  const hasFilter = pair !== undefined && pair.here.filterPolicy !== null
  const Attributes = hasFilter && {
    FilterPolicyScope: pair.here.filterPolicyScope,
    FilterPolicy: filterOfHere(pair.here),
  }
  await subscribeAtAws(tools, { Protocol: 'sqs', Endpoint, ...(Attributes && { Attributes }) })
  return QueueUrl
}

/** Subscribes a twin to the topic at AWS, until the comparison ends. */
export async function subscribeAtAws(
  { topic: { sns, arn: TopicArn }, undo }: TwinTools,
  input: Omit<SubscribeCommandInput, 'TopicArn'>,
): Promise<void> {
  const { SubscriptionArn } = await sns.send(new SubscribeCommand({ TopicArn, ...input }))
  const unsubscribe = () => sns.send(new UnsubscribeCommand({ SubscriptionArn }))
  undo.push({ what: `the subscription ${SubscriptionArn}`, remove: unsubscribe })
}

/** Subscribes a twin to the topic of Fantail, until the comparison ends. */
export async function subscribeHere({ client, to, undo }: TwinTools, body: NewSubscription): Promise<void> {
  const { id } = await subscribe({ client, path: { topic: to }, body })
  undo.push({ what: `the subscription ${id}`, remove: () => deleteSubscription({ client, path: { id } }) })
}

/** Whether a comparison has made the subscription of this endpoint. */
export function isQueueTwin(endpoint: string): boolean {
  return parseArn(endpoint)?.name.startsWith(TWIN_PREFIX) === true
}

/** Deletes the queue of a twin at AWS, if it is still there. */
export async function deleteTwinQueue({ sqs: client }: AwsTopic, endpoint: string): Promise<void> {
  try {
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: parseArn(endpoint)?.name }))
    await client.send(new DeleteQueueCommand({ QueueUrl }))
  } catch (error) {
    if (!(error instanceof QueueDoesNotExist)) throw error
  }
}

async function openHere(tools: TwinTools, name: string, pair: Pair | undefined) {
  const { topic, client, undo } = tools
  const settings = { leaseSeconds: TWIN_LEASE_SECONDS, ...(topic.isFifo && { fifo: true }) }
  await createQueue({ client, path: { queue: name }, body: settings })
  undo.push({ what: `the queue ${name}`, remove: () => deleteQueue({ client, path: { queue: name } }) })
  const { filterPolicy = null, filterPolicyScope } = pair?.here ?? {}
  const filter = filterPolicy !== null && { filterPolicy, filterPolicyScope }
  await subscribeHere(tools, { protocol: 'sqs', endpoint: name, redrivePolicy: null, ...filter })
}

function collect(source: MessageSource, into: Map<string, Arrival>): Consumer {
  const consumer = consume(
    source,
    ({ body, sentAt }) => {
      const arrival = arrivalOf({ body, at: sentAt.getTime() })
      if (arrival && !into.has(arrival.messageId)) into.set(arrival.messageId, arrival)
    },
    { concurrency: COLLECTED_AT_ONCE_MAX, waitSeconds: 1 },
  )
  // The next receive tries again, and a message that was not collected is missing in the comparison.
  consumer.on('problem', () => undefined)
  return consumer
}
