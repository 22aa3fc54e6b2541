/** Counts waiting messages in FIFO logs, for gauges. Changes nothing. */
import { publishedAtOf } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { parseDeliveryId } from '../lanes/records/generations.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const LOGS = readScript('fifo-logs-1')

/**
 * Members of a shard's `due` that the gauges of FIFO logs read. Past it: a log may be missing in the gauges. A log with
 * unread messages is due, so it is near the beginning of `due`. It is missed only if the shard has more overdue lanes
 * than this.
 */
const LOOKED_AT_MAX = 1_000

interface FifoLogFigures {
  topicArn: string
  messages: number
  oldestPublishedAt: number
}

/** Figures of the logs that are not empty, each with its isolated groups. */
export async function fifoLogFigures(redis: Redis): Promise<FifoLogFigures[]> {
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shardBase(shard))
  const replies = await Promise.all(
    shards.map((base) => runScript(redis, LOGS, { base, lookedAtMax: LOOKED_AT_MAX })),
  )
  const byTopic = Map.groupBy(
    (replies as (Buffer | number)[][]).flatMap(readFigures),
    ({ topicArn }) => topicArn,
  )
  return [...byTopic].map(([topicArn, logs]) => ({
    topicArn,
    messages: logs.reduce((sum, { messages }) => sum + messages, 0),
    oldestPublishedAt: Math.min(...logs.map(({ oldestPublishedAt }) => oldestPublishedAt)),
  }))
}

function readFigures(flat: (Buffer | number)[]): FifoLogFigures[] {
  const logs: FifoLogFigures[] = []
  for (let i = 0; i < flat.length; i += 3) {
    const [arn, messages, id] = flat.slice(i, i + 3) as [Buffer, number, Buffer]
    const oldestPublishedAt = publishedAtOf(parseDeliveryId(id).messageId)
    logs.push({ topicArn: String(arn), messages, oldestPublishedAt })
  }
  return logs
}
