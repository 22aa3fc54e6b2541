/**
 * Runs a redrive task, one batch at a time.
 *
 * choose ──▶ recorded in the task, its items chosen ──move──▶ in lanes or queues ──finish──▶ gone from the source
 *
 * Every start of a task takes a new fence. Each step carries it and is refused under an older one. A crash after
 * `choose` leaves the batch in the task, and the next start gets the same one. The target shards remember the items of
 * that batch, so the repetition adds nothing, even if they have been delivered or consumed since.
 *
 * A batch ends only while the marks of everything that it moved still hold (copies/server-marks.ts).
 *
 * On a cluster the source's master may fail over and lose its latest writes. The targets may then have seen a later
 * batch than the task's. In that case the batch gets a number after that one and is moved, perhaps a second time;
 * otherwise it would be refused for ever.
 */
import {
  type DeadLetter,
  parseArn,
  parseMessageId,
  type RedriveEdit,
  type RedriveFilter,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { type ServerMark, ServerMarks } from '../copies/server-marks.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import type { LaneStore } from '../lanes/lane-api.ts'
import { deliveryId } from '../lanes/records/generations.ts'
import type { RedrivenEntry } from '../lanes/records/lane-records.ts'
import { type ItemReply, itemValues, type ReadItem, tryReadItem } from '../queues/items/queue-items.ts'
import { filterJson } from '../queues/items/redrive-counts.ts'
import { edited, redrivenItem } from '../queues/kinds/queue-sending.ts'
import { messageBody } from '../records/message-bodies.ts'
import { ReplicaAcks } from '../redis/replica-acks.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { type PurgedPage, purgePage } from './purge-pages.ts'
import { taskPlace } from './redrive-records.ts'

const OPEN = readScript('open-redrive-1')
const CHOOSE = readScript('choose-redriven-1')
const APPEND = readScript('append-redriven-1')
const FINISH = readScript('finish-redriven-1')
const JUDGE = readScript('judge-canary-1')
const RENUMBER = readScript('renumber-redriven-1')

/** Dead letters of one batch of a redrive. Past it: the next batch takes the others. */
const REDRIVE_ITEMS_MAX = 100
/** Bytes of one batch of a redrive. Past it: the next batch takes the others. */
const REDRIVE_BYTES_MAX = 4_194_304
/** Dead letters that one script looks at for a batch. Past it: the next script looks on. */
const REDRIVE_SCAN_ITEMS_MAX = 1_000

/** A start of a task. */
export interface RedriveRun {
  id: string
  fence: number
  destination: string | null
  filter: RedriveFilter
  /** Absent: messages go as they are. */
  edit?: RedriveEdit | undefined
}

export interface RedriveBatch {
  number: number
  /**
   * `item` is null if the message has left the source since the batch was chosen. A resend has the body of a kept
   * message instead, if its ring still has it.
   */
  items: { id: string; item: ReadItem | null; body?: Buffer | null }[]
}

/**
 * `again`: this page has nothing to move. `wait`: the rate does not allow a batch yet. `canary`: the first messages are
 * moved, and their ends are awaited. `stop`: the task is paused or ended. `stale`: another run has the task.
 */
export type RedriveChoice =
  | { kind: 'batch'; batch: RedriveBatch }
  | { kind: 'wait'; waitMs: number }
  | { kind: 'canary'; waitedMs: number }
  | { kind: 'again' | 'stop' | 'stale' }

/**
 * The moved items. Otherwise the reason why the batch cannot be moved at all, or not by this run. `behind`: the target
 * has seen a later batch (see `renumber`).
 */
export type RedriveMove =
  | ({ kind: 'moved' } & Moved)
  | { kind: 'failed'; error: string }
  | { kind: 'behind'; laterBatch: number }
  | { kind: 'stale' }

interface Moved {
  /** Whether each item was moved, by item id. */
  moved: Map<string, boolean>
  marks: ServerMark[]
  /** Shards of the lanes that got items. */
  shards: number[]
  /** How many items are now deliveries. */
  inLanes: number
}

interface RedriveBatchesOptions {
  redis: Redis
  lanes: Pick<LaneStore, 'parkRedriven'>
  subscriptions: Pick<Subscriptions, 'locate'>
  /** The connection for appends, which waits for replicas. Default: `redis`, and replicas are not waited for. */
  acks?: ReplicaAcks
}

export class RedriveBatches {
  readonly #redis: Redis
  readonly #acks: ReplicaAcks
  readonly #lanes: Pick<LaneStore, 'parkRedriven'>
  readonly #subscriptions: Pick<Subscriptions, 'locate'>
  readonly #servers: ServerMarks

  constructor({ redis, lanes, subscriptions, acks }: RedriveBatchesOptions) {
    this.#acks = acks ?? new ReplicaAcks(redis)
    this.#servers = new ServerMarks([redis, this.#acks.redis])
    this.#redis = redis
    this.#lanes = lanes
    this.#subscriptions = subscriptions
  }

  /** Returns the fence of a new run, which makes all earlier runs stale. null: the task must not be run. */
  async open(id: string): Promise<number | null> {
    const fence = await runScript(this.#redis, OPEN, taskPlace(id))
    return fence === 0 ? null : (fence as number)
  }

  async choose(run: RedriveRun): Promise<RedriveChoice> {
    const reply = await runScript(this.#redis, CHOOSE, {
      ...taskPlace(run.id),
      fence: run.fence,
      itemsMax: REDRIVE_ITEMS_MAX,
      bytesMax: REDRIVE_BYTES_MAX,
      lookedAtMax: REDRIVE_SCAN_ITEMS_MAX,
      filterJson: filterJson(run.filter),
    })
    const [kind, value, items] = reply as ChooseReply
    switch (String(kind)) {
      case 'batch':
        return { kind: 'batch', batch: { number: value ?? 0, items: (items ?? []).map(batchItem) } }
      case 'wait':
        return { kind: 'wait', waitMs: value ?? 0 }
      case 'canary':
        return { kind: 'canary', waitedMs: value ?? 0 }
      default:
        return { kind: String(kind) as 'again' | 'stop' | 'stale' }
    }
  }

  /** Ends the wait for a canary. With a reason the task pauses itself. Returns false if another run has the task. */
  async judgeCanary({ id, fence }: RedriveRun, reason = ''): Promise<boolean> {
    return (await runScript(this.#redis, JUDGE, { ...taskPlace(id), fence, reason })) === 1
  }

  /** The next step of a purge task. */
  purge(run: RedriveRun): Promise<PurgedPage> {
    return purgePage(this.#redis, run)
  }

  /** Moves each message to its place. Safe to repeat. */
  async move(run: RedriveRun, batch: RedriveBatch): Promise<RedriveMove> {
    const moved = new Map(batch.items.map(({ id }) => [id, false]))
    const present = batch.items.flatMap(({ item }) => (item === null ? [] : [edited(item, run.edit)]))
    const toQueues = new Map<string, ReadItem[]>()
    const toLanes: ReadItem[] = []
    const marks: ServerMark[] = []
    const done: Moved = { moved, marks, shards: [], inLanes: 0 }
    for (const item of present) {
      const queue = run.destination ?? item.message.deadLetterSourceArn
      if (queue !== undefined) toQueues.set(queue, [...(toQueues.get(queue) ?? []), item])
      else if (item.message.deadLetter) toLanes.push(item)
    }
    for (const [queue, items] of toQueues) {
      marks.push(this.#servers.mark(shardBase(shardOf(queue))))
      const result = await this.#append(run, batch.number, queue, items)
      if (typeof result === 'number') return { kind: 'behind', laterBatch: result }
      if (result === 'stale') return { kind: 'stale' }
      if (result === 'missing' && queue === run.destination) {
        return { kind: 'failed', error: 'the destination queue is gone' }
      }
      if (result === 'appended') for (const { message } of items) moved.set(message.messageId, true)
    }
    const inTheWay = await this.#park(run, batch.number, toLanes, done)
    return inTheWay ?? { kind: 'moved', ...done }
  }

  /**
   * Gives the open batch a number after `laterBatch`, so that the target accepts it. Returns false if another run has
   * the task.
   */
  async renumber(run: RedriveRun, number: number, laterBatch: number): Promise<boolean> {
    const args = { ...taskPlace(run.id), fence: run.fence, batch: number, number: laterBatch + 1 }
    return (await runScript(this.#redis, RENUMBER, args)) === 1
  }

  /**
   * Ends the batch, and with `error` the task. Returns false if another run has the task. Throws if Redis may have lost
   * moved messages. The batch then stays open and is moved again.
   */
  async finish(
    run: RedriveRun,
    number: number,
    moved: Map<string, boolean>,
    { error = '', marks = [], shards = [], inLanes = 0 }: { error?: string } & Partial<Moved> = {},
  ): Promise<boolean> {
    if (!marks.every((mark) => mark.holds())) throw new Error('a connection to Redis has closed meanwhile')
    const items = Array.from(moved, ([item, isMoved]) => ({ item, isMoved }))
    const args = {
      ...taskPlace(run.id),
      fence: run.fence,
      batch: number,
      failure: error,
      shards: shards.join(','),
      inLanes,
      items,
    }
    return (await runScript(this.#redis, FINISH, args)) === 1
  }

  /** Appends the items to a queue. A returned number is that of a later batch which the queue has seen. */
  async #append(run: RedriveRun, batch: number, queue: string, items: ReadItem[]) {
    const base = shardBase(shardOf(queue))
    const result = await runScript(this.#acks.redis, APPEND, {
      base,
      arn: queue,
      task: run.id,
      fence: run.fence,
      batch,
      items: items.flatMap((item) => itemValues(redrivenItem(run.id, item))),
    })
    await this.#acks.confirm(base)
    if (result === null) return 'missing'
    if (Array.isArray(result)) return Number(result[0])
    return result === 1 ? 'appended' : 'stale'
  }

  /**
   * Parks items with one script per shard. Returns the problem, if there is one. A message of a deleted subscription
   * stays in the source.
   */
  async #park(
    run: RedriveRun,
    batch: number,
    items: ReadItem[],
    done: Moved,
  ): Promise<RedriveMove | undefined> {
    const places = await Promise.all(items.map((item) => this.#place(item, run.edit)))
    const shards = new Set(places.flatMap((place) => (place === null ? [] : [place.shard])))
    for (const shard of shards) {
      const here = places.filter((place) => place?.shard === shard).filter((place) => place !== null)
      done.marks.push(this.#servers.mark(shardBase(shard)))
      const result = await this.#lanes.parkRedriven(shard, {
        task: run.id,
        fence: run.fence,
        batch,
        messages: here.map(({ deadLetter }) => ({
          id: messageIdBytes(deadLetter),
          body: messageBody(deadLetter.message),
        })),
        entries: here.map(({ entry }, message) => ({ ...entry, message })),
      })
      if (result.stale) return notParked(result)
      for (const [i, outcome] of result.outcomes.entries()) {
        const itemId = here[i]?.entry.itemId
        if (itemId !== undefined) done.moved.set(itemId, outcome !== 'gone')
        if (outcome !== 'gone') done.inLanes += 1
      }
      done.shards.push(shard)
    }
    return undefined
  }

  /** An edited message is a new one, so its delivery was never redriven. */
  async #place({ message }: ReadItem, edit: RedriveEdit | undefined): Promise<Place | null> {
    const deadLetter = message.deadLetter
    const subscriptionId = parseArn(deadLetter?.subscriptionArn ?? '')?.subscriptionId
    if (deadLetter === undefined || subscriptionId === undefined) return null
    const location = await this.#subscriptions.locate(subscriptionId)
    if (location === null) return null
    const generation = edit?.itemId === message.messageId ? 0 : deadLetter.generation + 1
    const delivery = deliveryId(deadLetter.messageId, generation)
    const { groupId } = deadLetter.message
    const entry = { subscriptionId, delivery, itemId: message.messageId, ...(groupId ? { groupId } : {}) }
    return { shard: location.shard, deadLetter, entry }
  }
}

type ChooseReply = [kind: Buffer, value?: number, items?: ItemReply[]]

interface Place {
  shard: number
  deadLetter: DeadLetter
  entry: Omit<RedrivenEntry, 'message'>
}

export function notParked({ laterBatch }: { laterBatch?: number }): RedriveMove {
  return laterBatch === undefined ? { kind: 'stale' } : { kind: 'behind', laterBatch }
}

function batchItem(reply: ItemReply): RedriveBatch['items'][number] {
  return { id: String(reply[0]), item: reply[1] == null ? null : readable(reply) }
}

/** null: the letter cannot be decoded. It stays in the source until a receive moves it to the quarantine. */
function readable(reply: ItemReply): ReadItem | null {
  const item = tryReadItem(reply)
  return 'problem' in item ? null : item
}

function messageIdBytes(deadLetter: DeadLetter): Buffer {
  const id = parseMessageId(deadLetter.messageId)
  if (id === undefined) throw new TypeError(`not a message id: ${deadLetter.messageId}`)
  return id
}
