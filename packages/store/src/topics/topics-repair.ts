/**
 * Finishes changes that span shards after a crash.
 *
 * A change of a slice in its topic's home shard is one script. Any other change has several. The first adds a note to
 * the home shard's set `unfinished`, and the last removes it. A sweep finishes changes whose notes are old. All steps
 * can be repeated, also by several processes at once. These are the notes, and how the sweep finishes each:
 *
 *   topic|<arn>: some slices do not have the topic's record yet. They get it.
 *   purge|<arn>|<uid>|<slices>: the topic is deleted, and some slices are not. They are dropped.
 *   create|<arn>|<endpoint sha1>|<id>: endpoint and place are taken. If the subscription is not stored, they are freed.
 *   delete|<arn>|<endpoint sha1>|<id>: the endpoint is free. If the subscription still exists, it is removed.
 *   move|<arn>|<old sha1>|<new sha1>|<id>: both endpoints are taken. The one that the subscription lacks is freed.
 */
import type { Redis } from 'ioredis'
import { topicKey, unfinishedKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { SHARDS_AT_ONCE, sideBySide } from '../redis/side-by-side.ts'
import { resumeMove } from '../slices/subscriptions-move.ts'
import { resumeCreate, resumeDelete } from '../slices/subscriptions-repair.ts'
import { newRevision, parseSlices } from '../slices/topics-record.ts'
import { configureSlice, dropSlice, finishTopic, listElapsed } from './topics-scripts.ts'

/**
 * A note that is younger than this belongs to a change that is probably still under way. Finishing such a change would
 * do no harm.
 */
const UNFINISHED_AGE_MS = 5_000
/** Interrupted changes that one sweep finishes in a shard. Past it: the next sweep finishes the others. */
const UNFINISHED_MAX = 100
const REPAIRED_SLICES_AT_ONCE = 16

/** Gives every slice the topic's present record. Does nothing if the topic is gone. */
export async function propagateTopic(redis: Redis, arn: string): Promise<void> {
  const names = ['uid', 'record', 'v', 'rate', 'ret', 'ovr', 'slices']
  const [uid, record, version, rate, retention, overrides, slices] = await redis.hmget(
    topicKey(arn),
    ...names,
  )
  if (!uid || !record || !version) {
    await redis.zrem(unfinishedKey(shardBase(shardOf(arn))), `topic|${arn}`)
    return
  }
  const revision = newRevision()
  const settings = { rate: rate ?? '', retention: retention ?? '', overrides: overrides ?? '' }
  await forSlices({ arn, uid, slices: parseSlices(slices, topicKey(arn)).length }, async (slice) => {
    await configureSlice(redis, slice, { arn, record, version, ...settings, revision })
  })
  await finishTopic(redis, { arn, uid, version, revision: newRevision() })
}

/**
 * Gives the record to the slices if an earlier change has not reached all of them. So a caller who repeats a failed
 * change completes it.
 */
export async function finishPropagation(redis: Redis, arn: string): Promise<void> {
  const note = await redis.zscore(unfinishedKey(shardBase(shardOf(arn))), `topic|${arn}`)
  if (note !== null) await propagateTopic(redis, arn)
}

/** Drops the slices of a deleted topic. The first slice was removed with the topic. */
export async function purgeSlices(
  redis: Redis,
  topic: { arn: string; uid: string; slices: number },
): Promise<void> {
  await forSlices(topic, async (slice) => {
    await dropSlice(redis, slice)
  })
  const note = `purge|${topic.arn}|${topic.uid}|${topic.slices}`
  await redis.zrem(unfinishedKey(shardBase(shardOf(topic.arn))), note)
}

async function forSlices(
  topic: { arn: string; uid: string; slices: number },
  act: (slice: { sliceId: string; shard: number }) => Promise<void>,
): Promise<void> {
  const home = shardOf(topic.arn)
  const refs = Array.from({ length: topic.slices }, (_, number) => ({
    sliceId: `${topic.uid}.${number}`,
    shard: (home + number) % SHARD_COUNT,
  })).slice(1)
  await sideBySide(refs, REPAIRED_SLICES_AT_ONCE, act)
}

/**
 * Finishes changes that have been unfinished for `ageMs`. Returns how many. Rejects with the first failure, after it
 * has tried all others. A failure may be a later release's note, or an unreadable record.
 */
export async function finishUnfinished(redis: Redis, ageMs = UNFINISHED_AGE_MS): Promise<number> {
  let finished = 0
  const failures: unknown[] = []
  await sideBySide(await shardsWith(redis, unfinishedKey), SHARDS_AT_ONCE, async (shard) => {
    const limit = UNFINISHED_MAX
    const { members } = await listElapsed(redis, { shard, set: 'unfinished', ageMs, limit })
    for (const note of members) await finishNote(redis, note).catch((error: unknown) => failures.push(error))
    finished += members.length
  })
  if (failures.length > 0) throw failures[0]
  return finished
}

async function finishNote(redis: Redis, note: string): Promise<void> {
  const [kind = '', arn = '', third = '', fourth = '', fifth = ''] = note.split('|')
  switch (kind) {
    case 'topic':
      return propagateTopic(redis, arn)
    case 'purge':
      return purgeSlices(redis, { arn, uid: third, slices: Number(fourth) })
    case 'create':
      return resumeCreate(redis, { arn, endpointHash: third, id: fourth })
    case 'delete':
      return resumeDelete(redis, { arn, endpointHash: third, id: fourth })
    case 'move':
      return resumeMove(redis, { arn, before: third, after: fourth, id: fifth })
    default:
      throw new Error(`unknown note ${note} in ${unfinishedKey(shardBase(shardOf(arn)))}`)
  }
}

/** Shards whose sorted set of this name is not empty. Takes one round trip, so an idle sweep costs nothing. */
export async function shardsWith(redis: Redis, key: (base: string) => string): Promise<number[]> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.exists(key(shardBase(shard)))
  const counts = (await replies(pipeline)) as number[]
  return counts.flatMap((count, shard) => (count > 0 ? [shard] : []))
}
