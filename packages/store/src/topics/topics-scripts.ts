/** The scripts that write topics, with named results. */
import type { Redis } from 'ioredis'
import { readScript, runScript } from '../redis/scripts.ts'
import { shardBase, shardOf } from '../redis/shards.ts'

const PUT_TOPIC = readScript('put-topic-1')
const CONFIGURE_SLICE = readScript('configure-slice-1')
const FINISH_TOPIC = readScript('finish-topic-1')
const DELETE_TOPIC = readScript('delete-topic-1')
const DROP_SLICE = readScript('drop-slice-1')
const TOUCH_TOPIC = readScript('touch-topic-1')
const LIST_ELAPSED = readScript('list-elapsed-1')

export interface PutTopic {
  arn: string
  /** As read; null for none. */
  expected: string | null
  record: string
  uid: string
  /** Throttle, retention, overrides. */
  fields: [string, string, string]
  revision: string
}

export type PutTopicResult =
  | { outcome: 'changed' }
  | { outcome: 'created'; record: string }
  | { outcome: 'set'; slices: number }

export async function putTopic(redis: Redis, put: PutTopic): Promise<PutTopicResult> {
  const shard = shardOf(put.arn)
  const args = [put.arn, shard, put.expected ?? '', put.record, put.uid, ...put.fields, put.revision]
  const [outcome, value] = (await runScript(redis, PUT_TOPIC, [shardBase(shard)], args)) as [Buffer, unknown]
  switch (outcome.toString()) {
    case 'created':
      return { outcome: 'created', record: String(value) }
    case 'set':
      return { outcome: 'set', slices: Number(value) }
    default:
      return { outcome: 'changed' }
  }
}

/** A topic's settings as its slices get them. */
export interface SliceSettings {
  arn: string
  record: string
  version: string
  /** Throttle, retention, overrides. */
  fields: [string, string, string]
  revision: string
}

/** False where there is no such slice. */
export async function configureSlice(
  redis: Redis,
  slice: { sliceId: string; shard: number },
  settings: SliceSettings,
): Promise<boolean> {
  const { arn, record, version, fields, revision } = settings
  const args = [slice.sliceId, slice.shard, arn, record, version, ...fields, revision]
  return (await runScript(redis, CONFIGURE_SLICE, [shardBase(slice.shard)], args)) === 1
}

export async function finishTopic(
  redis: Redis,
  topic: { arn: string; uid: string; version: string; revision: string },
): Promise<void> {
  const args = [topic.arn, topic.uid, topic.version, topic.revision]
  await runScript(redis, FINISH_TOPIC, [shardBase(shardOf(topic.arn))], args)
}

/** The deleted topic's uid and number of slices, or null where there was none. */
export async function deleteTopic(
  redis: Redis,
  arn: string,
): Promise<{ uid: string; slices: number } | null> {
  const shard = shardOf(arn)
  const reply = (await runScript(redis, DELETE_TOPIC, [shardBase(shard)], [arn, shard])) as [Buffer?, number?]
  return reply[0] ? { uid: reply[0].toString(), slices: reply[1] ?? 0 } : null
}

/** How many subscriptions went with it. */
export async function dropSlice(redis: Redis, slice: { sliceId: string; shard: number }): Promise<number> {
  const args = [slice.sliceId, slice.shard]
  return Number(await runScript(redis, DROP_SLICE, [shardBase(slice.shard)], args))
}

export interface TouchTopic {
  arn: string
  uid: string
  revision: string
  idBytes: Buffer
  /** SHA-1 of a token to remove or to add; '' for none. */
  removeToken: Buffer | ''
  addToken: Buffer | ''
}

/** False where the topic is gone. */
export async function touchTopic(redis: Redis, touch: TouchTopic): Promise<boolean> {
  const args = [touch.arn, touch.uid, touch.revision, touch.idBytes, touch.removeToken, touch.addToken]
  return (await runScript(redis, TOUCH_TOPIC, [shardBase(shardOf(touch.arn))], args)) === 1
}

/** Members of a shard's sorted set whose time lies `ageMs` back, earliest first, and the shard's time. */
export async function listElapsed(
  redis: Redis,
  list: { shard: number; set: 'unfinished' | 'expiries'; ageMs: number; limit: number },
): Promise<{ now: number; members: string[] }> {
  const args = [list.set, list.ageMs, list.limit]
  const reply = (await runScript(redis, LIST_ELAPSED, [shardBase(list.shard)], args)) as Buffer[]
  return { now: Number(reply[0]), members: reply.slice(1).map(String) }
}
