/** Counts the messages that a redrive would move, page by page. */
import type { RedriveFilter } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { shardBase, shardOf } from '../../keys/shards.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { queueMissing } from './queue-errors.ts'

const COUNT = readScript('count-redrive-1')
/** Dead letters that one script counts, in about 2 ms. Past it: the next script counts on. */
const COUNT_SCAN_ITEMS_MAX = 200

export interface RedriveCounts {
  matched: number
  /** Messages without a subscription or source queue. Without a destination they stay. */
  withoutOrigin: number
  /** By subscription ARN. */
  bySubscription: Record<string, number>
  /** By status code. `none`: there was no answer. */
  byStatusCode: Record<string, number>
}

/**
 * Counts the messages. Also returns the highest score now, at which the task will end, and Redis's time. Throws
 * `not_found`.
 */
export async function countRedrive(
  redis: Redis,
  source: string,
  filter: RedriveFilter,
): Promise<RedriveCounts & { newest: string; now: number }> {
  const counts: RedriveCounts = { matched: 0, withoutOrigin: 0, bySubscription: {}, byStatusCode: {} }
  let [fromScore, fromId] = ['', '']
  let newest = ''
  let now = 0
  do {
    const reply = (await runScript(redis, COUNT, {
      base: shardBase(shardOf(source)),
      source,
      fromScore,
      fromId,
      newest,
      lookedAtMax: COUNT_SCAN_ITEMS_MAX,
      filterJson: filterJson(filter),
    })) as CountReply | null
    if (reply === null) throw queueMissing()
    newest = String(reply[0])
    now = reply[6]
    fromScore = String(reply[1])
    fromId = String(reply[2])
    counts.matched += reply[3]
    counts.withoutOrigin += reply[7]
    addCounts(counts.bySubscription, reply[4])
    addCounts(counts.byStatusCode, reply[5])
  } while (fromScore !== '')
  return { ...counts, newest, now }
}

type CountReply = [
  newest: Buffer,
  score: Buffer,
  id: Buffer,
  matched: number,
  subscriptions: Buffer[],
  statuses: Buffer[],
  now: number,
  withoutOrigin: number,
]

/** The filter in the form of queue-scan.lua. Absent members mean any. */
export function filterJson(filter: RedriveFilter): string {
  const { subscription, subscriptions, topic, topicPrefix, exceptTopics, statusCode, reason, error } = filter
  const { since, until: till, messageIds: ids } = filter
  const status = statusCode === undefined ? undefined : textOf(statusCode)
  const failure = error === undefined ? undefined : textOf(error)
  const among = subscriptions
  const under = topicPrefix
  const apart = exceptTopics
  const letter = {
    subscription,
    among,
    topic,
    under,
    apart,
    status,
    error: failure,
    reason,
    since,
    till,
    ids,
  }
  return JSON.stringify(letter)
}

/** Scripts have an empty text for a letter without a status or an error. */
function textOf(value: string | number): string {
  return value === 'none' ? '' : String(value)
}

function addCounts(counts: Record<string, number>, flat: Buffer[]): void {
  for (let i = 0; i < flat.length; i += 2) {
    const name = String(flat[i]) || 'none'
    counts[name] = (counts[name] ?? 0) + Number(flat[i + 1])
  }
}
