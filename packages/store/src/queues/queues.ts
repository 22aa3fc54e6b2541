/**
 * Queues with SQS's semantics. A message has these states:
 *
 *   delayed ──time──▶ ready ──receive──▶ in flight ──ack──▶ gone
 *                       ▲                    │ time, visibility 0
 *                       └────────────────────┘
 *   ready ──receive, once too often──▶ moving ──append to the dead-letter queue, then forget──▶ gone
 *   ready ──redrive──▶ chosen ──redrive──▶ gone, or ready again
 *   ready ──receive, cannot be decoded──▶ in flight ──quarantine──▶ gone
 *
 * In every state, the end of its retention, a purge or a DELETE removes it. Each step is one script. Only the move
 * spans two shards (queue-mover.ts).
 *
 * In a FIFO queue (a name that ends in `.fifo`) a message can be received only if no earlier one of its group is in
 * flight, moving or chosen for a redrive. Its items are ordered by group and sequence number. The groups are in two
 * sets, by when their first item is visible (items/lua/include/queue.lua). No item is `ready`, so none has to be made
 * so. A message with a known deduplication id is not stored. If the sender gave the message an id, only this id is
 * compared. `kinds/` has the differences between kinds of queues.
 *
 * Each method here calls a part, which documents it.
 */
import type { QueueMessage, QueueRecord, RedriveFilter } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { queueKey, queuesKey } from '../keys/keys.ts'
import { Quarantine } from '../quarantine/quarantine.ts'
import type { BodySeals } from '../records/sealed-messages.ts'
import { listNames, type Page } from '../redis/pages.ts'
import { ReplicaAcks } from '../redis/replica-acks.ts'
import { type OnUnreadable, whenReadable } from '../redis/unreadable.ts'
import {
  type DeleteIf,
  QueueDefinitions,
  type QueueDefinitionsOptions,
} from './definitions/queue-definitions.ts'
import type { QueueSettings } from './definitions/queue-fields.ts'
import { QueueSources } from './definitions/queue-sources.ts'
import { QueueContents } from './items/queue-contents.ts'
import { QueueHandles } from './items/queue-handles.ts'
import type {
  DeadLetterCounts,
  HandleResult,
  HandleRule,
  ListQueues,
  PeekRequest,
  QueueUse,
  QueueWithCounts,
  Received,
  ReceiveRequest,
  SendItem,
  SentItem,
  VisibilityChange,
} from './items/queue-records.ts'
import { type OnLeaseEnd, QueueLeases } from './leases/queue-leases.ts'
import { type GroupedLetters, groupLetters } from './letters/letter-groups.ts'
import { QueueMover } from './queue-mover.ts'
import { QueueReceiver } from './queue-receiver.ts'
import { QueueSender } from './queue-sender.ts'
import { sweepQueues } from './queue-sweep.ts'
import { UnreadableItems } from './upkeep/unreadable-items.ts'

/**
 * The limit of SQS.
 * @limit Messages of a queue in flight; FANTAIL_QUEUE_IN_FLIGHT_MAX changes it. Past it: nothing is received.
 */
const IN_FLIGHT_MAX = 120_000

interface QueuesOptions extends QueueDefinitionsOptions {
  /** Called with a failure that does not affect the caller, and that is repaired later. */
  onProblem?: (error: Error) => void
  onLeaseEnd?: OnLeaseEnd
  /** Called with data that a sweep could not read. */
  onUnreadable?: OnUnreadable
  /** Takes messages that cannot be decoded. Default: one without a log. */
  quarantine?: Pick<Quarantine, 'add'>
  /** Messages of one queue that may be in flight at a time. */
  inFlightMax?: number
  /**
   * The connection for appends, which waits for replicas. Default: the common connection, and replicas are not waited
   * for.
   */
  acks?: ReplicaAcks
  /** Counts the use; default: no counting. */
  use?: QueueUse
  /** Seals and opens messages. Absent: sealed messages are moved and stay locked. */
  seals?: BodySeals
}

export class Queues {
  readonly #redis: Redis
  readonly #sources: QueueSources
  readonly #leases: QueueLeases
  readonly #onUnreadable: OnUnreadable
  readonly #definitions: QueueDefinitions
  readonly #contents: QueueContents
  readonly #handles: QueueHandles
  readonly #sender: QueueSender
  readonly #mover: QueueMover
  readonly #receiver: QueueReceiver
  readonly #unreadable: UnreadableItems

