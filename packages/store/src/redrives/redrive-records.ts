/** A redrive task's id, and its hash read as a task. */
import { randomBytes } from 'node:crypto'
import {
  createMessageId,
  parseMessageId,
  type RedriveFilter,
  type RedriveStatus,
  type RedriveTask,
} from '@fantail/contracts'
import { SHARD_COUNT } from '../redis/shards.ts'

/** The shard of a task, or undefined where the text is no task's id. */
export function shardOfTask(id: string): number | undefined {
  const shard = parseMessageId(id)?.[15]
  return shard !== undefined && shard < SHARD_COUNT ? shard : undefined
}

let lastTaskAt = 0

/** Ids order the lists: those made in one process never share a millisecond. */
export function newTaskId(shard: number, now: number): string {
  lastTaskAt = Math.max(now, lastTaskAt + 1)
  const random = randomBytes(10)
  random[9] = shard
  return createMessageId(lastTaskAt, random)
}

export function readTask(fields: Record<string, string>): RedriveTask | null {
  const { id, source, status } = fields
  if (id === undefined || source === undefined) return null
  return {
    id,
    status: status as RedriveStatus,
    source,
    destination: fields.destination || null,
    filter: JSON.parse(fields.filter ?? '{}') as RedriveFilter,
    matched: Number(fields.matched),
    moved: Number(fields.moved),
    skipped: Number(fields.skipped),
    maxMessagesPerSecond: fields.rate ? Number(fields.rate) : null,
    startedAt: Number(fields.startedAt),
    endedAt: fields.endedAt ? Number(fields.endedAt) : null,
    error: fields.error || null,
  }
}
