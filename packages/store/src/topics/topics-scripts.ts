/** The scripts that write topics, with named results. */
import type { Redis } from 'ioredis'
import { shardBase } from '../keys/shards.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import {
  atHome,
  atSlice,
  outcomeOf,
  type SlicePlace,
  type TopicScriptSettings,
} from '../slices/script-places.ts'

const PUT_TOPIC = readScript('put-topic-1')
const CONFIGURE_SLICE = readScript('configure-slice-1')
const FINISH_TOPIC = readScript('finish-topic-1')
const DELETE_TOPIC = readScript('delete-topic-1')
const DROP_SLICE = readScript('drop-slice-1')
const TOUCH_TOPIC = readScript('touch-topic-1')
const LIST_ELAPSED = readScript('list-elapsed-1')

interface PutTopic extends TopicScriptSettings {
  arn: string
  /** '1' if no list shows the topic, else ''. */
  hidden: '' | '1'
  /** The record as it was read; '' if there was none. */
  expected: string
  record: string
  uid: string
  /** Seconds and bytes of the ring of messages, or ''. */
  kept: string
  /** '1' if the topic gets notices or disables endpoints, else ''. */
  watched: string
  revision: string
  /** When a creation is too late for its quota, ms. null: never. */
  validUntil: number | null
}

export type PutTopicResult =
  | { outcome: 'changed' }
  | { outcome: 'created'; record: string }
  | { outcome: 'set'; slices: number }

export async function putTopic(redis: Redis, put: PutTopic): Promise<PutTopicResult> {
  const { outcome, rest } = await outcomeOf(runScript(redis, PUT_TOPIC, { ...atHome(put.arn), ...put }))
  switch (outcome) {
    case 'created':
      return { outcome, record: String(rest[0]) }
    case 'set':
      return { outcome, slices: Number(rest[0]) }
    default:
      return { outcome: 'changed' }
  }
}

interface SliceSettings extends TopicScriptSettings {
  arn: string
  record: string
  version: string
  revision: string
}

/** Returns false if there is no such slice. */
export async function configureSlice(
  redis: Redis,
  slice: SlicePlace,
  settings: SliceSettings,
): Promise<boolean> {
  return (await runScript(redis, CONFIGURE_SLICE, { ...atSlice(slice), ...settings })) === 1
}

export async function finishTopic(
  redis: Redis,
  topic: { arn: string; uid: string; version: string; revision: string },
): Promise<void> {
  await runScript(redis, FINISH_TOPIC, { ...atHome(topic.arn), ...topic })
}

/** The deleted topic's uid and number of slices. null: there was no such topic. */
export async function deleteTopic(
  redis: Redis,
  arn: string,
): Promise<{ uid: string; slices: number } | null> {
  const reply = (await runScript(redis, DELETE_TOPIC, atHome(arn))) as [Buffer?, number?]
  return reply[0] ? { uid: reply[0].toString(), slices: reply[1] ?? 0 } : null
}

/** Returns how many subscriptions were removed. */
export async function dropSlice(redis: Redis, slice: SlicePlace): Promise<number> {
  return Number(await runScript(redis, DROP_SLICE, atSlice(slice)))
}

interface TouchTopic {
  arn: string
  uid: string
  revision: string
  /** Id of the subscription, 16 bytes. */
  rawId: Buffer
  /** SHA-1 of a token to remove or to add; '' for none. */
  removeToken: Buffer | ''
  addToken: Buffer | ''
}

/** Returns false if the topic is gone. */
export async function touchTopic(redis: Redis, touch: TouchTopic): Promise<boolean> {
  return (await runScript(redis, TOUCH_TOPIC, { ...atHome(touch.arn), ...touch })) === 1
}

/** Members of a shard's sorted set that are at least `ageMs` old, the earliest first. Also returns the shard's time. */
export async function listElapsed(
  redis: Redis,
  list: { shard: number; set: 'unfinished' | 'expiries'; ageMs: number; limit: number },
): Promise<{ now: number; members: string[] }> {
  const { shard, set, ageMs, limit } = list
  const args = { base: shardBase(shard), set, ageMs, membersMax: limit }
  const reply = (await runScript(redis, LIST_ELAPSED, args)) as Buffer[]
  return { now: Number(reply[0]), members: reply.slice(1).map(String) }
}