  constructor(redis: Redis, options: QueuesOptions = {}) {
    const { use, seals, inFlightMax = IN_FLIGHT_MAX, onProblem = () => undefined } = options
    const acks = options.acks ?? new ReplicaAcks(redis)
    this.#redis = redis
    this.#onUnreadable = options.onUnreadable ?? onProblem
    this.#sources = new QueueSources(redis)
    const definitions = {
      get: (arn: string) => this.get(arn),
      delete: (arn: string, only: DeleteIf) => this.#definitions.delete(arn, only),
    }
    this.#leases = new QueueLeases(redis, definitions, options.onLeaseEnd ?? (() => undefined))
    this.#definitions = new QueueDefinitions(redis, this.#sources, { ...options, leases: this.#leases })
    this.#contents = new QueueContents(redis, seals)
    this.#handles = new QueueHandles(redis, use)
    this.#sender = new QueueSender(acks, use, seals)
    this.#mover = new QueueMover(redis, this.#sender, acks.redis)
    const { quarantine = new Quarantine(redis) } = options
    this.#unreadable = new UnreadableItems({ redis, contents: this.#contents, quarantine, onProblem })
    const parts = { redis, mover: this.#mover, unreadable: this.#unreadable }
    this.#receiver = new QueueReceiver({ ...parts, inFlightMax, onProblem, use, seals })
  }

  get(arn: string): Promise<QueueRecord | null> {
    return this.#sources.get(arn)
  }

  sources(arn: string): Promise<string[]> {
    return this.#sources.sources(arn)
  }

  listSources(arn: string): Promise<string[]> {
    return this.#sources.listSources(arn)
  }

  addSource(arn: string, source: string): Promise<void> {
    return this.#sources.addSource(arn, source)
  }

  removeSource(arn: string, source: string): Promise<void> {
    return this.#sources.removeSource(arn, source)
  }

  put(arn: string, set: Partial<QueueSettings>): Promise<Written> {
    return this.#definitions.put(arn, set)
  }

  create(arn: string, set: Partial<QueueSettings>): Promise<Written> {
    return this.#definitions.create(arn, set)
  }

  patch(arn: string, set: Partial<QueueSettings>): Promise<QueueRecord> {
    return this.#definitions.patch(arn, set)
  }

  update(arn: string, change: (queue: QueueRecord) => Partial<QueueSettings>): Promise<QueueRecord> {
    return this.#definitions.update(arn, change)
  }

  getWithCounts(arn: string): Promise<QueueWithCounts | null> {
    return this.#definitions.getWithCounts(arn)
  }

  list(request: ListQueues): Promise<Page<QueueRecord>> {
    return this.#definitions.list(request)
  }

  async delete(arn: string, only?: DeleteIf): Promise<void> {
    const leaseEnds = await this.#leases.endsAt(arn)
    await this.#definitions.delete(arn, only)
    if (leaseEnds !== null) await this.#leases.afterDelete(arn, leaseEnds)
  }

  /** Renews the queue's lease, if it has one. Throws `not_found` if the lease has ended. */
  renewLease(queue: QueueRecord): Promise<void> {
    return this.#leases.renew(queue)
  }

  /** Called by each API every SERVICE_NOTE_MS. Time in which none does so ends no lease. */
  noteService(): Promise<void> {
    return this.#leases.noteService()
  }

  /** When the queue's lease ends, epoch ms. null: it has none. */
  leaseEndsAt(arn: string): Promise<number | null> {
    return this.#leases.endsAt(arn)
  }

  /** Called before a subscription to a leased queue is made. Throws `validation_failed` past its bound of topics. */
  noteLeasedTopic(arn: string, topicArn: string): Promise<void> {
    return this.#leases.noteTopic(arn, topicArn)
  }

  deletedAt(arn: string): Promise<number | null> {
    return this.#definitions.deletedAt(arn)
  }

  peek(arn: string, request: PeekRequest): Promise<Page<QueueMessage>> {
    return this.#contents.peek(arn, request)
  }

  message(arn: string, id: string): Promise<QueueMessage | null> {
    return this.#contents.message(arn, id)
  }

  has(arn: string, ids: string[]): Promise<boolean[]> {
    return this.#contents.has(arn, ids)
  }

  deleteMessage(arn: string, id: string): Promise<boolean> {
    return this.#contents.deleteMessage(arn, id)
  }

  deadLetterCounts(arn: string): Promise<DeadLetterCounts> {
    return this.#contents.deadLetterCounts(arn)
  }

  /** Groups dead letters by their values, as far as a bounded number of steps goes. Throws `not_found`. */
  groupDeadLetters(arn: string, request: Parameters<typeof groupLetters>[2]): Promise<GroupedLetters> {
    return groupLetters(this.#redis, arn, request)
  }

  purgeDeadLetters(arn: string, filter: RedriveFilter): Promise<number> {
    return this.#contents.purgeDeadLetters(arn, filter)
  }

  purge(arn: string): Promise<number> {
    return this.#contents.purge(arn)
  }

  lastPurgedAt(arn: string): Promise<number | null> {
    return this.#contents.lastPurgedAt(arn)
  }

  send(arn: string, items: SendItem[]): Promise<SentItem[]> {
    return this.#sender.send(arn, items)
  }

  receive(arn: string, request: ReceiveRequest): Promise<QueueMessage[]> {
    return this.#receiver.receive(arn, request)
  }

  receiveOnce(arn: string, request: ReceiveRequest): Promise<Received> {
    return this.#receiver.receiveOnce(arn, request)
  }

  ack(arn: string, handles: string[], rule?: HandleRule): Promise<HandleResult[]> {
    return this.#handles.ack(arn, handles, rule)
  }

  changeVisibility(arn: string, changes: VisibilityChange[], rule?: HandleRule): Promise<HandleResult[]> {
    return this.#handles.changeVisibility(arn, changes, rule)
  }

  /**
   * Removes expired messages and finishes work that a crash has interrupted, in all queues. Returns how many messages.
   */
  async sweep(): Promise<number> {
    await this.#leases.sweep(this.#onUnreadable)
    await this.#definitions.resumeDeletions(this.#onUnreadable)
    return sweepQueues({
      redis: this.#redis,
      mover: this.#mover,
      definitions: this.#definitions,
      unreadable: this.#unreadable,
      onUnreadable: this.#onUnreadable,
    })
  }
}

interface Written {
  queue: QueueRecord
  created: boolean
}

/** Figures of at most `max` queues, the first by ARN, without unreadable ones. Takes two round trips. */
export async function queueFigures(
  redis: Redis,
  queues: Pick<Queues, 'getWithCounts'>,
  max: number,
): Promise<QueueWithCounts[]> {
  const arns = await listNames(redis, { key: queuesKey, prefix: '', after: '', limit: max })
  const found = await Promise.all(
    arns.map((arn) =>
      whenReadable(
        queueKey(arn),
        () => undefined,
        () => queues.getWithCounts(arn),
      ),
    ),
  )
  return found.filter((queue) => queue !== null && queue !== undefined)
}
