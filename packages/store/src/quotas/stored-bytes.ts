/**
 * Approximate bytes of each topic's messages: waiting deliveries, kept messages, and dead letters in the topic's own
 * queue. Scripts keep these sums for other bounds, so reading them is all that this costs. Messages that wait to be
 * dispatched, and what is in other queues, are not counted.
 */
import { quotaNamesOf } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { departedKey, keptKey, letterBytesKey, queueKey, sliceKey, topicBytesKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { homeShardOf } from '../records/subscriptions-id.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'

interface Waiting {
  uid: string
  shard: number
  bytes: number
}

export class StoredBytes {
  readonly #redis: Redis
  /** Uid → ARN of the topics that had waiting deliveries at the last read. Neither ever changes. */
  #arns: ReadonlyMap<string, string> = new Map()

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** By the topic's ARN. */
  async read(): Promise<Map<string, number>> {
    const pipeline = batch(this.#redis)
    for (let shard = 0; shard < SHARD_COUNT; shard++) {
      const base = shardBase(shard)
      pipeline.hgetall(topicBytesKey(base)).hgetall(keptKey(base)).hgetall(letterBytesKey(base))
    }
    const hashes = (await replies(pipeline)) as Record<string, string>[]
    const entries = (kind: number) =>
      hashes.flatMap((hash, i) =>
        i % 3 === kind
          ? Object.entries(hash).map(([name, bytes]) => ({
              name,
              shard: Math.floor(i / 3),
              bytes: Number(bytes),
            }))
          : [],
      )
    const sums = new Map<string, number>()
    const add = (arn: string | undefined, bytes: number) =>
      arn !== undefined && sums.set(arn, (sums.get(arn) ?? 0) + bytes)
    const waiting = entries(0).map(({ name, ...entry }) => ({ uid: name, ...entry }))
    const letters = entries(2)
    const [arns, made] = await Promise.all([
      this.#arnsOf(waiting),
      this.#topicsOf(letters.map(({ name }) => name)),
    ])
    this.#arns = arns
    for (const { uid, bytes } of waiting) add(arns.get(uid), bytes)
    for (const { name, bytes } of entries(1)) add(name.split(' ')[1], bytes)
    for (const [i, { bytes }] of letters.entries()) add(made[i] ?? undefined, bytes)
    return sums
  }

  /** A slice names its topic. So does what it has left, while the deliveries of a deleted topic are discarded. */
  async #arnsOf(waiting: Waiting[]): Promise<Map<string, string>> {
    const arns = new Map<string, string>()
    const unknown = waiting.filter(({ uid }) => {
      const known = this.#arns.get(uid)
      if (known !== undefined) arns.set(uid, known)
      return known === undefined
    })
    if (unknown.length === 0) return arns
    const pipeline = batch(this.#redis)
    for (const { uid, shard } of unknown) {
      const base = shardBase(shard)
      const sliceId = `${uid}.${(shard - homeShardOf(uid) + SHARD_COUNT) % SHARD_COUNT}`
      pipeline.hget(sliceKey(base, sliceId), 'arn').hget(departedKey(base, sliceId), 'arn')
    }
    const found = (await replies(pipeline)) as (string | null)[]
    for (const [i, { uid }] of unknown.entries()) {
      const arn = found[2 * i] ?? found[2 * i + 1]
      if (arn) arns.set(uid, arn)
    }
    return arns
  }

  /** The topics that have made these queues. */
  async #topicsOf(queueArns: string[]): Promise<(string | null)[]> {
    if (queueArns.length === 0) return []
    const pipeline = batch(this.#redis)
    for (const arn of queueArns) pipeline.hget(queueKey(arn), 'of')
    return (await replies(pipeline)) as (string | null)[]
  }
}

/** The bytes of each of these quotas. */
export function bytesOfQuotas(
  byTopic: ReadonlyMap<string, number>,
  names: ReadonlySet<string>,
): Map<string, number> {
  const sums = new Map([...names].map((name) => [name, 0]))
  for (const [arn, bytes] of byTopic) {
    for (const name of quotaNamesOf(arn)) {
      const sum = sums.get(name)
      if (sum !== undefined) sums.set(name, sum + bytes)
    }
  }
  return sums
}
