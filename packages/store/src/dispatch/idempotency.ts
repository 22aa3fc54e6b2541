/**
 * Idempotency keys of publishes, per topic, for 24 hours. A key belongs to the topic's uid. A topic that is deleted and
 * created again therefore knows no earlier keys.
 *
 * Nothing is reserved. A publisher looks the key up, stores its job, and then claims the key for the job. Dispatch
 * makes the same claim, and drops a message whose key has another value. A crash at any point therefore leaves either
 * nothing or a message that is delivered. If several publishes run at the same time, the first claim wins.
 *
 * A claim means that its job is or was stored. A worker may be running a job that Redis has lost in a failover.
 * Dispatch therefore makes a claim only at a server that has the job. Each replica that gets the claim from this server
 * then got the job before.
 *
 * An answer that repeats an earlier one relies on the earlier job, which may not be on the replicas yet. Such an answer
 * waits for the replicas of every dispatch queue, because the job may be in any of them.
 */
import { IDEMPOTENCY_SECONDS } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { ServerMark } from '../copies/server-marks.ts'
import { dispatchJobKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { isCluster } from '../redis/connections/cluster.ts'
import { ReplicaAcks } from '../redis/replica-acks.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const CLAIM = readScript('find-key-1')
const HOLD = readScript('claim-key-1')
const RUN = /^dispatch-(\d+):(.+):([0-9a-z]+)$/
const KEPT_MS = IDEMPOTENCY_SECONDS * 1_000

/** The value of a key, as JSON: a hash of the request, and the ids of its messages. */
export interface IdempotentPublish {
  h: string
  ids: string[]
  /** The sequence numbers of a FIFO topic's messages. */
  numbers?: string[]
}

interface FoundKey {
  topicUid: string
  /** null: the key is free. */
  publish: IdempotentPublish | null
}

/** The run of a dispatch job that makes a claim. */
interface ClaimingRun {
  /** The `jobName` of the job's runs (`dispatch-run.ts` in packages/jobs). */
  jobName: string
  /** A mark that was taken before the call. */
  mark: Pick<ServerMark, 'holds'>
}

interface IdempotencyOptions {
  /**
   * Keys are read on the connection of `acks`. After a failover one connection may lead to the new master, and another
   * still to the old one. Default: replicas are not waited for.
   */
  acks?: ReplicaAcks
  /** Number of dispatch queues (FANTAIL_QUEUES). */
  queues?: number
}

export class Idempotency {
  readonly #acks: ReplicaAcks
  readonly #queueKeys: string[]

  constructor(redis: Redis, { acks = new ReplicaAcks(redis), queues = 1 }: IdempotencyOptions = {}) {
    this.#acks = acks
    this.#queueKeys = Array.from({ length: queues }, (_, number) => dispatchJobKey(number, ''))
  }

  /** The stored publish of the topic's key, once replicas hold it. null: the topic does not exist. */
  async find(topicArn: string, key: string): Promise<FoundKey | null> {
    const found = await this.#run(topicArn, key, '')
    if (found?.publish) await this.#confirm(shardBase(shardOf(topicArn)))
    return found
  }

  /**
   * Claims the key for a stored publish. Resolves with the key's value when the replicas have it. This is the given
   * value, or the value of an earlier publish. If the topic was deleted meanwhile, it is the given value.
   */
  async claimForPublish(topicArn: string, key: string, value: string): Promise<IdempotentPublish> {
    const own = JSON.parse(value) as IdempotentPublish
    const publish = (await this.#run(topicArn, key, value))?.publish ?? own
    const base = shardBase(shardOf(topicArn))
    if (publish.ids[0] === own.ids[0]) await this.#acks.confirm(base)
    else await this.#confirm(base)
    return publish
  }

  /**
   * Claims the key for a message that is being dispatched. `name` is the Redis key that the message carries. Returns
   * false if the key has another value, and `jobGone` if Redis has lost the job. In both cases nothing is claimed.
   * Rejects if a connection closes meanwhile.
   */
  async claimForDispatch(
    name: string,
    value: string,
    { jobName, mark }: ClaimingRun,
  ): Promise<boolean | 'jobGone'> {
    if (!(await this.#hasJob(jobName))) return 'jobGone'
    if (!mark.holds()) throw new Error('a connection to Redis has closed meanwhile')
    const isOurs = (await runScript(this.#acks.redis, HOLD, { key: name, value, keptMs: KEPT_MS })) === 1
    // The job is deleted next. If its message is dropped because of an earlier claim, that claim is the only record of
    // the publish.
    if (isOurs) await this.#acks.confirm(name)
    else await this.#confirm(name)
    return isOurs
  }

  /**
   * Asks on the connection of the claim. Job numbers may repeat, so the time is compared too. On a cluster the job's
   * master fails over by itself. Its replicas must have the job before another master has the claim.
   */
  async #hasJob(run: string): Promise<boolean> {
    const { redis } = this.#acks
    const [, number, id = '', addedAt = ''] = RUN.exec(run) ?? []
    const job = dispatchJobKey(Number(number), id)
    if (Number(await redis.hget(job, 'timestamp')) !== Number.parseInt(addedAt, 36)) return false
    if (isCluster(redis)) await this.#acks.confirm(job)
    return true
  }

  async #run(topicArn: string, key: string, value: string): Promise<FoundKey | null> {
    const base = shardBase(shardOf(topicArn))
    const args = { base, arn: topicArn, key, value, keptMs: KEPT_MS }
    const reply = await runScript(this.#acks.redis, CLAIM, args)
    if (reply === null) return null
    const [uid, text] = (reply as [Buffer, Buffer]).map(String) as [string, string]
    return { topicUid: uid, publish: text === '' ? null : (JSON.parse(text) as IdempotentPublish) }
  }

  #confirm(key: string): Promise<void> {
    return this.#acks.confirmAll([key, ...this.#queueKeys])
  }
}

/** The Redis key of the same idempotency key for another topic with that ARN. `name` is a result of idempotencyKey. */
export function underTopic(name: string, fromUid: string, toUid: string): string {
  const before = name.indexOf(idempotencyPart(fromUid))
  if (before < 0) return name
  return name.slice(0, before) + idempotencyPart(toUid) + name.slice(before + idempotencyPart(fromUid).length)
}

function idempotencyPart(topicUid: string): string {
  return `:idem:${topicUid}:`
}
