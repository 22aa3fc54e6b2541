/**
 * Redrive tasks, as users see them.
 *
 * running ⇄ paused      running, paused ──cancel──▶ canceling (a batch is under way) ──▶ canceled
 * running ──▶ completed | failed
 * running ──its canary fails──▶ paused
 *
 * A resend is a task too: its source is a subscription, and it reads the ring of messages that the topic keeps.
 *
 * A task is one hash in its source's shard, next to its queue or ring. Choosing and ending a batch then take one script
 * each. The last byte of a task's id is the number of that shard. A task moves only messages that were in the source
 * when it began. Messages that fail again therefore cannot keep it running without an end. The redrive service runs
 * tasks (redrive-batches.ts, resend-batches.ts). Some tasks are purges, which remove messages (redrive-records.ts).
 * Ended tasks are kept for 14 days.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  FantailError,
  isFifoName,
  type RedriveAction,
  type RedriveEdit,
  type RedriveFilter,
  type RedriveStatus,
  type RedriveTask,
  withoutSubscription,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { redriveKey, redriveOutcomesKey, redrivesKey, redrivingKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../keys/shards.ts'
import { CLOCK_SLACK_MS } from '../outcomes/outcome-subscribers.ts'
import { queueMissing } from '../queues/items/queue-errors.ts'
import { countRedrive, type RedriveCounts } from '../queues/items/redrive-counts.ts'
import { Queues } from '../queues/queues.ts'
import { sumText } from '../records/checksums.ts'
import { batch } from '../redis/batch.ts'
import { readNow } from '../redis/clock.ts'
import { decodeCursor, encodeCursor, type Page, readableReplies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { SHARDS_AT_ONCE, sideBySide } from '../redis/side-by-side.ts'
import { type OnUnreadable, whenReadable } from '../redis/unreadable.ts'
import { newTaskId, readEnds, readReadable, readTask, shardOfTask, sumFilter } from './redrive-records.ts'

const CREATE = readScript('create-redrive-1')
const CREATE_RESEND = readScript('create-resend-1')
const CHANGE = readScript('change-redrive-1')
const PRUNE = readScript('prune-redrives-1')

/** Rounds of one list of redrives. Past it: the page is short and has a cursor. */
const LIST_ROUNDS_MAX = 20
/** Ended redrives that one script deletes. Past it: the next sweep deletes the others. */
const PRUNE_MAX = 100

/** How long a new task waits until a task of a portal session has ended its batch. Past it: `redrive_active`. */
const GIVE_WAY_MS_MAX = 2_000
const GIVE_WAY_LOOK_MS = 20

interface NewRedrive {
  /** The number of messages that go first. Default: none. */
  canary?: number | null | undefined
  source: string
  destination: string | null
  maxMessagesPerSecond: number | null
  filter: RedriveFilter
  startedBy?: 'portal'
}

interface SingleRedrive {
  source: string
  destination: string | null
  /** The queue's id of the message. */
  itemId: string
  /** The changes to make. Absent: the message stays as it is. */
  edit?: RedriveEdit | undefined
  startedBy?: 'portal'
}

