/**
 * Runs a resend, one batch at a time. A resend is a redrive task (redrive-batches.ts) that copies messages from the
 * ring of a topic into the lane of one subscription. The fence, the record of the open batch and the shard's memory of
 * parked items are those of redrives. A repeated batch therefore parks nothing again.
 *
 * If the topic has an archive, a batch is all that lies between two scores, in blocks or in the ring. Messages move
 * from the ring into blocks meanwhile, so a repeated batch may find them elsewhere.
 *
 * All deliveries of a task have the generation of its start. A repeated batch gives them the same ids.
 */
import {
  formatMessageId,
  isFifoName,
  type Message,
  parseArn,
  type RedriveTask,
  type SubscriptionRecord,
  withoutSubscription,
} from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import type { Redis } from 'ioredis'
import { type ArchivedMessage, type ArchivedTopic, BlockError } from '../archive/archive-blocks.ts'
import type { ArchivePage, ArchivePages } from '../archive/archive-pages.ts'
import { type ServerMark, ServerMarks } from '../copies/server-marks.ts'
import { bodiesIn } from '../kept/kept-jobs.ts'
import { shardBase } from '../keys/shards.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { deliveryId, resentGeneration } from '../lanes/records/generations.ts'
import type { ParkMessage, RedrivenEntry } from '../lanes/records/lane-records.ts'
import type { FailedEnds } from '../outcomes/failed-ends.ts'
import type { ResentEntry } from '../outcomes/outcome-entries.ts'
import { readMessage } from '../records/message-bodies.ts'
import { ReplicaAcks } from '../redis/replica-acks.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable } from '../redis/unreadable.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import type { RedriveChoice } from './redrive-batches.ts'
import { notParked, type RedriveBatch, type RedriveMove } from './redrive-moves.ts'
import { taskPlace } from './redrive-records.ts'
import { endHold, releaseEnded } from './replay-holds.ts'

const CHOOSE = readScript('choose-resent-1')
const RECORD = readScript('record-resent-1')
const END_FOLLOWING = readScript('end-following-1')

/** Kept messages of one batch of a resend. Past it: the next batch takes the others. */
const RESEND_ITEMS_MAX = 100
/** Bytes of one batch of a resend. Past it: the next batch takes the others. */
const RESEND_BYTES_MAX = 4_194_304
/** Waiting deliveries of the lane that a resend adds to. Past it: the resend waits, so it cannot fill Redis. */
const RESEND_WAITING_MAX = 1_000

/**
 * Messages that are kept in this time are part of a replay and are delivered as new ones. Workers that dispatch by the
 * former settings of the subscription have certainly kept their messages then.
 */
const LIVE_AFTER_MS = 2_000

/** A start of a resend. */
interface ResendRun {
  id: string
  fence: number
  /** ARN of the subscription. */
  source: string
  startedAt: number
  filter: { since?: number; until?: number; failedOnly?: boolean }
}

interface ResendBatchesOptions {
  redis: Redis
  /** The connection of the lanes, which waits for replicas. */
  acks?: ReplicaAcks
  lanes: Pick<Lanes, 'figures' | 'parkRedriven'>
  subscriptions: Pick<Subscriptions, 'locate' | 'get' | 'update'>
  /** Whether the subscription's filter matches the message. */
  matches(record: SubscriptionRecord, message: Message): Promise<boolean>
  /** Finds the messages whose deliveries have failed. */
  failed: Pick<FailedEnds, 'find'>
  /** The archives of topics. Absent: a resend of an archived topic fails. */
  archive?: Pick<ArchivePages, 'next'> | undefined
  /** Called with the deliveries of each batch that are in their lane. */
  onResent(entries: ResentEntry[]): Promise<void>
}

export class ResendBatches {
  readonly #options: ResendBatchesOptions
  readonly #servers: ServerMarks

  constructor(options: ResendBatchesOptions) {
    this.#options = options
    const { redis, acks = new ReplicaAcks(redis) } = options
    this.#servers = new ServerMarks([redis, acks.redis])
  }

  /** How many more deliveries the lane may get now. */
  async laneCapacity({ source }: Pick<ResendRun, 'source'>): Promise<number> {
    const { subscriptions, lanes } = this.#options
    const subscriptionId = parseArn(source)?.subscriptionId ?? ''
    const location = await subscriptions.locate(subscriptionId)
    const [figures] = location ? await lanes.figures([{ subscriptionId, shard: location.shard }]) : []
    return RESEND_WAITING_MAX - (figures?.waiting ?? 0)
  }

