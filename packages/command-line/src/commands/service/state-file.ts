/** The set-up of a server as one file: queues, topics and their subscriptions, with the settings that were given. */
import {
  type Client,
  getEventType,
  getQueue,
  getSession,
  getTopic,
  listEventTypes,
  listQueues,
  listTopicSubscriptions,
  listTopics,
  type Queue,
  SETTINGS,
  type Subscription,
  type Topic,
} from '@fantail/client/api'
import { ARN_DEFAULTS, type ArnDefaults, parseArn } from '@fantail/contracts'
import { PROTOCOL_TRAITS, readEndpoint } from '@fantail/policy'
import { pagesOf } from '../../frame/list-command.ts'
import { ApiRefusal } from '../../output/exit-codes.ts'

export interface NamedState {
  /** In the server's own account and region it may be short, elsewhere it is the ARN. */
  name: string
  settings: Record<string, unknown>
}

export interface SubscriptionState {
  endpoint: string
  /** The name, by which subscriptions with the same endpoint are distinguished. */
  name: string | null
  settings: Record<string, unknown>
}

export interface TopicState {
  /** It is short or an ARN, as the name of a queue is. */
  name: string
  settings: Record<string, unknown>
  /** The catalogue. Absent: it stays as it is. */
  eventTypes?: NamedState[]
  subscriptions: SubscriptionState[]
}

export interface State {
  version: 1
  queues: NamedState[]
  topics: TopicState[]
}

interface TopicQueueState extends NamedState {
  arn: string
}

/** A subscription of the server, with the id that the file does not have. */
export interface FoundSubscription extends SubscriptionState {
  id: string
}

export interface Found extends Omit<State, 'topics'> {
  /** Queues that topics have made for their dead letters. They come and go with their topics. Absent: none. */
  topicQueues?: TopicQueueState[]
  topics: (Omit<TopicState, 'subscriptions'> & { subscriptions: FoundSubscription[] })[]
}

/**
 * Members of a subscription that the file has as settings. Endpoint and name have places of their own. `outbound` is
 * left out, because the answer masks its secrets.
 */
const SUBSCRIPTION_MEMBERS = SETTINGS.Subscription.filter(
  (member) => member !== 'endpoint' && member !== 'name' && member !== 'outbound',
)

/** Settings that something gets when it is created, and that cannot be changed. */
export const FIXED = ['fifo', 'origin', 'protocol']
/** A new subscription may be paused. Later a pause is an act, and no setting. */
export const INITIAL = ['status']

/** Each member selects some of a server, and the queues to which that leads. Without members everything is read. */
export interface Selection {
  /** The beginning of names. */
  prefix?: string
  topics?: string[]
  queues?: string[]
}

/** `onRead` gets the number of topics that are read so far. */
export async function readState(
  client: Client,
  onRead: (topics: number) => void,
  selection: Selection = {},
): Promise<Found> {
  const { server } = await getSession({ client })
  const named = ({ arn }: { arn: string }) => nameAt(server, arn)
  const { queues, topicQueues } = await queuesOf(client, selection, named)
  const topics = new Map<string, Found['topics'][number]>()
  for await (const topic of topicsOf(client, selection)) {
    const name = named(topic)
    if (topics.has(name)) continue
    const subscriptions = await subscriptionsOf(client, name)
    const eventTypes = await eventTypesOf(client, name)
    const catalogue = eventTypes.length > 0 && { eventTypes }
    topics.set(name, { name, settings: picked(topic, SETTINGS.Topic), ...catalogue, subscriptions })
    onRead(topics.size)
  }
  const found = { version: 1 as const, queues, topicQueues, topics: [...topics.values()] }
  if (!isEverything(selection)) await addReferred(client, found, named)
  return found
}

function isEverything({ prefix, topics, queues }: Selection): boolean {
  return prefix === undefined && topics === undefined && queues === undefined
}

type Named = (record: { arn: string }) => string

async function queuesOf(
  client: Client,
  selection: Selection,
  named: Named,
): Promise<Pick<Required<Found>, 'queues' | 'topicQueues'>> {
  const queues = new Map<string, NamedState>()
  const topicQueues = new Map<string, TopicQueueState>()
  const add = (queue: Queue) => {
    const { arn, deadLettersOf } = queue
    const state = queueState(queue, named)
    if (deadLettersOf === null) queues.set(arn, state)
    else topicQueues.set(arn, { ...state, arn })
  }
  for (const queue of selection.queues ?? []) add(await getQueue({ client, path: { queue } }))
  const listed = listedBy(selection)
  if (listed) {
    const read = (page: object) => listQueues({ client, query: { ...listed, ...page } })
    for await (const page of pagesOf(read, ({ queues: found }) => found)) page.forEach(add)
  }
  return { queues: [...queues.values()], topicQueues: [...topicQueues.values()] }
}

async function* topicsOf(client: Client, selection: Selection): AsyncGenerator<Topic> {
  for (const topic of selection.topics ?? []) yield await getTopic({ client, path: { topic } })
  const listed = listedBy(selection)
  if (!listed) return
  const read = (page: object) => listTopics({ client, query: { ...listed, ...page } })
  for await (const page of pagesOf(read, ({ topics }) => topics)) yield* page
}

