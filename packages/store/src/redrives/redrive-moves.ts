/**
 * Moves the messages of a redrive's batch to their places (redrive-batches.ts).
 *
 * A move goes to all queues side by side, and then to all lanes. The items for one queue, or for the lanes of one
 * shard, go together, so they keep their order. If one of these writes fails, the batch stays open and is moved again.
 */
import {
  type DeadLetter,
  parseArn,
  parseMessageId,
  type RedriveEdit,
  type RedriveFilter,
} from '@fantail/contracts'
import type { ServerMark, ServerMarks } from '../copies/server-marks.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { deliveryId } from '../lanes/records/generations.ts'
import type { RedrivenEntry } from '../lanes/records/lane-records.ts'
import { itemValues, type ReadItem } from '../queues/items/queue-items.ts'
import { edited, redrivenItem } from '../queues/kinds/queue-sending.ts'
import { messageBody } from '../records/message-bodies.ts'
import type { ReplicaAcks } from '../redis/replica-acks.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { sideBySide } from '../redis/side-by-side.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'

const APPEND = readScript('append-redriven-1')

/** Dead letters of one batch of a redrive. Past it: the next batch takes the others. */
export const REDRIVE_ITEMS_MAX = 100

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
  /** Why the messages of the batch cannot be read. The task then fails. */
  problem?: string
}

/**
 * The moved items. Otherwise the reason why the batch cannot be moved at all, or not by this run. `behind`: the target
 * has seen a later batch (see `renumber`).
 */
export type RedriveMove = ({ kind: 'moved' } & Moved) | Obstacle

type Obstacle = { kind: 'failed'; error: string } | { kind: 'behind'; laterBatch: number } | { kind: 'stale' }

export interface Moved {
  /** Whether each item was moved, by item id. */
  moved: Map<string, boolean>
  marks: ServerMark[]
  /** Shards of the lanes that got items. */
  shards: number[]
  /** How many items are now deliveries. */
  inLanes: number
}

/** A move under way. */
interface Step {
  run: RedriveRun
  batch: number
  done: Moved
}

interface RedriveMovesOptions {
  lanes: Pick<Lanes, 'parkRedriven'>
  subscriptions: Pick<Subscriptions, 'locate'>
  /** The connection for appends. */
  acks: ReplicaAcks
  servers: ServerMarks
}

export class RedriveMoves {
  readonly #lanes: Pick<Lanes, 'parkRedriven'>
  readonly #subscriptions: Pick<Subscriptions, 'locate'>
  readonly #acks: ReplicaAcks
  readonly #servers: ServerMarks

  constructor({ lanes, subscriptions, acks, servers }: RedriveMovesOptions) {
    this.#lanes = lanes
    this.#subscriptions = subscriptions
    this.#acks = acks
    this.#servers = servers
  }

  /** Moves each message to its place. Safe to repeat. */
  async move(run: RedriveRun, batch: RedriveBatch): Promise<RedriveMove> {
    const moved = new Map(batch.items.map(({ id }) => [id, false]))
    const present = batch.items.flatMap(({ item }) => (item === null ? [] : [edited(item, run.edit)]))
    const toQueues = new Map<string, ReadItem[]>()
    const toLanes: ReadItem[] = []
    const step: Step = { run, batch: batch.number, done: { moved, marks: [], shards: [], inLanes: 0 } }
    for (const item of present) {
      const queue = run.destination ?? item.message.deadLetterSourceArn
      if (queue !== undefined) toQueues.set(queue, [...(toQueues.get(queue) ?? []), item])
      else if (item.message.deadLetter) toLanes.push(item)
    }
    const appended = await sideBySide([...toQueues], REDRIVE_ITEMS_MAX, ([queue, items]) =>
      this.#append(step, queue, items),
    )
    const obstacle = worstOf(appended) ?? (await this.#park(step, toLanes))
    return obstacle ?? { kind: 'moved', ...step.done }
  }

  /** Appends the items to a queue. Items for a source queue that is gone stay where they are. */
  async #append({ run, batch, done }: Step, queue: string, items: ReadItem[]): Promise<Obstacle | undefined> {
    const base = shardBase(shardOf(queue))
    done.marks.push(this.#servers.mark(base))
    const result = await runScript(this.#acks.redis, APPEND, {
      base,
      arn: queue,
      task: run.id,
      fence: run.fence,
      batch,
      items: items.flatMap((item) => itemValues(redrivenItem(run.id, item))),
    })
    await this.#acks.confirm(base)
    if (Array.isArray(result)) return { kind: 'behind', laterBatch: Number(result[0]) }
    if (result === null) return queue === run.destination ? DESTINATION_GONE : undefined
    if (result !== 1) return { kind: 'stale' }
    for (const { message } of items) done.moved.set(message.messageId, true)
    return undefined
  }

  /** Parks items with one script per shard. A message of a deleted subscription stays in the source. */
  async #park(step: Step, items: ReadItem[]): Promise<Obstacle | undefined> {
    const places = await Promise.all(items.map((item) => this.#place(item, step.run.edit)))
    const byShard = Map.groupBy(
      places.filter((place) => place !== null),
      ({ shard }) => shard,
    )
    const parked = await sideBySide([...byShard], REDRIVE_ITEMS_MAX, ([shard, here]) =>
      this.#parkIn(step, shard, here),
    )
    return worstOf(parked)
  }

  async #parkIn({ run, batch, done }: Step, shard: number, here: Place[]): Promise<Obstacle | undefined> {
    done.marks.push(this.#servers.mark(shardBase(shard)))
    const result = await this.#lanes.parkRedriven(shard, {
      task: run.id,
      fence: run.fence,
      batch,
      messages: here.map(({ deadLetter }) => ({
        id: messageIdBytes(deadLetter),
        body: messageBody(deadLetter.message),
        groupId: deadLetter.message.groupId,
      })),
      entries: here.map(({ entry }, message) => ({ ...entry, message })),
    })
    if (result.stale) return notParked(result)
    for (const [i, outcome] of result.outcomes.entries()) {
      const itemId = here[i]?.entry.itemId
      if (itemId !== undefined) done.moved.set(itemId, outcome !== 'unsubscribed')
      if (outcome !== 'unsubscribed') done.inLanes += 1
    }
    done.shards.push(shard)
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

interface Place {
  shard: number
  deadLetter: DeadLetter
  entry: Omit<RedrivenEntry, 'message'>
}

const DESTINATION_GONE: Obstacle = { kind: 'failed', error: 'the destination queue is gone' }

export function notParked({ laterBatch }: { laterBatch?: number }): Obstacle {
  return laterBatch === undefined ? { kind: 'stale' } : { kind: 'behind', laterBatch }
}

/**
 * The obstacle for the whole batch. The batch gets a number after the later batch, so the highest one of all targets
 * counts.
 */
function worstOf(obstacles: (Obstacle | undefined)[]): Obstacle | undefined {
  const found = obstacles.filter((obstacle) => obstacle !== undefined)
  const behind = found.flatMap((obstacle) => (obstacle.kind === 'behind' ? [obstacle] : []))
  behind.sort((a, b) => b.laterBatch - a.laterBatch)
  return found.find(({ kind }) => kind !== 'behind') ?? behind[0]
}

function messageIdBytes(deadLetter: DeadLetter): Buffer {
  const id = parseMessageId(deadLetter.messageId)
  if (id === undefined) throw new TypeError(`not a message id: ${deadLetter.messageId}`)
  return id
}