  async choose(run: ResendRun): Promise<RedriveChoice> {
    const reply = await runScript(this.#options.redis, CHOOSE, {
      ...taskPlace(run.id),
      fence: run.fence,
      itemsMax: RESEND_ITEMS_MAX,
      bytesMax: RESEND_BYTES_MAX,
    })
    const [kind, value, items, data] = reply as ChooseReply
    switch (String(kind)) {
      case 'next':
        return this.#chooseArchived(run, (reply as NextReply).slice(1) as NextValues)
      case 'open':
        return this.#openArchived(run, (reply as OpenReply).slice(1) as OpenValues)
      case 'batch':
        return { kind: 'batch', batch: { number: value ?? 0, items: batchItems(items ?? [], data ?? []) } }
      case 'wait':
        return { kind: 'wait', waitMs: value ?? 0 }
      default:
        return { kind: String(kind) as 'again' | 'stop' | 'stale' }
    }
  }

  /** Reads the next messages of the archive, and records them as a batch. */
  async #chooseArchived(run: ResendRun, [uid, max, score, newest]: NextValues): Promise<RedriveChoice> {
    const topic = { arn: withoutSubscription(run.source), uid: String(uid) }
    const range = { after: Number(score), last: Number(newest) }
    const page = cutTo(await this.#page(run, topic, range), max)
    const recorded = (await runScript(this.#options.redis, RECORD, {
      ...taskPlace(run.id),
      fence: run.fence,
      from: range.after,
      to: page.to,
      messages: page.problem === undefined ? page.messages.length : 1,
      done: page.isEnd,
    })) as [kind: Buffer, number?: number]
    const [kind, number = 0] = recorded
    if (String(kind) === 'wait') return { kind: 'wait', waitMs: number }
    if (String(kind) !== 'batch') return { kind: String(kind) as 'again' | 'caughtUp' | 'stale' }
    return { kind: 'batch', batch: archivedBatch(number, page) }
  }

  /**
   * Lets the subscription get new messages, and the task end soon after. Messages that are dispatched meanwhile may
   * come twice, but none is missed. Returns false if another run has the task.
   */
  async goLive({ id, fence, source }: ResendRun): Promise<boolean> {
    const { redis, subscriptions } = this.#options
    await endHold(subscriptions, { id, source })
    return (await runScript(redis, END_FOLLOWING, { ...taskPlace(id), fence, inMs: LIVE_AFTER_MS })) === 1
  }

  /** Called when a run ends. */
  async release(task: RedriveTask): Promise<void> {
    await releaseEnded(this.#options.subscriptions, task)
  }

  /** Reads an open batch again. Messages whose blocks are too old by now are left out. */
  async #openArchived(run: ResendRun, [uid, number, scores]: OpenValues): Promise<RedriveChoice> {
    const topic = { arn: withoutSubscription(run.source), uid: String(uid) }
    const [after = 0, last = 0] = String(scores).split(' ').map(Number)
    const messages: ArchivedMessage[] = []
    for (let from = after; ; ) {
      const page = await this.#page(run, topic, { after: from, last })
      messages.push(...page.messages)
      if (page.isEnd || page.problem !== undefined)
        return { kind: 'batch', batch: archivedBatch(number, { ...page, messages }) }
      from = page.to
    }
  }

  /** A block that is lost or damaged ends the task. Its next batch then has the reason, and no message. */
  async #page(
    run: ResendRun,
    topic: ArchivedTopic,
    range: { after: number; last: number },
  ): Promise<ReadPage> {
    try {
      if (!this.#options.archive) throw new BlockError('this service has no place for archives')
      const { since, until } = run.filter
      return await this.#options.archive.next(topic, { ...range, since, until })
    } catch (error) {
      if (!(error instanceof BlockError)) throw error
      return { messages: [], lost: 0, to: range.after, isEnd: false, problem: error.message }
    }
  }

  /** Parks the messages that the subscription gets. Safe to repeat. */
  async move(run: ResendRun, batch: RedriveBatch): Promise<RedriveMove> {
    if (batch.problem !== undefined) return failed(batch.problem)
    const moved = new Map(batch.items.map(({ id }) => [id, false]))
    const marks: ServerMark[] = []
    const { subscriptions } = this.#options
    const subscriptionId = parseArn(run.source)?.subscriptionId ?? ''
    const [record, location] = await Promise.all([
      subscriptions.get(subscriptionId),
      subscriptions.locate(subscriptionId),
    ])
    if (!record || !location || record.unsubscribed) return failed('the subscription is gone')
    if (record.status === 'pending') return failed('the subscription is not confirmed')
    const chosen = await this.#chosen(run, batch, location.shard)
    const { messages, entries, resent } = await this.#parked(run, chosen, record)
    if (entries.length === 0) return { kind: 'moved', moved, marks, shards: [], inLanes: 0 }
    marks.push(this.#servers.mark(shardBase(location.shard)))
    const result = await this.#options.lanes.parkRedriven(location.shard, {
      task: run.id,
      fence: run.fence,
      batch: batch.number,
      messages,
      entries,
    })
    if (result.stale) return notParked(result)
    for (const [i, outcome] of result.outcomes.entries())
      moved.set(entries[i]?.itemId ?? '', outcome !== 'unsubscribed')
    await this.#options.onResent(resent.filter((_, i) => result.outcomes[i] === 'parked'))
    const inLanes = result.outcomes.filter((outcome) => outcome !== 'unsubscribed').length
    return { kind: 'moved', moved, marks, shards: [location.shard], inLanes }
  }

  /** A repeated batch chooses the same, because it does not count what it has sent before. */
  async #chosen(run: ResendRun, { items }: RedriveBatch, shard: number): Promise<RedriveBatch['items']> {
    if (!run.filter.failedOnly) return items
    const failed = await this.#options.failed.find({
      subscription: { id: parseArn(run.source)?.subscriptionId ?? '', shard },
      messageIds: items.map(({ id }) => id),
      before: resentGeneration(run.startedAt),
    })
    return items.filter(({ id }) => failed.has(id))
  }

  async #parked(run: ResendRun, items: RedriveBatch['items'], record: SubscriptionRecord) {
    const messages: ParkMessage[] = []
    const entries: RedrivenEntry[] = []
    const resent: ResentEntry[] = []
    const generation = resentGeneration(run.startedAt)
    for (const { id, body } of items) {
      const message = body ? readable(body) : undefined
      if (!message || !isWithin(run.filter, message)) continue
      if (!(await this.#options.matches(record, message))) continue
      const { messageId, groupId } = message
      const delivery = deliveryId(messageId, generation)
      messages.push({ id: delivery.subarray(0, 16), body: String(body), groupId })
      entries.push({
        subscriptionId: record.id,
        delivery,
        itemId: id,
        message: messages.length - 1,
        ...orderIn(record, groupId),
      })
      resent.push({ messageId, subscriptionId: record.id, generation })
    }
    return { messages, entries, resent }
  }
}

