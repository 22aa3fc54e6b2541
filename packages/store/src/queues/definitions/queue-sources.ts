/**
 * The sources of a dead-letter queue: queues and subscriptions whose redrive policy names it. The index of sources is
 * in the dead-letter queue's shard. An entry is written before the policy that needs it, and removed after it. A crash
 * therefore leaves at most an entry too many. Reading recognises such entries and removes them.
 */
import { FantailError, isFifoName, parseArn, type QueueRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { queueKey, sourcesKey } from '../../keys/keys.ts'
import { shardOf } from '../../keys/shards.ts'
import { readNow } from '../../redis/clock.ts'
import { Subscriptions } from '../../subscriptions/subscriptions.ts'
import { parseQueue } from './queue-fields.ts'

/** Sources of a dead-letter queue that are read. Past it: the others are not listed. */
const SOURCES_MAX = 1_000
/** The policy of a source younger than this may not be written yet. */
const SOURCE_PENDING_MS = 60_000

export class QueueSources {
  readonly #redis: Redis
  readonly #subscriptions: Subscriptions

  constructor(redis: Redis) {
    this.#redis = redis
    this.#subscriptions = new Subscriptions(redis)
  }

  async get(arn: string): Promise<QueueRecord | null> {
    const text = await this.#redis.hget(queueKey(arn), 'record')
    return text === null ? null : parseQueue(text, queueKey(arn))
  }

  /** ARNs of the queues (at most 1,000) whose redrive policy names this queue, sorted. */
  async listSources(arn: string): Promise<string[]> {
    const sources = await this.sources(arn)
    return sources.filter((source) => serviceOf(source) === 'sqs').sort()
  }

  /** ARNs of the queues and subscriptions (at most 1,000 of each) whose redrive policy names this queue. */
  async sources(arn: string): Promise<string[]> {
    const [queues, subscriptions] = await Promise.all([
      this.#redis.zrange(sourcesKey(arn, 'sqs'), 0, String(SOURCES_MAX - 1), 'WITHSCORES'),
      this.#redis.zrange(sourcesKey(arn, 'sns'), 0, String(SOURCES_MAX - 1), 'WITHSCORES'),
    ])
    const entries = [...queues, ...subscriptions]
    const names = entries.filter((_, i) => i % 2 === 0)
    const live = await Promise.all(names.map((name) => this.#namesTarget(name, arn)))
    const dropBefore = (await this.#now(arn)) - SOURCE_PENDING_MS
    const stale = names.filter((_, i) => !live[i] && Number(entries[2 * i + 1]) < dropBefore)
    await Promise.all(stale.map((name) => this.removeSource(arn, name)))
    return names.filter((_, i) => live[i])
  }

  /** Adds a source before the policy that names `arn` is written. Queues do this by themselves. */
  async addSource(arn: string, source: string): Promise<void> {
    await this.#redis.zadd(sourcesKey(arn, serviceOf(source)), await this.#now(arn), source)
  }

  /** Removes a source after its policy no longer names `arn`. */
  async removeSource(arn: string, source: string): Promise<void> {
    await this.#redis.zrem(sourcesKey(arn, serviceOf(source)), source)
  }

  /**
   * Adds `arn` as a source of `target`, which may be the same queue. Throws `validation_failed` if `target` cannot be
   * its dead-letter queue.
   */
  async claimTarget(arn: string, target: string): Promise<void> {
    const path = 'redrivePolicy.deadLetterTargetArn'
    const queue = await this.get(target)
    if (queue === null) throw FantailError.invalid(path, 'names a queue that does not exist')
    const problem = whyNoTarget(queue, arn)
    if (problem !== undefined) throw FantailError.invalid(path, problem)
    await this.addSource(target, arn)
  }

  /** Redis's time, as the scripts of the queue's shard see it. */
  #now(arn: string): Promise<number> {
    return readNow(this.#redis, shardOf(arn))
  }

  async #namesTarget(source: string, target: string): Promise<boolean> {
    const subscriptionId = parseArn(source)?.subscriptionId
    const record = await (subscriptionId === undefined
      ? this.get(source)
      : this.#subscriptions.get(subscriptionId))
    return record?.redrivePolicy?.deadLetterTargetArn === target
  }
}

/** Why the queue cannot be the dead-letter queue of `source` (checklist 158, 206). undefined: it can. */
function whyNoTarget(target: QueueRecord, source: string): string | undefined {
  const [mine, theirs] = [parseArn(source), parseArn(target.arn)]
  if (mine?.account !== theirs?.account || mine?.region !== theirs?.region) {
    return 'must be a queue of the same account and region'
  }
  if (isFifoName(source) !== isFifoName(target.arn)) {
    return isFifoName(source)
      ? 'must be a FIFO queue, as this one is'
      : 'must be a standard queue, as this one is'
  }
  const { redrivePermission = 'allowAll', sourceQueueArns = [] } = target.redriveAllowPolicy ?? {}
  const allowed =
    redrivePermission === 'allowAll' || (redrivePermission === 'byQueue' && sourceQueueArns.includes(source))
  return allowed ? undefined : 'names a queue whose redriveAllowPolicy does not allow this one'
}

function serviceOf(source: string): 'sqs' | 'sns' {
  return parseArn(source)?.service === 'sqs' ? 'sqs' : 'sns'
}
