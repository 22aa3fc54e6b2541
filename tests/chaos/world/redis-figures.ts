/** Figures of the APIs and Redis after a run: queues, counts, jobs, the quarantine. */
import { Counts } from '@fantail/store'
import type { World } from './world.ts'

const PAGE = 100
const JOBS = 'ft:{dispatch-0}:dispatch-0'
const OPEN_LISTS = ['wait', 'active', 'delayed', 'prioritized', 'waiting-children', 'paused']
const TOPIC_GONE = ['discarded:unsubscribed', 'discarded:topicDeleted']

export interface Counted {
  /** Without those of deleted topics. */
  discarded: number
  ofDeletedTopics: number
  expired: number
}

interface QueuedText {
  body: string
  deadLetter?: { subscriptionArn: string; reason: string }
}

/** All texts in a queue, in the queue's order. */
export async function queueTexts({ clients }: World, queue: string): Promise<QueuedText[]> {
  const found: QueuedText[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: { messages: QueuedText[]; nextCursor: string | null } = await clients[0].get(
      `/v1/queues/${queue}/messages?limit=${PAGE}${query}`,
    )
    found.push(...page.messages)
    cursor = page.nextCursor
  }
  return found
}

export async function sumOfCounts({ redis }: World): Promise<Counted> {
  const counts = await redis.ask((connection) => new Counts(connection).read())
  const sum = (causes: string[]) => causes.reduce((total, cause) => total + (counts[cause] ?? 0), 0)
  const discards = Object.keys(counts).filter((cause) => cause.startsWith('discarded:'))
  return {
    discarded: sum(discards.filter((cause) => !TOPIC_GONE.includes(cause))),
    ofDeletedTopics: sum(TOPIC_GONE),
    expired: counts.expired ?? 0,
  }
}

export async function hasOpenJobs({ redis }: World): Promise<boolean> {
  const keys = OPEN_LISTS.map((list) => `${JOBS}:${list}`)
  return (await redis.ask((connection) => connection.exists(...keys))) > 0
}

/** Texts of messages that were quarantined or failed permanently instead of being delivered. There must be none. */
export async function quarantined({ redis, clients }: World): Promise<string[]> {
  const failed = await redis.ask((connection) => connection.zrange(`${JOBS}:failed`, 0, '-1'))
  const { entries } = await clients[0].get<{ entries: object[] }>('/v1/quarantine')
  return [
    ...failed.map((job) => `job ${job} has failed permanently`),
    ...entries.map((entry) => `in quarantine: ${JSON.stringify(entry)}`),
  ]
}
