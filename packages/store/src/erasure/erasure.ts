/**
 * Erases what remains of deleted topics and subscriptions where nothing else would soon delete it: names of former
 * subscriptions, figures, the outcome log, and keys that only expire. Every part is safe to repeat.
 */
import type { Redis } from 'ioredis'
import { archivedTopics } from '../archive/archives.ts'
import { departedKey, laneKey, queueDeletedKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { placeOfSubscription } from '../records/subscriptions-id.ts'
import { batch } from '../redis/batch.ts'
import { mastersOf } from '../redis/connections/cluster.ts'
import { replies } from '../redis/pages.ts'
import { eraseFromLog, type IsErased } from './erase-log.ts'

/** Names that one pipeline asks about. */
const ASKED_AT_ONCE = 500
const SCANNED_AT_ONCE = 1_000

/** Keys whose names begin with the uid of a topic, and that outlive the topic. */
const OF_TOPIC = /^ft:\{[^}]+\}:(?:idem|dedup|departed|isolated|kept(?::[a-z]+)?):([^:. ]+)/

export class Erasure {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** How many of these deleted subscriptions still have a lane, because its deliveries are not discarded yet. */
  async lanesLeft(ids: readonly string[]): Promise<number> {
    let left = 0
    for (const part of partsOf(ids)) {
      const pipeline = batch(this.#redis)
      for (const id of part) pipeline.exists(laneKey(baseOf(id), id))
      left += ((await replies(pipeline)) as number[]).reduce((sum, exists) => sum + exists, 0)
    }
    return left
  }

  /** How many of these deleted topics still have blocks of an archive. */
  async archivesLeft(uids: ReadonlySet<string>): Promise<number> {
    const archived = uids.size === 0 ? [] : await archivedTopics(this.#redis)
    return archived.filter(({ uid }) => uids.has(uid)).length
  }

  /** Forgets the names of subscriptions that have left slices of topics that stay. */
  async former(ids: readonly string[]): Promise<number> {
    const bySlice = Map.groupBy(ids, (id) => placeOfSubscription(id)?.sliceId ?? '')
    let forgotten = 0
    for (const [sliceId, gone] of bySlice) {
      const key = departedKey(baseOf(gone[0] ?? ''), sliceId)
      const stored = Object.entries(await this.#redis.hgetall(key))
      const fields = stored.flatMap(([field, text]) => (gone.some((id) => text.includes(id)) ? [field] : []))
      if (fields.length > 0) forgotten += await this.#redis.hdel(key, ...fields)
    }
    return forgotten
  }

  /** Forgets that these queues were deleted a moment ago. */
  async queueNames(arns: readonly string[]): Promise<void> {
    for (const arn of arns) await this.#redis.unlink(queueDeletedKey(arn))
  }

  /** Erases entries of the outcome log. Returns how many. */
  outcomes(isErased: IsErased): Promise<number> {
    return eraseFromLog(this.#redis, isErased)
  }

  /** Deletes keys that deleted topics have left. It looks at every key of Redis once. Returns how many it deleted. */
  async leftovers(uids: ReadonlySet<string>): Promise<number> {
    if (uids.size === 0) return 0
    let deleted = 0
    for (const master of mastersOf(this.#redis)) {
      let cursor = '0'
      do {
        const [next, keys] = await master.scan(cursor, 'MATCH', 'ft:{*', 'COUNT', SCANNED_AT_ONCE)
        const own = keys.filter((key) => uids.has(OF_TOPIC.exec(key)?.[1] ?? ''))
        for (const key of own) deleted += await this.#redis.unlink(key)
        cursor = next
      } while (cursor !== '0')
    }
    await this.#forgetSlices(uids)
    return deleted
  }

  async #forgetSlices(uids: ReadonlySet<string>): Promise<void> {
    const keys = Array.from({ length: SHARD_COUNT }, (_, shard) => `${shardBase(shard)}departed:slices`)
    const pipeline = batch(this.#redis)
    for (const key of keys) pipeline.zrange(key, '0', '-1')
    for (const [shard, slices] of ((await replies(pipeline)) as string[][]).entries()) {
      const own = slices.filter((slice) => uids.has(slice.split('.')[0] ?? ''))
      if (own.length > 0) await this.#redis.zrem(keys[shard] ?? '', ...own)
    }
  }
}

const baseOf = (id: string) => shardBase(placeOfSubscription(id)?.shard ?? 0)

function partsOf(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / ASKED_AT_ONCE) }, (_, part) =>
    ids.slice(part * ASKED_AT_ONCE, (part + 1) * ASKED_AT_ONCE),
  )
}
