/** Ids of redrive tasks, the conversion of a hash to a task, its ends, and the pages of a purge. */
import { randomBytes } from 'node:crypto'
import {
  createMessageId,
  parseMessageId,
  type RedriveAction,
  type RedriveFilter,
  type RedriveTask,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { redriveOutcomesKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { filterJson } from '../queues/items/redrive-counts.ts'
import { checkText, sumText } from '../records/checksums.ts'
import { REDRIVE } from '../records/redrive-fields.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable } from '../redis/unreadable.ts'

export function shardOfTask(id: string): number | undefined {
  const shard = parseMessageId(id)?.[15]
  return shard !== undefined && shard < SHARD_COUNT ? shard : undefined
}

/** The common arguments of every script of a task. */
export function taskPlace(id: string): { base: string; id: string } {
  const shard = shardOfTask(id)
  if (shard === undefined) throw new TypeError(`not a redrive's id: ${id}`)
  return { base: shardBase(shard), id }
}

let lastTaskAt = 0

/** A new id. Ids give lists their order, so two ids of one process never have the same millisecond. */
export function newTaskId(shard: number, now: number): string {
  lastTaskAt = Math.max(now, lastTaskAt + 1)
  const random = randomBytes(10)
  random[9] = shard
  return createMessageId(lastTaskAt, random)
}

/** Members that say what a task does. Without one of them it would do something else, or more. */
const ORDER = ['id', 'source', 'status', 'action', 'destination', 'filter', 'rate'] as const

/** Members of an order that stay as they are. The checksum of the filter is over all of them. */
interface FixedOrder {
  id: string
  source: string
  action: RedriveAction
  destination: string
  /** The number of messages that go first, or ''. A resend has none. */
  canary?: string
  /** '1' if the message goes edited, also when the edit itself is deleted with the end of the task. */
  edited?: '' | '1'
}

/** The filter as it is stored. If another member of the order is changed, the task cannot be read either. */
export function sumFilter(filter: object, order: FixedOrder): string {
  return sumText(JSON.stringify(filter), beside(order))
}

function beside({ id, source, action, destination, canary = '', edited = '' }: FixedOrder): string {
  return JSON.stringify([id, source, action, destination, canary, edited])
}

/** The members with the filter alone. Throws an UnreadableRecordError if the order was changed. */
function checked(fields: Record<string, string>, key: string): Record<string, string> {
  const { filter = '', edited, edit = '', endedAt } = fields
  if (edited === '1' && edit === '' && endedAt === '')
    throw new UnreadableRecordError(key, new TypeError('the edit is lost'))
  return { ...fields, filter: checkText(filter, key, beside(fields as unknown as FixedOrder)) }
}

/** null: there is no such task. Throws an UnreadableRecordError if it cannot be read whole. */
export function readTask(fields: Record<string, string>, key: string): RedriveTask | null {
  if (Object.keys(fields).length === 0) return null
  for (const name of ORDER) {
    if (fields[name] === undefined) throw new UnreadableRecordError(key, new TypeError(`${name} is lost`))
  }
  const set = Object.entries(checked(fields, key)).filter(([, text]) => text !== '')
  return REDRIVE.unpack(Object.fromEntries(set), key)
}

/**
 * The readable members of a task. Other members have their defaults, so a task must never run by this. null: there is
 * no such task.
 */
export function readReadable(fields: Record<string, string>, id: string): RedriveTask | null {
  if (Object.keys(fields).length === 0) return null
  const needed = { id, source: '', status: 'canceling' }
  const readable = Object.entries(fields).filter(
    ([name, text]) =>
      text !== '' && ifReadable(() => REDRIVE.unpack({ ...needed, [name]: text }, id)).length > 0,
  )
  return REDRIVE.unpack({ ...needed, ...Object.fromEntries(readable) }, id)
}

type Ends = Pick<RedriveTask, 'delivered' | 'backInDlq' | 'discarded'>

export async function readEnds(
  redis: Redis,
  { id, shards }: Pick<RedriveTask, 'id' | 'shards'>,
): Promise<Ends> {
  const ends = { delivered: 0, backInDlq: 0, discarded: 0 }
  if (shards.length === 0) return ends
  const pipeline = batch(redis)
  // The names are ENDS of scripts/lua-names.ts.
  for (const shard of shards) pipeline.hmget(redriveOutcomesKey(shardBase(shard), id), 'd', 'q', 'x')
  for (const [delivered, dead, discarded] of (await replies(pipeline)) as (string | null)[][]) {
    ends.delivered += Number(delivered ?? 0)
    ends.backInDlq += Number(dead ?? 0)
    ends.discarded += Number(discarded ?? 0)
  }
  return ends
}

const PURGE_PAGE = readScript('purge-page-1')
/** Messages that one script of a purge task looks at. Past it: the next script looks on. */
const PURGE_SCAN_ITEMS_MAX = 500

export interface PurgedPage {
  removed: number
  /** `stop`: the task is paused or ended. `stale`: another run has the task. */
  next: 'again' | 'stop' | 'stale'
}

export async function purgePage(
  redis: Redis,
  { id, fence, filter }: { id: string; fence: number; filter: RedriveFilter },
): Promise<PurgedPage> {
  const args = { fence, lookedAtMax: PURGE_SCAN_ITEMS_MAX, filterJson: filterJson(filter) }
  const [removed, next] = (await runScript(redis, PURGE_PAGE, { ...taskPlace(id), ...args })) as [
    number,
    Buffer,
  ]
  return { removed, next: String(next) as PurgedPage['next'] }
}
