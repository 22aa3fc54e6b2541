/** The set-up of a server as one file: queues, topics and their subscriptions, with the settings that were given. */
import {
  type Client,
  getEventType,
  listEventTypes,
  listQueues,
  listTopicSubscriptions,
  listTopics,
  SETTINGS,
} from '@fantail/client/api'
import { pagesOf } from '../../frame/list-command.ts'

interface NamedState {
  name: string
  settings: Record<string, unknown>
}

export interface SubscriptionState {
  endpoint: string
  /** The name, by which subscriptions with the same endpoint are distinguished. */
  name: string | null
  settings: Record<string, unknown>
}

interface TopicState {
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

/** A subscription of the server, with the id that the file does not have. */
export interface FoundSubscription extends SubscriptionState {
  id: string
}

export interface Found extends Omit<State, 'topics'> {
  topics: (Omit<TopicState, 'subscriptions'> & { subscriptions: FoundSubscription[] })[]
}

/**
 * Members of a subscription that the file has as settings. Endpoint and name have places of their own. `outbound` is
 * left out, because the answer masks its secrets.
 */
const SUBSCRIPTION_MEMBERS = SETTINGS.Subscription.filter(
  (member) => member !== 'endpoint' && member !== 'name' && member !== 'outbound',
)

/** Settings that a queue or topic gets when it is created, and that cannot be changed. */
export const FIXED = ['fifo']

/**
 * Queues that a topic makes for itself are left out: they come with the topic. `onRead` gets the number of topics that
 * are read so far.
 */
export async function readState(client: Client, onRead: (topics: number) => void): Promise<Found> {
  const state: Found = { version: 1, queues: [], topics: [] }
  for await (const page of pagesOf(
    (query) => listQueues({ client, query }),
    ({ queues }) => queues,
  )) {
    const own = page.filter(({ deadLettersOf }) => deadLettersOf === null)
    state.queues.push(...own.map((queue) => ({ name: queue.name, settings: picked(queue, SETTINGS.Queue) })))
  }
  for await (const page of pagesOf(
    (query) => listTopics({ client, query }),
    ({ topics }) => topics,
  )) {
    for (const topic of page) {
      const { name } = topic
      const subscriptions = await subscriptionsOf(client, name)
      const eventTypes = await eventTypesOf(client, name)
      const catalogue = eventTypes.length > 0 && { eventTypes }
      state.topics.push({ name, settings: picked(topic, SETTINGS.Topic), ...catalogue, subscriptions })
      onRead(state.topics.length)
    }
  }
  return state
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
        settings: picked(subscription, SUBSCRIPTION_MEMBERS),
      })),
    )
  }
  return found
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
