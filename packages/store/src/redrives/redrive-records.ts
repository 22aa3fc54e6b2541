/** Ids of redrive tasks, and the conversion of a hash to a task. */
import { randomBytes } from 'node:crypto'
import { createMessageId, parseMessageId, type RedriveTask } from '@fantail/contracts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { REDRIVE } from '../records/redrive-fields.ts'
import { CorruptRecordError } from '../records/stored-json.ts'
import { ifReadable } from '../redis/unreadable.ts'

/** The shard of a task. undefined: the text is not the id of a task. */
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

/** null: there is no such task. Throws a CorruptRecordError if it cannot be read whole. */
export function readTask(fields: Record<string, string>, key: string): RedriveTask | null {
  if (Object.keys(fields).length === 0) return null
  for (const name of ORDER) {
    if (fields[name] === undefined) throw new CorruptRecordError(key, new TypeError(`${name} is lost`))
  }
  const set = Object.entries(fields).filter(([, text]) => text !== '')
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