interface NewResend {
  subscriptionArn: string
  maxMessagesPerSecond: number | null
  /** Bounds of `publishedAt`, inclusive, epoch ms. */
  since: number
  until?: number
  /** Only messages whose latest delivery to the subscription has failed. */
  failedOnly?: boolean
  /** Messages of an archive are awaited that are kept up to then, epoch ms. Default: none after the start. */
  untilKept?: number
  /** Goes on with new messages of the archive until the subscription is switched to them (resend-batches.ts). */
  follows?: boolean
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
    await this.#checkDestination(input)
    return this.#create('redrive', input)
  }

  async #checkDestination({ source, destination }: Pick<NewRedrive, 'source' | 'destination'>) {
    if (destination === source)
      throw FantailError.invalid('destination', 'must be another queue than the source')
    if (destination !== null && (await this.#queues.get(destination)) === null) {
      throw FantailError.invalid('destination', 'names a queue that does not exist')
    }
    if (destination !== null && isFifoName(destination) !== isFifoName(source)) {
      const kind = isFifoName(source) ? 'FIFO' : 'standard'
      throw FantailError.invalid('destination', `must be a ${kind} queue, as the source is`)
    }
  }

  /**
   * Creates a task that moves one message, edited or as it is. Throws like `create`, and `wrong_state` if a consumer
   * has the message, or if an earlier message of its FIFO group is in the queue.
   */
  async createSingle({ itemId, edit, ...input }: SingleRedrive): Promise<RedriveTask> {
    await this.#checkDestination(input)
    const filter = { messageIds: [itemId] }
    return this.#create('redrive', { ...input, maxMessagesPerSecond: null, filter, itemId, edit })
  }

  /**
   * Creates a task that removes the dead letters that match and are in the source now. Throws `not_found` or
   * `redrive_active`.
   */
  async createPurge(source: string, filter: RedriveFilter): Promise<RedriveTask> {
    return this.#create('purge', { source, destination: null, maxMessagesPerSecond: null, filter })
  }

  /**
   * Creates a task that resends kept messages to a subscription. `matched` counts the messages that it looks at.
   * Throws `redrive_active`, and `wrong_state` if the topic keeps no messages.
   */
  async createResend(input: NewResend): Promise<RedriveTask> {
    const result = await this.#resend(input, 'create')
    if (result.outcome !== 'created') throw active()
    return this.#need(result.id)
  }

  /** Counts the messages that `createResend` would look at now, and creates nothing. Throws `wrong_state`. */
  async countResend(input: Omit<NewResend, 'maxMessagesPerSecond'>): Promise<number> {
    return (await this.#resend({ ...input, maxMessagesPerSecond: null }, 'count')).matched
  }

  async #resend(input: NewResend, what: 'create' | 'count') {
    const { subscriptionArn, maxMessagesPerSecond, untilKept = null, follows = false, ...bounds } = input
    const topic = withoutSubscription(subscriptionArn)
    const shard = shardOf(topic)
    const id = newTaskId(shard, await readNow(this.#redis, shard))
    const reply = await runScript(this.#redis, CREATE_RESEND, {
      base: shardBase(shard),
      topic,
      source: subscriptionArn,
      id,
      counts: what === 'count',
      filter: sumFilter(bounds, { id, source: subscriptionArn, action: 'resend', destination: '' }),
      since: bounds.since - CLOCK_SLACK_MS,
      rate: String(maxMessagesPerSecond ?? ''),
      untilKept,
      follows,
    })
    if (reply === null) throw new FantailError('wrong_state', 'the topic keeps no messages')
    const [outcome, matched] = reply as [Buffer, number]
    return { outcome: String(outcome), matched, id }
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
    const task = readTask(await this.#redis.hgetall(key), key)
    return task && { ...task, ...(await readEnds(this.#redis, task)) }
  }

  /** The readable members of a task, for those who ask whose it is. */
  async getReadable(id: string): Promise<RedriveTask | null> {
    const shard = shardOfTask(id)
    if (shard === undefined) return null
    return readReadable(await this.#redis.hgetall(redriveKey(shardBase(shard), id)), id)
  }

  /** Tasks, newest first, without those that cannot be read. A page may be short and still have a next cursor. */
  async list({ source, status, cursor, limit }: ListRedrives): Promise<Page<RedriveTask>> {
    const shards = source === undefined ? undefined : [shardOf(withoutSubscription(source))]
    let after = cursor === undefined ? '' : (decodeCursor(cursor, 1)[0] ?? '')
    const items: RedriveTask[] = []
    for (let round = 0; round < LIST_ROUNDS_MAX; round++) {
      const ids = await this.#newest(shards, after, limit)
      const tasks = await Promise.all(ids.map((id) => this.#readable(id)))
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

  /**
   * The task is `canceling` while a batch is under way, and `canceled` afterwards. A task that cannot be read
   * is `canceled` at once, and answered as far as it can be read. Its batch returns to the source.
   */
  async cancel(id: string): Promise<RedriveTask> {
    let what: 'cancel' | 'abandon' = 'cancel'
    await this.#readable(id, () => {
      what = 'abandon'
    })
    await this.#run(id, what)
    return (await this.#readable(id)) ?? (await this.getReadable(id)) ?? this.#need(id)
  }

  /** Ids of the tasks that a process must run: `running` and `canceling`. A task that cannot be read is not run. */
  async runnable(onUnreadable: OnUnreadable = () => undefined): Promise<string[]> {
    const pipeline = batch(this.#redis)
    const keyOf = (shard: number) => redrivingKey(shardBase(shard))
    for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.hvals(keyOf(shard))
    const lists = (await readableReplies(pipeline, { keyOf, onUnreadable })) as (string[] | undefined)[]
    const ids = lists.flatMap((of = []) => of)
    const tasks = await Promise.all(ids.map((id) => this.#readable(id, onUnreadable)))
    return ids.filter((_, i) => tasks[i]?.status === 'running' || tasks[i]?.status === 'canceling')
  }

  async #readable(id: string, onUnreadable: OnUnreadable = () => undefined): Promise<RedriveTask | null> {
    const key = redriveKey(shardBase(shardOfTask(id) ?? 0), id)
    return (await whenReadable(key, onUnreadable, () => this.get(id))) ?? null
  }

  /** Forgets a task that has ended, because what it names is erased. */
  async forget(id: string): Promise<void> {
    const base = shardBase(shardOfTask(id) ?? 0)
    const key = redriveKey(base, id)
    await this.#redis.unlink(key, `${key}:left`, redriveOutcomesKey(base, id))
    await this.#redis.zrem(redrivesKey(base), id)
  }

  /** Removes expired tasks from the lists. Returns how many. */
  async sweep(onUnreadable?: OnUnreadable): Promise<number> {
    const pipeline = batch(this.#redis)
    const keyOf = (shard: number) => redrivesKey(shardBase(shard))
    for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.zcard(keyOf(shard))
    const counts = await readableReplies(pipeline, { keyOf, onUnreadable })
    const shards = counts.flatMap((tasks = 0, shard) => (tasks === 0 ? [] : [shard]))
    const pruned = await sideBySide(shards, SHARDS_AT_ONCE, (shard) =>
      runScript(this.#redis, PRUNE, { base: shardBase(shard), tasksMax: PRUNE_MAX }),
    )
    return (pruned as number[]).reduce((sum, count) => sum + count, 0)
  }

  async #create(action: RedriveAction, input: NewRedrive & Partial<SingleRedrive>): Promise<RedriveTask> {
    const { source, destination, filter, itemId = '', edit } = input
    const base = shardBase(shardOf(source))
    if (await this.#isBlocked(base, input)) throw active()
    const { newest, matched, now } = await this.#count(source, filter, itemId)
    const id = newTaskId(shardOf(source), now)
    const order = {
      id,
      source,
      action,
      destination: destination ?? '',
      canary: String(input.canary ?? ''),
      edited: edit ? ('1' as const) : ('' as const),
    }
    const args = {
      base,
      ...order,
      filter: sumFilter(filter, order),
      edit: edit ? sumText(JSON.stringify(edit)) : '',
      item: itemId,
      newest,
      matched,
      rate: String(input.maxMessagesPerSecond ?? ''),
      startedBy: input.startedBy ?? '',
    }
    const result = await untilEnded(() => runScript(this.#redis, CREATE, args))
    if (result === 'missing') throw queueMissing()
    if (result === 'active' || result === 'ending') throw active()
    const refused = NOT_MOVABLE.get(result)
    if (refused) throw refused()
    return this.#need(id)
  }

  /** Whether the source has an active task that does not give way to the new one. */
  async #isBlocked(base: string, { source, startedBy }: Pick<NewRedrive, 'source' | 'startedBy'>) {
    const id = await this.#redis.hget(redrivingKey(base), source)
    if (id === null) return false
    return startedBy !== undefined || (await this.getReadable(id))?.startedBy !== 'portal'
  }

  /** A single message is not looked for, because the script that creates the task knows its place. */
  async #count(source: string, filter: RedriveFilter, itemId: string) {
    if (itemId === '') return countRedrive(this.#redis, source, filter)
    return { newest: '', matched: 1, now: await readNow(this.#redis, shardOf(source)) }
  }

  async #change(id: string, what: 'rate' | 'pause' | 'resume', rate = '') {
    const isThere = (await this.getReadable(id)) !== null
    if (isThere && (await this.#readable(id)) === null) throw onlyCanceled()
    await this.#run(id, what, rate)
    return this.#need(id)
  }

  async #run(id: string, what: 'rate' | 'pause' | 'resume' | 'cancel' | 'abandon', rate = ''): Promise<void> {
    const shard = shardOfTask(id)
    if (shard === undefined) throw taskMissing()
    const result = String(await runScript(this.#redis, CHANGE, { base: shardBase(shard), id, what, rate }))
    if (result === 'missing') throw taskMissing()
    if (result === 'wrong')
      throw new FantailError('wrong_state', 'the task is not in a state that allows this')
  }

  async #need(id: string): Promise<RedriveTask> {
    const task = await this.get(id)
    if (task === null) throw taskMissing()
    return task
  }

  /** The newest ids before `after` ('': the newest of all), of the given shards or of all. */
  async #newest(shards: number[] | undefined, after: string, limit: number): Promise<string[]> {
    const pipeline = batch(this.#redis)
    const asked = shards ?? Array.from({ length: SHARD_COUNT }, (_, i) => i)
    for (const shard of asked) {
      const max = after === '' ? '+' : `(${after}`
      pipeline.zrevrangebylex(redrivesKey(shardBase(shard)), max, '-', 'LIMIT', 0, limit)
    }
    const keyOf = (i: number) => redrivesKey(shardBase(asked[i] ?? 0))
    const lists = (await readableReplies(pipeline, { keyOf })) as (string[] | undefined)[]
    const ids = lists.flatMap((of = []) => of)
    return ids.sort((a, b) => (a < b ? 1 : -1)).slice(0, limit)
  }
}

/** Creates a task, and waits while a task of a portal session ends its batch. Returns the script's last answer. */
async function untilEnded(create: () => Promise<unknown>): Promise<string> {
  const until = performance.now() + GIVE_WAY_MS_MAX
  for (;;) {
    const answer = String(await create())
    if (answer !== 'ending' || performance.now() > until) return answer
    await delay(GIVE_WAY_LOOK_MS)
  }
}

/** Why a single message cannot be moved, by the answers of the script. */
const NOT_MOVABLE = new Map<string, () => FantailError>([
  ['gone', () => new FantailError('not_found', 'no such message in this queue')],
  [
    'busy',
    () => new FantailError('wrong_state', 'a consumer has received the message: wait until it is visible'),
  ],
  [
    'behind',
    () =>
      new FantailError(
        'wrong_state',
        'an earlier message of its group is in the queue: redrive that one first',
      ),
  ],
])

function active(): FantailError {
  return new FantailError(
    'redrive_active',
    'a redrive or resend from this source is active: wait until it ends, or cancel it',
  )
}

function onlyCanceled(): FantailError {
  return new FantailError('wrong_state', 'the stored task cannot be read: it can only be canceled')
}

function taskMissing(): FantailError {
  return new FantailError('not_found', 'no such redrive')
}
