/**
 * The queues themselves: their settings, and the numbers of their messages.
 *
 * A queue is one hash in the home shard of its ARN. Its messages are stored under a uid that is new with every
 * creation. One script deletes the queue, and its messages are removed later in chunks. A crash in between leaves the
 * uid in a set, which the sweep empties.
 */
import {
  ARN_DEFAULTS,
  type ArnDefaults,
  FantailError,
  isFifoName,
  parseArn,
  type QueueRecord,
  queueArn,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { admitLonger, type GrowthGuard, UNGUARDED } from '../../capacity/growth.ts'
import { deletedQueuesKey, queueDeletedKey, queueKey, queuesKey } from '../../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../../keys/shards.ts'
import { sumRecord } from '../../records/checksums.ts'
import { batch } from '../../redis/batch.ts'
import { readNow } from '../../redis/clock.ts'
import { decodeCursor, encodeCursor, listNames, type Page, readableReplies } from '../../redis/pages.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { sideBySide } from '../../redis/side-by-side.ts'
import { ifReadable, type OnUnreadable, whenReadable } from '../../redis/unreadable.ts'
import { NUMBER } from '../../scripts/lua-numbers.ts'
import { queueMissing } from '../items/queue-errors.ts'
import { createQueueUid } from '../items/queue-items.ts'
import { atQueue, type GroupFigures, type ListQueues, type QueueWithCounts } from '../items/queue-records.ts'
import type { QueueLeases } from '../leases/queue-leases.ts'
import { parseQueue, QUEUE, type QueueSettings } from './queue-fields.ts'
import type { QueueSources } from './queue-sources.ts'

const WRITE = readScript('write-queue-1')
const READ = readScript('read-queue-1')
const DELETE = readScript('delete-queue-1')
const DROP = readScript('drop-queue-1')

/** Tries to change a queue that others change at the same time. Past it: `conflict`. */
const QUEUE_WRITE_TRIES_MAX = 20
const DROP_CHUNK = 500
/** Interrupted deletions that a sweep finishes at a time. Past it: the others follow. */
const DROPS_AT_ONCE = 8

export interface DeleteIf {
  /** Delete the queue only if this topic made it and it is empty. */
  emptyAndOf?: string
  /** Delete the queue only if it has this uid, so that a queue that was created again stays. */
  uid?: string
}

export interface QueueDefinitionsOptions {
  /** The account and region of the name prefix of a list. */
  defaults?: ArnDefaults
  /** Called for every queue that this object has written or deleted. */
  onChange?: (arn: string) => void
  /** The leases of queues. Default: `leaseSeconds` has no effect. */
  leases?: Pick<QueueLeases, 'grant' | 'drop'>
  /** Asked before a queue is created, or its record becomes longer. */
  growth?: GrowthGuard
}

type ReadReply = [
  record: Buffer,
  visible: number,
  inFlight: number,
  delayed: number,
  groups: number,
  oldest: Buffer,
  groups?: [noisy: number, quietVisible: number, quietInFlight: number, quietOldest: Buffer],
]

export class QueueDefinitions {
  readonly #redis: Redis
  readonly #sources: QueueSources
  readonly #onChange: (arn: string) => void
  readonly #defaults: ArnDefaults
  readonly #growth: GrowthGuard
  readonly #leases: QueueDefinitionsOptions['leases']

  constructor(redis: Redis, sources: QueueSources, options: QueueDefinitionsOptions) {
    this.#redis = redis
    this.#sources = sources
    this.#onChange = options.onChange ?? (() => undefined)
    this.#defaults = options.defaults ?? ARN_DEFAULTS
    this.#growth = options.growth ?? UNGUARDED
    this.#leases = options.leases
  }

  /**
   * Creates the queue, or sets the given members. Throws `validation_failed` if the dead-letter queue does not exist,
   * and `storage_full` if the record would grow and may not.
   */
  async put(arn: string, set: Partial<QueueSettings>): Promise<{ queue: QueueRecord; created: boolean }> {
    return this.#write(arn, () => set)
  }

  /** Creates the queue. An existing one is returned unchanged. Throws the same errors as `put`. */
  async create(arn: string, set: Partial<QueueSettings>): Promise<{ queue: QueueRecord; created: boolean }> {
    return this.#write(arn, (before) => (before ? null : set))
  }

  /** Sets the given members. Throws `not_found`. */
  async patch(arn: string, set: Partial<QueueSettings>): Promise<QueueRecord> {
    return this.update(arn, () => set)
  }

  /**
   * Sets the members that `change` computes from the queue's present record. Concurrent changes are safe.
   * Throws `not_found`.
   */
  async update(arn: string, change: (queue: QueueRecord) => Partial<QueueSettings>): Promise<QueueRecord> {
    const { queue } = await this.#write(arn, (before) => {
      if (!before) throw queueMissing()
      return change(before)
    })
    return queue
  }

  /** The queue with exact counts of this moment. null: there is no such queue. */
  async getWithCounts(arn: string): Promise<QueueWithCounts | null> {
    const reply = (await runScript(this.#redis, READ, atQueue(arn))) as ReadReply | null
    if (reply === null) return null
    const [record, visible, inFlight, delayed, groupsInFlight, oldest, groups] = reply
    return {
      queue: parseQueue(String(record), queueKey(arn)),
      counts: { visible, inFlight, delayed, ...(isFifoName(arn) && { groupsInFlight }) },
      oldestSince: timeOf(oldest),
      ...(groups && { groups: groupFigures(groups) }),
    }
  }

  /** Sorted by ARN, without queues whose record cannot be read. */
  async list({ prefix, owner, cursor, limit }: ListQueues): Promise<Page<QueueRecord>> {
    const everyones = prefix === undefined && owner === undefined
    const arns = await listNames(this.#redis, {
      key: queuesKey,
      prefix: everyones ? '' : queueArn(prefix ?? '', owner ?? this.#defaults),
      after: cursor === undefined ? '' : (decodeCursor(cursor, 1)[0] ?? ''),
      limit: limit + 1,
    })
    const shown = arns.slice(0, limit)
    const records = await Promise.all(
      shown.map((arn) =>
        whenReadable(
          queueKey(arn),
          () => undefined,
          () => this.#sources.get(arn),
        ),
      ),
    )
    const last = arns.length > limit ? shown.at(-1) : undefined
    return {
      items: records.filter((record) => record !== null && record !== undefined),
      nextCursor: last === undefined ? null : encodeCursor([last]),
    }
  }

  /** Deletes the queue with its messages, if it exists. Returns how many messages it had. */
  async delete(arn: string, only?: DeleteIf): Promise<number> {
    const args = { ...atQueue(arn), ownOf: only?.emptyAndOf ?? '', onlyUid: only?.uid ?? '' }
    const reply = (await runScript(this.#redis, DELETE, args)) as [Buffer, Buffer, number] | null
    this.#onChange(arn)
    if (reply === null) return 0
    const [uid, target, messages] = reply
    await this.#drop(shardOf(arn), String(uid))
    if (target.length > 0) await this.#sources.removeSource(String(target), arn)
    return messages
  }

  /** When a queue of this name was deleted. null: not within the last 60 seconds. */
  async deletedAt(arn: string): Promise<number | null> {
    const [at, now] = await Promise.all([
      this.#redis.get(queueDeletedKey(arn)),
      readNow(this.#redis, shardOf(arn)),
    ])
    return at === null || Number(at) <= now - NUMBER.DELETED_MS ? null : Number(at)
  }

  /** Finishes deletions that a crash has interrupted. One that cannot be finished does not stop the others. */
  async resumeDeletions(onUnreadable: OnUnreadable): Promise<void> {
    const pipeline = batch(this.#redis)
    for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.smembers(deletedQueuesKey(shardBase(shard)))
    const keyOf = (shard: number) => deletedQueuesKey(shardBase(shard))
    const gone = (await readableReplies(pipeline, { keyOf, onUnreadable })) as (string[] | undefined)[]
    const drops = gone.flatMap((uids = [], shard) => uids.map((uid) => ({ shard, uid })))
    await sideBySide(drops, DROPS_AT_ONCE, ({ shard, uid }) =>
      whenReadable(`${keyOf(shard)} ${uid}`, onUnreadable, () => this.#drop(shard, uid)),
    )
  }

  /** Calls `choose` again after a concurrent change. If `choose` returns null, an existing queue stays unchanged. */
  async #write(arn: string, choose: (before: QueueRecord | undefined) => Partial<QueueSettings> | null) {
    for (let tries = 0; tries < QUEUE_WRITE_TRIES_MAX; tries++) {
      const text = (await this.#redis.hget(queueKey(arn), 'record')) ?? ''
      const before = text === '' ? undefined : presentQueue(text, arn)
      const set = choose(before)
      if (before && set === null) return { queue: before, created: false }
      const queue = changed(arn, before, set ?? {}, await readNow(this.#redis, shardOf(arn)))
      await admitLonger(this.#growth, before ? text : null, sumRecord(queue))
      const { redrivePolicy } = set ?? {}
      if (redrivePolicy) await this.#sources.claimTarget(arn, redrivePolicy.deadLetterTargetArn)
      if (before && !before.leaseSeconds && queue.leaseSeconds) throw leaseTooLate()
      if (queue.leaseSeconds) await this.#leases?.grant(arn, queue.leaseSeconds)
      if (await this.#compareAndSet(text, queue)) {
        this.#onChange(arn)
        if (before?.leaseSeconds && !queue.leaseSeconds) await this.#leases?.drop(arn)
        const old = before?.redrivePolicy?.deadLetterTargetArn
        if (old !== undefined && old !== queue.redrivePolicy?.deadLetterTargetArn) {
          await this.#sources.removeSource(old, arn)
        }
        return { queue, created: before === undefined }
      }
    }
    throw new FantailError('conflict', 'the queue is being changed by others; try again')
  }

  async #compareAndSet(before: string, queue: QueueRecord): Promise<boolean> {
    const written = await runScript(this.#redis, WRITE, {
      ...atQueue(queue.arn),
      expected: before,
      record: sumRecord(queue),
      uid: queue.uid,
      visibilityMs: queue.visibilityTimeoutSeconds * 1_000,
      retentionMs: queue.retentionSeconds * 1_000,
      delayMs: queue.delaySeconds * 1_000,
      receivesMax: String(queue.redrivePolicy?.maxReceiveCount ?? ''),
      target: queue.redrivePolicy?.deadLetterTargetArn ?? '',
      byContent: queue.contentBasedDeduplication ? '1' : '',
      groupScope: queue.deduplicationScope === 'messageGroup' ? '1' : '',
    })
    return written === 1
  }

  async #drop(shard: number, uid: string): Promise<void> {
    const args = { base: shardBase(shard), uid, itemsMax: DROP_CHUNK }
    while ((await runScript(this.#redis, DROP, args)) !== 0);
  }
}

/** A queue with an unreadable record has unknown settings, and a change would make them the defaults. */
function presentQueue(text: string, arn: string): QueueRecord {
  const [queue] = ifReadable(() => parseQueue(text, queueKey(arn)))
  if (queue) return queue
  const message = 'the stored record of the queue cannot be read: delete the queue, then create it again'
  throw new FantailError('conflict', message)
}

/** The end of a lease finds subscriptions by the topics that were noted when they were made (queue-leases.ts). */
function leaseTooLate(): FantailError {
  return FantailError.invalid('leaseSeconds', 'is for new queues; a queue that exists gets no lease')
}

function changed(
  arn: string,
  before: QueueRecord | undefined,
  set: Partial<QueueSettings>,
  now: number,
): QueueRecord {
  const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined))
  if (before) return { ...before, ...given, modifiedAt: now }
  return newQueue(arn, given, now)
}

/** `deadLettersOf`: the topic that makes the queue for its dead letters. */
export function newQueue(
  arn: string,
  given: Partial<QueueSettings> & Pick<QueueRecord, 'deadLettersOf'>,
  now: number,
): QueueRecord {
  const name = parseArn(arn)?.name
  if (name === undefined) throw new TypeError(`not a queue's ARN: ${arn}`)
  const record = { ...QUEUE.initialSettings, ...given, arn, name, uid: createQueueUid() }
  return { ...record, ...(isFifoName(arn) && { fifo: true as const }), createdAt: now, modifiedAt: now }
}

function timeOf(text: Buffer): number | null {
  return text.length === 0 ? null : Number(text)
}

function groupFigures([noisy, quietVisible, quietInFlight, oldest]: NonNullable<ReadReply[6]>): GroupFigures {
  return { noisy, quietVisible, quietInFlight, quietOldestSince: timeOf(oldest) }
}
