/**
 * Moves lists of older releases to the quarantine: jobs in `poison` of each dispatch queue, messages and deliveries in
 * `aside` of each shard. A list has at most 1,000 items. Every worker does this when it starts. Ids are derived from
 * the texts, so each entry is added once, even if several workers move it.
 */
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { ServerMarks } from '../copies/server-marks.ts'
import { DISPATCH_QUEUES_MAX } from '../dispatch/dispatch-tags.ts'
import { asideKey, poisonJobsKey, QUARANTINE_BASE } from '../keys.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { SHARD_COUNT, shardBase } from '../redis/shards.ts'
import type { Quarantined } from './quarantine.ts'
import type { NewEntry } from './quarantine-entry.ts'

/**
 * Entries of an older release's list that one start moves. Past it: the next start moves the others. An older release
 * kept at most this number of entries in a list.
 */
const MOVED_MAX = 1_000

/** Resolves with the number of moved entries. An entry that a full quarantine refuses stays in its list. */
export async function moveOlderLists(
  redis: Redis,
  add: (entry: NewEntry) => Promise<Quarantined>,
): Promise<number> {
  const lists = [
    ...Array.from({ length: DISPATCH_QUEUES_MAX }, (_, queue) => poisonJobsKey(queue)),
    ...Array.from({ length: SHARD_COUNT }, (_, shard) => asideKey(shardBase(shard))),
  ]
  const asked = batch(redis)
  for (const list of lists) asked.llen(list)
  const lengths = (await replies(asked)) as number[]
  let moved = 0
  for (const [i, list] of lists.entries())
    if ((lengths[i] ?? 0) > 0) moved += await moveList(redis, list, add)
  return moved
}

async function moveList(
  redis: Redis,
  list: string,
  add: (entry: NewEntry) => Promise<Quarantined>,
): Promise<number> {
  const servers = new ServerMarks([redis])
  for (let moved = 0; moved < MOVED_MAX; moved++) {
    const text = await redis.lindex(list, 0)
    const mark = servers.mark(QUARANTINE_BASE)
    if (text === null || (await add(olderEntry(text))) === 'full') return moved
    if (!mark.holds()) throw new Error('a connection to Redis has closed meanwhile')
    await redis.lrem(list, 1, text)
  }
  return MOVED_MAX
}

interface OlderText {
  /** The text of a job that cannot be decoded. */
  data?: string
  /** Set if the item is a whole message. */
  message?: { messageId: string; topicArn: string }
  messageId?: string
  topicArn?: string
  subscriptionId?: string
  detail?: string
}

function olderEntry(text: string): NewEntry {
  const id = `older.${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
  const { data, message, detail = 'a job that could not be decoded', ...named } = parse(text)
  const { messageId, topicArn, subscriptionId } = { ...named, ...message }
  const raw = data ?? (message ? JSON.stringify(message) : text)
  return { id, reason: 'older', detail, messageId, topicArn, subscriptionId, raw }
}

function parse(text: string): OlderText {
  try {
    return JSON.parse(text) as OlderText
  } catch {
    return { detail: 'an entry that cannot be decoded itself' }
  }
}