/** The query that lists what is selected. undefined: single names only. */
function listedBy(selection: Selection): { prefix?: string } | undefined {
  const { prefix } = selection
  if (prefix !== undefined) return { prefix }
  return isEverything(selection) ? {} : undefined
}

function queueState(queue: Queue, named: Named): NamedState {
  return { name: named(queue), settings: picked(queue, SETTINGS.Queue) }
}

/** Adds the queues that topics and queues lead to, so that the file can be applied to an empty server. */
async function addReferred(
  client: Client,
  { topics, queues, topicQueues }: Required<Found>,
  named: Named,
): Promise<void> {
  const known = new Set(queues.map(({ name }) => name))
  const open = [...queues, ...topics.flatMap(({ subscriptions }) => subscriptions)].flatMap(targetsOf)
  for (let arn = open.pop(); arn !== undefined; arn = open.pop()) {
    const name = named({ arn })
    if (known.has(name)) continue
    known.add(name)
    const queue = await getQueue({ client, path: { queue: arn } }).catch(orMissing)
    if (!queue) continue
    const state = queueState(queue, named)
    if (queue.deadLettersOf === null) queues.push(state)
    else if (!topicQueues.some((other) => other.arn === arn)) topicQueues.push({ ...state, arn })
    open.push(...targetsOf(state))
  }
}

/** ARNs of the queues to which something delivers or dead-letters. */
function targetsOf({ endpoint = '', settings }: { endpoint?: string; settings: Record<string, unknown> }) {
  const { deadLetterTargetArn } = (settings.redrivePolicy ?? {}) as { deadLetterTargetArn?: string }
  return [endpoint, deadLetterTargetArn ?? ''].filter((target) => /^arn:[^:]*:sqs:/.test(target))
}

/** A queue that does not exist, or that the key must not see, is left out. */
function orMissing(error: unknown): undefined {
  if (error instanceof ApiRefusal && [403, 404].includes(error.status)) return undefined
  throw error
}

/**
 * The file of a server's set-up. Another server gives other ids, and defaults need no words. A queue that a topic has
 * made is left out, unless something else names it.
 */
export function written({ topics, queues, topicQueues = [], ...rest }: Found): State {
  const sources = [...queues, ...topicQueues, ...topics.flatMap(({ subscriptions }) => subscriptions)]
  const targets = new Set(sources.flatMap(targetsOf))
  const named = topicQueues.filter(({ arn }) => targets.has(arn))
  return {
    ...rest,
    queues: [...queues, ...named.map(({ arn: _, ...queue }) => queue)],
    topics: topics.map(({ subscriptions, ...topic }) => ({
      ...topic,
      subscriptions: subscriptions.map(({ id: _, settings, ...subscription }) => ({
        ...subscription,
        settings: withoutDefaults(subscription.endpoint, settings),
      })),
    })),
  }
}

function withoutDefaults(
  endpoint: string,
  { protocol, origin, ...settings }: Record<string, unknown>,
): Record<string, unknown> {
  const implied = readEndpoint(endpoint, undefined, ARN_DEFAULTS)
  const isImplied = 'protocol' in implied && implied.protocol === protocol
  return { ...settings, ...(!isImplied && { protocol }), ...(origin === 'aws' && { origin }) }
}

/** The name in a file for a topic or queue of the server: short if the server completes it to this ARN. */
export function nameAt(server: ArnDefaults, arn: string): string {
  const { partition, region, account, name } = parseArn(arn) ?? { name: arn }
  const isOwn = partition === server.partition && region === server.region && account === server.account
  return isOwn ? name : arn
}

async function subscriptionsOf(client: Client, topic: string): Promise<FoundSubscription[]> {
  const read = (query: object) => listTopicSubscriptions({ client, path: { topic }, query })
  const found: FoundSubscription[] = []
  for await (const page of pagesOf(read, ({ subscriptions }) => subscriptions)) {
    found.push(
      ...page.map((subscription) => ({
        id: subscription.id,
        endpoint: subscription.endpoint,
        name: subscription.name,
        settings: { ...picked(subscription, SUBSCRIPTION_MEMBERS), ...firstSettings(subscription) },
      })),
    )
  }
  return found
}

/**
 * Settings that only a new subscription can be given. If its endpoint has to confirm, it waits for that instead of
 * being paused.
 */
function firstSettings({ protocol, origin, status, confirmation }: Subscription): Record<string, unknown> {
  const confirms = confirmation === 'handshake' || PROTOCOL_TRAITS[protocol].confirmedBy === 'person'
  return { protocol, origin, ...(status === 'paused' && !confirms && { status }) }
}

async function eventTypesOf(client: Client, topic: string): Promise<NamedState[]> {
  const { eventTypes } = await listEventTypes({ client, path: { topic } })
  const states: NamedState[] = []
  for (const { name } of eventTypes) {
    const { description, schema, examples, deprecated } = await getEventType({
      client,
      path: { topic, name },
    })
    states.push({ name, settings: { description, schema, examples, deprecated } })
  }
  return states
}

function picked<T extends object>(record: T, members: readonly (keyof T)[]): Record<string, unknown> {
  const given = members.filter((member) => record[member] !== undefined)
  return Object.fromEntries(given.map((member) => [member, record[member]]))
}