/** The place of a resent delivery in the order of its lane. */
export function orderIn(
  { topicArn, protocol }: Pick<SubscriptionRecord, 'topicArn' | 'protocol'>,
  groupId: string | undefined,
): Pick<RedrivenEntry, 'groupId' | 'sendsFollowers'> {
  const { sendsFollowers } = PROTOCOL_TRAITS[protocol].fifo
  return { ...(groupId ? { groupId } : {}), ...(isFifoName(topicArn) ? { sendsFollowers } : {}) }
}

/** An id in hex, and its body, or the position of its job's data, or null. */
type ChosenItem = [id: Buffer, body: Buffer | number | null]
type ChooseReply = [kind: Buffer, value?: number, items?: ChosenItem[], data?: Buffer[]]

type NextValues = [uid: Buffer, max: number, score: Buffer, newest: Buffer]
type NextReply = [kind: Buffer, ...values: NextValues]
type OpenValues = [uid: Buffer, number: number, scores: Buffer]
type OpenReply = [kind: Buffer, ...values: OpenValues]

/** `problem`: why nothing can be read here. */
type ReadPage = ArchivePage & { problem?: string }

/** The first messages of the page, at most `max` of them and RESEND_BYTES_MAX bytes. */
function cutTo(page: ReadPage, max: number): ReadPage {
  let bytes = 0
  const over = page.messages.findIndex(({ body }, i) => {
    bytes += body.length
    return i >= max || (i > 0 && bytes > RESEND_BYTES_MAX)
  })
  if (over < 1) return page
  const messages = page.messages.slice(0, over)
  return { ...page, messages, to: messages.at(-1)?.score ?? page.to, isEnd: false }
}

function archivedBatch(number: number, { messages, problem }: ReadPage): RedriveBatch {
  const items = messages.map(({ body }) => ({ id: idOf(body), item: null, body: Buffer.from(body) }))
  return { number, items, ...(problem !== undefined && { problem }) }
}

/** Only names the item. A body that cannot be read is left out later. */
function idOf(body: string): string {
  return MESSAGE_ID.exec(body)?.[1] ?? body
}

const MESSAGE_ID = /"messageId":"([^"]+)"/

function batchItems(chosen: ChosenItem[], data: Buffer[]): RedriveBatch['items'] {
  const items = chosen.map(([hex, body]) => ({ id: Buffer.from(String(hex), 'hex'), body }))
  const ofJobs = data.flatMap((job, position) => {
    const ids = items.filter(({ body }) => body === position).map(({ id }) => id)
    const bodies = bodiesIn(job, Buffer.concat(ids))
    return ids.map((id, n) => [formatMessageId(id), Buffer.from(bodies[n] ?? '')] as const)
  })
  const byId = new Map(ofJobs)
  return items.map(({ id: raw, body }) => {
    const id = formatMessageId(raw)
    return { id, item: null, body: typeof body === 'number' ? (byId.get(id) ?? null) : body }
  })
}

/** undefined: the message cannot be decoded. */
function readable(body: Buffer): Message | undefined {
  return ifReadable(() => readMessage(body))[0]
}

function isWithin({ since, until }: ResendRun['filter'], { publishedAt }: Message): boolean {
  return publishedAt >= (since ?? 0) && publishedAt <= (until ?? Number.POSITIVE_INFINITY)
}

function failed(error: string): RedriveMove {
  return { kind: 'failed', error }
}
