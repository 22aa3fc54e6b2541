/**
 * Tasks that act on many objects, such as the lanes of a host.
 *
 * planned ──start──▶ running ──▶ completed
 *    └─ expires         └─cancel─▶ canceling (until its batch ends) ──▶ canceled
 *
 * A plan holds the objects themselves, so that a start acts on what the caller has seen. A process claims a task under
 * a lease, with a fence, and works through the objects in batches: open, act, settle. If it dies, the next claim
 * repeats the open batch, so every action must be safe to repeat. An open batch holds how its objects were before. The
 * list of changed objects, by which a task is undone, is therefore right after a crash too.
 */
import {
  type BulkAction,
  type BulkFailure,
  type BulkTask,
  createMessageId,
  FantailError,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import {
  BULK_BASE,
  bulkChangedKey,
  bulkCountsKey,
  bulkFailuresKey,
  bulkObjectsKey,
  bulkStartedKey,
  bulkTaskKey,
} from '../keys/keys.ts'
import { parseRecord, sumRecord } from '../records/checksums.ts'
import { batch } from '../redis/batch.ts'
import { allItems, decodeCursor, encodeCursor, type Page, replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const PLAN = readScript('create-bulk-1')
const START = readScript('start-bulk-1')
const CANCEL = readScript('cancel-bulk-1')
const CLAIM = readScript('claim-bulk-1')
const OPEN = readScript('open-bulk-1')
const SETTLE = readScript('settle-bulk-1')

const BASE = { base: BULK_BASE }
/** Member of a task's hash (scripts/lua-names.ts). */
const BULK_RECORD = 'r'
/** Plans that nobody has started yet. Past it: the oldest of the same key is dropped first. */
const PLANS_MAX = 50
/** How long a plan of a bulk task can be started. After it: `not_found`. */
const BULK_PLAN_MS = 900_000
/** Bulk tasks that run at a time. Past it: starting one is refused with `conflict`. */
const BULK_RUNNING_MAX = 20
/** How long an ended task is kept. */
const BULK_KEPT_MS = 1_209_600_000
/** Failures that a bulk task lists. Past it: further ones are only counted. */
const BULK_FAILURES_MAX = 1_000
/** After it, another process continues the task of one that has died. */
export const BULK_LEASE_MS = 10_000
/** Tasks that are read at once. */
const TASKS_READ_AT_ONCE = 100
/** Objects of a batch. */
const BATCH_OBJECTS = 8

/** Actions that free memory. */
const FREES: ReadonlySet<BulkAction> = new Set(['purge', 'erase'])

export type NewBulkTask = Omit<BulkTask, BulkProgressMember | 'id' | 'plannedAt'> & { objects: string[] }
type BulkProgressMember =
  | 'status'
  | 'total'
  | 'done'
  | 'failed'
  | 'startedAt'
  | 'endedAt'
  | 'undoneBy'
  | 'results'
  | 'expiresAt'

export interface BulkClaim {
  id: string
  /** Digits. */
  fence: string
}

export interface OpenBatch {
  status: BulkTask['status']
  objects: string[]
  /** How the objects were before the task changed any of them. undefined: nobody has stored it yet. */
  before: Record<string, string> | undefined
}

/** The result for one object. */
export interface BulkOutcome {
  /** The task has changed it, and can undo that. */
  changed?: boolean
  counted?: Record<string, number>
  failure?: BulkFailure
}

interface ErasedNames {
  /** Whether a text of a sample is the customer's. */
  isSample: (text: string) => boolean
  /** Whether the name of an object is the customer's. */
  isObject: (name: string) => boolean
}

export class BulkTasks {
  readonly #redis: Redis
  readonly #growth: GrowthGuard
  readonly #now: () => number

  constructor(redis: Redis, { growth = UNGUARDED, now }: { growth?: GrowthGuard; now: () => number }) {
    this.#redis = redis
    this.#growth = growth
    this.#now = now
  }

  /** Stores a plan. Throws `storage_full` past the watermark, unless its work frees memory. */
  async plan({ objects, ...facts }: NewBulkTask): Promise<BulkTask> {
    const frees = FREES.has(facts.action)
    if (!frees) await this.#growth.admit()
    const plannedAt = this.#now()
    const id = createMessageId(plannedAt)
    const record = sumRecord({ ...facts, plannedAt })
    const planner = facts.key?.id ?? ''
    const bounds = { plansMax: PLANS_MAX, lifeMs: BULK_PLAN_MS }
    await runScript(this.#redis, PLAN, { ...BASE, id, record, planner, frees, ...bounds, objects })
    return this.#need(id)
  }

  /** Starts a planned task. Repeating it changes nothing. Throws `not_found`, `conflict` or `wrong_state`. */
  async start(id: string): Promise<BulkTask> {
    const { undoes } = await this.#need(id)
    const args = { id, undoes: undoes ?? '', runningMax: BULK_RUNNING_MAX, keptMs: BULK_KEPT_MS }
    const outcome = String(await runScript(this.#redis, START, { ...BASE, ...args }))
    if (outcome === 'missing') throw taskMissing()
    if (outcome === 'busy')
      throw new FantailError('conflict', `${BULK_RUNNING_MAX} bulk tasks run, as many as there may be`)
    if (outcome === 'undone') throw new FantailError('wrong_state', 'the task is undone already')
    return this.#need(id)
  }

  /** The task is `canceling` until its batch has ended. Throws `not_found` or `wrong_state`. */
  async cancel(id: string): Promise<BulkTask> {
    await this.#need(id)
    if ((await runScript(this.#redis, CANCEL, { ...BASE, id })) === 0)
      throw new FantailError('wrong_state', 'the task does not run')
    return this.#need(id)
  }

  async get(id: string): Promise<BulkTask | null> {
    const key = bulkTaskKey(id)
    const pipeline = batch(this.#redis).hgetall(key).hgetall(bulkCountsKey(id)).pttl(key)
    const [fields, counts, ttlMs] = (await replies(pipeline)) as [Fields, Fields, number]
    if (fields.r === undefined) return null
    const { S: _, ...record } = parseRecord(fields.r, key)
    const isPlan = fields.s === 'planned'
    return {
      ...(record as unknown as Kept),
      id,
      status: fields.s as BulkTask['status'],
      total: Number(fields.t),
      done: Number(fields.d),
      failed: Number(fields.x),
      startedAt: fields.b === undefined ? null : Number(fields.b),
      endedAt: fields.e === undefined ? null : Number(fields.e),
      undoneBy: fields.u ?? null,
      expiresAt: isPlan ? this.#now() + ttlMs : null,
      results: Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, Number(count)])),
    }
  }

  /** Started tasks, the latest first. */
  async list({ cursor, limit }: { cursor?: string | undefined; limit: number }): Promise<Page<BulkTask>> {
    const start = cursor === undefined ? 0 : Number(decodeCursor(cursor, 1)[0])
    const end = start + limit
    const ids = await this.#redis.zrevrange(bulkStartedKey(), start, end)
    const found = await Promise.all(ids.slice(0, limit).map((id) => this.get(id)))
    const items = found.filter((task) => task !== null)
    return { items, nextCursor: ids.length > limit ? encodeCursor([String(end)]) : null }
  }

  async failures(id: string): Promise<BulkFailure[]> {
    const texts = await this.#redis.lrange(bulkFailuresKey(id), 0, -1)
    return texts.map((text) => JSON.parse(text) as BulkFailure)
  }

  /** All objects of a task that has not ended. */
  objects(id: string): Promise<string[]> {
    return this.#redis.lrange(bulkObjectsKey(id), 0, -1)
  }

  /** Erases the customer's name from an erasure, and the objects that name it. Counts stay. */
  async forget({ refused, ...task }: BulkTask): Promise<void> {
    const blank = { leaving: null, sample: [], refused: { count: refused.count, first: [] } }
    await this.#redis.hset(bulkTaskKey(task.id), BULK_RECORD, recordOf({ ...task, ...blank }))
  }

  /**
   * Erases a customer from tasks that have ended: from their samples and from the lists of what failed or was refused.
   * Counts stay. Returns how many tasks it has changed.
   */
  async forgetIn({ isSample, isObject }: ErasedNames): Promise<number> {
    let forgotten = 0
    for await (const task of allItems((more) => this.list({ limit: TASKS_READ_AT_ONCE, ...more })))
      if (task.endedAt !== null && (await this.#forgetIn(task, { isSample, isObject }))) forgotten++
    return forgotten
  }

  async #forgetIn(task: BulkTask, { isSample, isObject }: ErasedNames): Promise<boolean> {
    const { id, refused } = task
    const texts = await this.#redis.lrange(bulkFailuresKey(id), 0, -1)
    const failed = texts.filter((text) => isObject((JSON.parse(text) as BulkFailure).object))
    const sample = task.sample.filter((text) => !isSample(text))
    const first = refused.first.filter(({ object }) => !isObject(object))
    const isSame = sample.length === task.sample.length && first.length === refused.first.length
    if (isSame && failed.length === 0) return false
    const pipeline = batch(this.#redis)
    const record = recordOf({ ...task, sample, refused: { ...refused, first } })
    pipeline.hset(bulkTaskKey(id), BULK_RECORD, record)
    for (const text of failed) pipeline.lrem(bulkFailuresKey(id), 0, text)
    await replies(pipeline)
    return true
  }

  /** The objects that the task has changed. */
  changed(id: string): Promise<string[]> {
    return this.#redis.lrange(bulkChangedKey(id), 0, -1)
  }

  /** Claims a running task that no process works on. */
  async claim(): Promise<BulkClaim | null> {
    const reply = (await runScript(this.#redis, CLAIM, { ...BASE, leaseMs: BULK_LEASE_MS })) as
      | [Buffer, number]
      | null
    return reply && { id: String(reply[0]), fence: String(reply[1]) }
  }

  /** The next batch. It also renews the lease. null: another process has the task. */
  async open({ id, fence }: BulkClaim, before?: Record<string, string>): Promise<OpenBatch | null> {
    const text = before === undefined ? '' : JSON.stringify(before)
    const args = { id, fence, objectsMax: BATCH_OBJECTS, leaseMs: BULK_LEASE_MS, before: text }
    const reply = (await runScript(this.#redis, OPEN, { ...BASE, ...args })) as
      | [Buffer, Buffer[], Buffer]
      | null
    if (!reply) return null
    const [status, objects, stored] = reply
    return {
      status: String(status) as BulkTask['status'],
      objects: objects.map(String),
      before: stored.length === 0 ? undefined : (JSON.parse(String(stored)) as Record<string, string>),
    }
  }

  /** Ends a batch. null: another process has the task. */
  async settle(
    { id, fence }: BulkClaim,
    objects: string[],
    outcomes: BulkOutcome[],
  ): Promise<BulkTask['status'] | null> {
    const rows = outcomes.flatMap(({ changed, counted = {}, failure }, i) => [
      ...(changed ? [{ kind: 'changed', value: objects[i] ?? '', n: 1 }] : []),
      ...Object.entries(counted).map(([value, n]) => ({ kind: 'counted', value, n })),
      ...(failure ? [{ kind: 'failed', value: JSON.stringify(failure), n: 1 }] : []),
    ])
    const args = { id, fence, count: objects.length, leaseMs: BULK_LEASE_MS, keptMs: BULK_KEPT_MS }
    const all = { ...BASE, ...args, failuresMax: BULK_FAILURES_MAX, outcomes: rows }
    const status = String(await runScript(this.#redis, SETTLE, all))
    return status === 'stale' ? null : (status as BulkTask['status'])
  }

  async #need(id: string): Promise<BulkTask> {
    const task = await this.get(id)
    if (task === null) throw taskMissing()
    return task
  }
}

type Kept = Omit<BulkTask, BulkProgressMember | 'id'>

/** The stored plan, without the progress that is stored beside it. */
function recordOf(task: Kept): string {
  const { action, key, counts, sample, refused, maxPerSecond, leaving, undoes, publicUrl, plannedAt } = task
  const plan = { action, key, counts, sample, refused, maxPerSecond, leaving, undoes, publicUrl, plannedAt }
  return sumRecord(plan)
}

/** Members of a task's hash are BULK of scripts/lua-names.ts. */
type Fields = Record<string, string | undefined>

function taskMissing(): FantailError {
  return new FantailError('not_found', 'the bulk task does not exist')
}
