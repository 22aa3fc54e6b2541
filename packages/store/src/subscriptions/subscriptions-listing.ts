/**
 * Lists of subscriptions, in the order of topic ARN, slice and id. None of these changes during a subscription's life.
 * A page's bounds are these three values and not positions. A subscription that stays is therefore on exactly one page.
 */
import type { SubscriptionRecord, SubscriptionStatus } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { sliceKey, subscriptionsKey, topicKey, topicsKey } from '../keys/keys.ts'
import { shardBase, sliceShard } from '../keys/shards.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { batch } from '../redis/batch.ts'
import {
  badCursor,
  decodeCursor,
  encodeCursor,
  listNames,
  type Page,
  readableReplies,
} from '../redis/pages.ts'
import { ifReadable, whenReadable } from '../redis/unreadable.ts'
import { unpackSubscription } from '../slices/subscriptions-record.ts'
import { listSlice } from '../slices/subscriptions-scripts.ts'
import { parseSlices } from '../slices/topics-record.ts'

/**
 * Subscriptions that one filtered list reads. Past it: the page is short and has a cursor. A filtered list stops after
 * this many and returns a short page. No request then takes longer than about 50 ms.
 */
const SCANNED_MAX = 5_000
const SLICES_AT_ONCE = 20
const TOPICS_AT_ONCE = 100

export interface ListSubscriptions {
  topicArn?: string
  /** Prefix of the topics' ARNs: an account and region. */
  topicPrefix?: string
  endpoint?: string
  status?: SubscriptionStatus
  name?: string
  /** A key and value that its metadata must have. */
  metadata?: { key: string; value: string }
  /** Also lists subscriptions that were unsubscribed by their link. */
  unsubscribed?: boolean
  cursor?: string
  limit: number
}

interface Slice {
  topicArn: string
  number: number
  sliceId: string
  shard: number
  /** Approximate number of its subscriptions. */
  count: number
  /** Ids after this one. */
  after: string
}

interface Candidate {
  slice: Slice
  id: string
  text: string
}

/** The page begins after this subscription. */
interface Position {
  topicArn: string
  sliceNumber: number
  id: string
}

export async function listSubscriptions(
  redis: Redis,
  request: ListSubscriptions,
  onUnreadable: ((error: Error) => void) | undefined,
): Promise<Page<SubscriptionRecord>> {
  const items: SubscriptionRecord[] = []
  let scanned = 0
  let last: Candidate | undefined
  for await (const candidate of candidates(redis, request, onUnreadable)) {
    if (last && (items.length >= request.limit || scanned >= SCANNED_MAX)) {
      return { items, nextCursor: encodeCursor([last.slice.topicArn, String(last.slice.number), last.id]) }
    }
    last = candidate
    scanned += 1
    const record = unpackOrReport(candidate, onUnreadable)
    if (record && matches(record, request)) items.push(record)
  }
  return { items, nextCursor: null }
}

function unpackOrReport(
  { slice, id, text }: Candidate,
  onUnreadable: ((error: Error) => void) | undefined,
): SubscriptionRecord | null {
  const key = subscriptionsKey(shardBase(slice.shard), slice.sliceId)
  try {
    return unpackSubscription(text, { id, topicArn: slice.topicArn, key })
  } catch (error) {
    if (!onUnreadable || !(error instanceof UnreadableRecordError)) throw error
    onUnreadable(error)
    return null
  }
}

function matches(
  record: SubscriptionRecord,
  { endpoint, status, name, metadata, unsubscribed = false }: ListSubscriptions,
): boolean {
  if (record.unsubscribed && !unsubscribed) return false
  if (endpoint !== undefined && record.endpoint !== endpoint) return false
  if (name !== undefined && record.name !== name) return false
  if (metadata !== undefined && record.metadata?.[metadata.key] !== metadata.value) return false
  return status === undefined || record.status === status
}

/** Every subscription after the request's cursor, in order. */
async function* candidates(
  redis: Redis,
  request: ListSubscriptions,
  onUnreadable: ((error: Error) => void) | undefined,
): AsyncGenerator<Candidate> {
  const limit = request.limit + 1
  const list = async (slice: Slice) => {
    const read = () => listSlice(redis, { ...slice, limit })
    if (!onUnreadable) return read()
    return (await whenReadable(sliceKey(shardBase(slice.shard), slice.sliceId), onUnreadable, read)) ?? []
  }
  for await (const slices of sliceGroups(redis, request)) {
    const parts = await Promise.all(slices.map(list))
    for (const [i, slice] of slices.entries()) {
      let part = parts[i] ?? []
      for (;;) {
        for (const found of part) yield { slice, ...found }
        const after = part.at(-1)?.id
        if (part.length < limit || after === undefined) break
        part = await list({ ...slice, after })
      }
    }
  }
}

/** All slices from the cursor on, in order, in groups as large as a page may need. */
async function* sliceGroups(redis: Redis, request: ListSubscriptions): AsyncGenerator<Slice[]> {
  const from = request.cursor ? positionOf(request.cursor) : undefined
  for await (const arns of topicGroups(redis, request, from?.topicArn)) {
    let group: Slice[] = []
    let count = 0
    for (const slice of await slicesOf(redis, arns)) {
      const inFrom = slice.topicArn === from?.topicArn
      if (from && inFrom && slice.number < from.sliceNumber) continue
      group.push(from && inFrom && slice.number === from.sliceNumber ? { ...slice, after: from.id } : slice)
      count += slice.count
      if (count <= request.limit && group.length < SLICES_AT_ONCE) continue
      yield group
      group = []
      count = 0
    }
    if (group.length > 0) yield group
  }
}

function positionOf(cursor: string): Position {
  const [topicArn = '', number = '', id = ''] = decodeCursor(cursor, 3)
  if (!/^\d+$/.test(number)) throw badCursor()
  return { topicArn, sliceNumber: Number(number), id }
}

async function* topicGroups(
  redis: Redis,
  { topicArn, topicPrefix: prefix = '' }: ListSubscriptions,
  from: string | undefined,
): AsyncGenerator<string[]> {
  if (topicArn !== undefined) {
    if (from !== undefined && from !== topicArn) throw badCursor()
    yield [topicArn]
    return
  }
  if (from !== undefined && !from.startsWith(prefix)) throw badCursor()
  if (from !== undefined) yield [from]
  let after = from ?? ''
  for (;;) {
    const arns = await listNames(redis, { key: topicsKey, prefix, after, limit: TOPICS_AT_ONCE })
    yield arns
    if (arns.length < TOPICS_AT_ONCE) return
    after = arns.at(-1) ?? ''
  }
}

/** Slices of existing topics that may have subscriptions. */
async function slicesOf(redis: Redis, arns: string[]): Promise<Slice[]> {
  const pipeline = batch(redis)
  for (const arn of arns) pipeline.hmget(topicKey(arn), 'uid', 'slices')
  const keyOf = (i: number) => topicKey(arns[i] ?? '')
  const topics = (await readableReplies(pipeline, { keyOf })) as ((string | null)[] | undefined)[]
  return arns.flatMap((topicArn, i) => {
    const [uid, slices] = topics[i] ?? []
    if (!uid) return []
    const [counts = []] = ifReadable(() => parseSlices(slices, topicKey(topicArn)))
    return counts.flatMap((count, number) => {
      const shard = sliceShard(topicArn, number)
      return count > 0 ? [{ topicArn, number, sliceId: `${uid}.${number}`, shard, count, after: '' }] : []
    })
  })
}
