/**
 * Redrive tasks, as users see them.
 *
 * running ⇄ paused      running, paused ──cancel──▶ canceling (a batch is under way) ──▶ canceled
 * running ──▶ completed | failed
 *
 * A task is one hash in its source's shard, beside its queue. Choosing and ending a batch then take one script each.
 * The last byte of a task's id is the number of that shard. A task moves only messages that were in the source when it
 * began. Messages that fail again therefore cannot keep it running without an end. The redrive service runs tasks
 * (redrive-batches.ts). Ended tasks are kept for 14 days.
 */
import {
  FantailError,
  isFifoName,
  type RedriveFilter,
  type RedriveStatus,
  type RedriveTask,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { redriveKey, redrivesKey, redrivingKey } from '../keys.ts'
import { queueMissing } from '../queues/queue-errors.ts'
import { Queues } from '../queues/queues.ts'
import { batch } from '../redis/batch.ts'
import { decodeCursor, encodeCursor, type Page, replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../redis/shards.ts'
import { countRedrive, type RedriveCounts } from './redrive-counts.ts'
import { newTaskId, readTask, shardOfTask } from './redrive-records.ts'

const CREATE = readScript('create-redrive-1')
const CHANGE = readScript('change-redrive-1')
const PRUNE = readScript('prune-redrives-1')

/** @limit Rounds of one list of redrives. Past it: the page is short and has a cursor. */
const LIST_ROUNDS_MAX = 20
/** @limit Ended redrives that one script deletes. Past it: the next sweep deletes the others. */
const PRUNE_MAX = 100

interface NewRedrive {
  source: string
  destination: string | null
  maxMessagesPerSecond: number | null
  filter: RedriveFilter
}

interface ListRedrives {
  source?: string
  status?: RedriveStatus
  cursor?: string
  limit: number
}

export class Redrives {
  readonly #redis: Redis
  readonly #queues: Queues

  constructor(redis: Redis) {
    this.#redis = redis
    this.#queues = new Queues(redis)
  }

  /**
   * Creates a task. The redrive service starts it by itself. Throws `not_found`, `validation_failed` or
   * `redrive_active`.
   */
  async create(input: NewRedrive): Promise<RedriveTask> {
    const { source, destination, filter } = input
    if (destination === source)
      throw FantailError.invalid('destination', 'must be another queue than the source')
    if (destination !== null && (await this.#queues.get(destination)) === null) {
      throw FantailError.invalid('destination', 'names no queue')
    }
    if (destination !== null && isFifoName(destination) !== isFifoName(source)) {
      const kind = isFifoName(source) ? 'FIFO' : 'standard'
      throw FantailError.invalid('destination', `must be a ${kind} queue, as the source is`)
    }
    if ((await this.#redis.hexists(redrivingKey(shardBase(shardOf(source))), source)) === 1) throw active()
    const { newest, matched, now } = await countRedrive(this.#redis, source, filter)
    const id = newTaskId(shardOf(source), now)
    const result = await runScript(this.#redis, CREATE, {
      base: shardBase(shardOf(source)),
      source,
      id,
      destination: destination ?? '',
      filter: JSON.stringify(filter),
      byReason: filter.reason !== undefined,
      newest,
      matched,
      rate: String(input.maxMessagesPerSecond ?? ''),
    })
    if (String(result) === 'missing') throw queueMissing()
    if (String(result) === 'active') throw active()
    return this.#need(id)
  }

  /** Counts the messages that `create` would move now, and creates nothing. Throws `not_found`. */
  async dryRun(source: string, filter: RedriveFilter): Promise<RedriveCounts> {
    const { newest: _, now: __, ...counts } = await countRedrive(this.#redis, source, filter)
    return counts
  }

  async get(id: string): Promise<RedriveTask | null> {
    const shard = shardOfTask(id)
    if (shard === undefined) return null
    const key = redriveKey(shardBase(shard), id)
    return readTask(await this.#redis.hgetall(key), key)
  }

  /** Tasks, newest first. A page may be short and still have a next cursor. */
  async list({ source, status, cursor, limit }: ListRedrives): Promise<Page<RedriveTask>> {
    const shards = source === undefined ? undefined : [shardOf(source)]
    let after = cursor === undefined ? '' : (decodeCursor(cursor, 1)[0] ?? '')
    const items: RedriveTask[] = []
    for (let round = 0; round < LIST_ROUNDS_MAX; round++) {
      const ids = await this.#newest(shards, after, limit)
      const tasks = await Promise.all(ids.map((id) => this.get(id)))
      for (const [i, task] of tasks.entries()) {
        after = ids[i] ?? after
        if (!task || (source && task.source !== source) || (status && task.status !== status)) continue
        items.push(task)
        if (items.length === limit) return { items, nextCursor: encodeCursor([after]) }
      }
      if (ids.length < limit) return { items, nextCursor: null }
    }
    return { items, nextCursor: encodeCursor([after]) }
  }

  /** Changes the rate of an active task (null: none). Throws `not_found` or `wrong_state`. */
  async patch(id: string, change: { maxMessagesPerSecond: number | null }): Promise<RedriveTask> {
    return this.#change(id, 'rate', String(change.maxMessagesPerSecond ?? ''))
  }

  /** Throws `not_found`, and `wrong_state` if the task has ended. So do `resume` and `cancel`. */
  async pause(id: string): Promise<RedriveTask> {
    return this.#change(id, 'pause')
  }

  async resume(id: string): Promise<RedriveTask> {
    return this.#change(id, 'resume')
  }

  /** The task is `canceling` while a batch is under way, and `canceled` afterwards. */
  async cancel(id: string): Promise<RedriveTask> {
    return this.#change(id, 'cancel')
  }

  /** Ids of the tasks that a process must run: `running` and `canceling`. */
  async runnable(): Promise<string[]> {
    const pipeline = batch(this.#redis)
    for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.hvals(redrivingKey(shardBase(shard)))
    const ids = ((await replies(pipeline)) as string[][]).flat()
    const tasks = await Promise.all(ids.map((id) => this.get(id)))
    return ids.filter((_, i) => tasks[i]?.status === 'running' || tasks[i]?.status === 'canceling')
  }

  /** Removes expired tasks from the lists. Returns how many. */
  async sweep(): Promise<number> {
    const pipeline = batch(this.#redis)
    for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.zcard(redrivesKey(shardBase(shard)))
    let pruned = 0
    for (const [shard, tasks] of ((await replies(pipeline)) as number[]).entries()) {
      if (tasks === 0) continue
      const args = { base: shardBase(shard), tasksMax: PRUNE_MAX }
      pruned += (await runScript(this.#redis, PRUNE, args)) as number
    }
    return pruned
  }

  async #change(id: string, what: 'rate' | 'pause' | 'resume' | 'cancel', rate = '') {
    const shard = shardOfTask(id)
    if (shard === undefined) throw taskMissing()
    const result = String(await runScript(this.#redis, CHANGE, { base: shardBase(shard), id, what, rate }))
    if (result === 'missing') throw taskMissing()
    if (result === 'wrong')
      throw new FantailError('wrong_state', 'the task is not in a state that allows this')
    return this.#need(id)
  }

  async #need(id: string): Promise<RedriveTask> {
    const task = await this.get(id)
    if (task === null) throw taskMissing()
    return task
  }

  /** The newest ids before `after` ('': the newest of all), of the given shards or of all. */
  async #newest(shards: number[] | undefined, after: string, limit: number): Promise<string[]> {
    const pipeline = batch(this.#redis)
    for (const shard of shards ?? Array.from({ length: SHARD_COUNT }, (_, i) => i)) {
      const max = after === '' ? '+' : `(${after}`
      pipeline.zrevrangebylex(redrivesKey(shardBase(shard)), max, '-', 'LIMIT', 0, limit)
    }
    const ids = ((await replies(pipeline)) as string[][]).flat()
    return ids.sort((a, b) => (a < b ? 1 : -1)).slice(0, limit)
  }
}

function active(): FantailError {
  return new FantailError('redrive_active', 'the source has an active redrive')
}

function taskMissing(): FantailError {
  return new FantailError('not_found', 'no such redrive')
}
