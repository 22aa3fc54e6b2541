/**
 * Records the outcomes of deliveries in the outcome log and in the metrics. The first entry after a pause is written at
 * once. Entries of the next GATHER_MS are then written together. While Redis does not answer, a write is tried once a
 * second, and at most OUTCOMES_WAITING_MAX entries wait. Past this number the oldest entries are dropped and counted.
 */
import type { StoredWhy, TopicRecord } from '@fantail/contracts'
import type { FilterReason } from '@fantail/policy'
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import type { LaneEntry, LaneOutcome, OutcomeLog, RemovedLetter } from '@fantail/store'
import { type DispatchEntry, deliveryGeneration, type FilteredEntry, parseDeliveryId } from '@fantail/store'
import type { WorkerMetrics } from '../attempts/worker-metrics.ts'
import type { MessageContext } from '../messages/message-context.ts'
import type { Unit } from '../runs/unit.ts'
import type { Claimed } from '../settling/settling.ts'
import type { Bitmap } from '../topics/bitmap.ts'
import type { CompiledSlice, CompiledSubscription } from '../topics/compiled-slice.ts'
import type { RejectedSlices } from '../topics/topic-filters.ts'

/**
 * @limit Entries that a worker keeps while the outcome log cannot be written. Past it: the oldest are dropped and
 * counted.
 */
const OUTCOMES_WAITING_MAX = 20_000
/** Entries of one write. Past it: a further write follows. */
const OUTCOMES_PER_WRITE_MAX = 500
/** Time between the starts of two writes, unless a write is full before. */
const GATHER_MS = 10
const OUTCOME_RETRY_MS = 1_000
const NOTHING = Buffer.alloc(0)

interface EndedDelivery {
  claimed: Claimed
  subscription: CompiledSubscription
  context: MessageContext
}

export interface EndState {
  attempts: number
  statusCode: number | null
  error: string | null
  /** For a delivered delivery: why it was attempted at its time. */
  why?: StoredWhy | undefined
}

/** The results of a message of a FIFO topic, as bitmaps: lanes that got it, and filters that rejected it. */
interface Moved {
  parked: Bitmap
  /** Which parked deliveries belong to a paused subscription; undefined: none. */
  paused: Bitmap | undefined
  filtered: Buffer
}

export class OutcomeRecorder {
  readonly #log: Pick<OutcomeLog, 'append'>
  readonly #metrics: WorkerMetrics
  readonly #report: ReportState
  #dispatch: (DispatchEntry | FilteredEntry)[] = []
  #lanes: LaneEntry[] = []
  #writing: Promise<void> | undefined
  /** Set after a failed write, until the next one. */
  #retry: NodeJS.Timeout | undefined
  #stopped = false
  /** When the last write started, by performance.now(). */
  #wroteAt = Number.NEGATIVE_INFINITY
  #dropped = 0

  constructor(log: Pick<OutcomeLog, 'append'>, metrics: WorkerMetrics, logger: Logger) {
    this.#log = log
    this.#metrics = metrics
    this.#report = createStateLog({ log: logger, what: 'outcome_log', initial: 'up' })
  }

  /** Number of entries that were dropped because Redis was unreachable for too long. */
  get dropped(): number {
    return this.#dropped
  }

  get #waiting(): number {
    return this.#dispatch.length + this.#lanes.length
  }

  /** Records a unit that has ended: which deliveries were made at once, and which wait in lanes. */
  dispatched(unit: Unit): void {
    if (unit.run.lost) return
    const { messageId, topicArn, target } = unit.context.message
    const paused = unit.paused()
    this.#dispatch.push({
      messageId,
      id: unit.context.id,
      topicArn,
      ...(target !== undefined && { target }),
      sizeBytes: unit.context.sizeBytes,
      slice: { sliceId: unit.slice.sliceId, shard: unit.slice.shard, departures: unit.departures },
      delivered: unit.delivered.packed(),
      otherCodes: unit.otherCodes(),
      parked: unit.parked.packed(),
      ...(paused && { paused }),
      filtered: unit.filtered,
      failures: unit.failures,
    })
    this.#flush()
  }

  /** Counts how often filters of the topic's subscriptions rejected a message, by reason. */
  filtered(topicName: string, reasons: ReadonlyMap<FilterReason, number>): void {
    for (const [reason, count] of reasons) this.#metrics.filtered(topicName, reason, count)
  }

  /** Records slices of the topic in which no filter matches. */
  rejectedSlices(
    { name, uid }: TopicRecord,
    context: MessageContext,
    { runs, except, reasons }: RejectedSlices,
  ): void {
    this.filtered(name, reasons)
    const { messageId, topicArn } = context.message
    const { id, sizeBytes } = context
    this.#dispatch.push({ messageId, id, topicArn, topicUid: uid, sizeBytes, runs, except })
    this.#flush()
  }

  /** Records that a message has left its FIFO log, and waits in these lanes. */
  moved(
    context: MessageContext,
    { sliceId, shard, departures }: CompiledSlice,
    { parked, paused, filtered }: Moved,
  ): void {
    const { messageId, topicArn } = context.message
    const { id, sizeBytes } = context
    const nothing = { delivered: NOTHING, otherCodes: [], failures: [] }
    const slice = { sliceId, shard, departures }
    const found = { slice, parked: parked.packed(), ...(paused && { paused: paused.packed() }), filtered }
    this.#dispatch.push({ messageId, id, topicArn, sizeBytes, ...found, ...nothing })
    this.#flush()
  }

  /** Records that nothing matched in the whole topic, or that the topic no longer exists. */
  unmatched(context: MessageContext): void {
    const { messageId, topicArn } = context.message
    const nothing = {
      slice: null,
      delivered: NOTHING,
      parked: NOTHING,
      filtered: NOTHING,
      otherCodes: [],
      failures: [],
    }
    this.#dispatch.push({ messageId, topicArn, sizeBytes: context.sizeBytes, ...nothing })
    this.#flush()
  }

  /** Records that a message became too old before it was matched. */
  expiredWhole({ name }: TopicRecord, context: MessageContext): void {
    this.#metrics.expired(name)
    this.unmatched(context)
  }

  /** Records that a claimed delivery has left its lane. */
  ended(delivery: EndedDelivery, outcome: LaneOutcome, reason: string | null, state: EndState): void {
    this.#metrics.ended(delivery.subscription, delivery.context, outcome, reason)
    const { claimed, context } = delivery
    const { attempts, statusCode, error, why } = state
    this.#lanes.push({
      messageId: context.message.messageId,
      id: context.id,
      subscriptionId: claimed.subscriptionId,
      generation: deliveryGeneration(claimed.delivery),
      outcome,
      reason,
      attempts,
      statusCode,
      error,
      why,
    })
    this.#flush()
  }

  /** Counts that a dead delivery continues to wait, because its dead-letter queue does not exist. */
  awaitsDlq(subscription: CompiledSubscription): void {
    this.#metrics.awaitsDlq(subscription)
  }

  /**
   * Records that messages of a topic's own queue were removed because the queue was full. `letters`: the dead letters
   * among them.
   */
  lettersRemoved(topicName: string, removed: number, letters: readonly RemovedLetter[]): void {
    this.#metrics.lettersRemoved(topicName, removed)
    for (const { subscriptionId, delivery, statusCode } of letters) {
      const { messageId, generation } = parseDeliveryId(delivery)
      const ended = { outcome: 'discarded', reason: 'deadLetterQuota', attempts: 0, error: null } as const
      this.#lanes.push({ messageId, subscriptionId, generation, ...ended, statusCode })
    }
    if (letters.length > 0) this.#flush()
  }

  /** Records that a script has removed an expired delivery. */
  expired(subscriptionId: string, delivery: Buffer): void {
    const { messageId, generation } = parseDeliveryId(delivery)
    const state = { attempts: 0, statusCode: null, error: null }
    this.#lanes.push({
      messageId,
      subscriptionId,
      generation,
      outcome: 'expired',
      reason: 'expired',
      ...state,
    })
    this.#flush()
  }

  /** Resolves when every entry so far is written, or its write has failed. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#writing
    clearTimeout(this.#retry)
    if (this.#waiting > 0) await this.#write()
  }

  /** Whether entries wait to be written. */
  get isWriting(): boolean {
    return this.#writing !== undefined || this.#waiting > 0
  }

  #flush(): void {
    if (this.#retry === undefined) this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    let done: boolean
    do {
      await this.#gather()
      done = await this.#writeBatch()
    } while (done && this.#waiting > 0)
    // This must happen in the same turn as the last check. Otherwise an entry could be added that no write follows.
    this.#writing = undefined
    if (!done && !this.#stopped) this.#retry = setTimeout(() => this.#writeAgain(), OUTCOME_RETRY_MS)
  }

  /** Waits, so that further entries are written in the same round trip. */
  async #gather(): Promise<void> {
    if (this.#stopped || this.#waiting >= OUTCOMES_PER_WRITE_MAX) return
    const waitMs = this.#wroteAt + GATHER_MS - performance.now()
    await new Promise<void>((resolve) => {
      if (waitMs > 0) setTimeout(resolve, waitMs)
      else setImmediate(resolve)
    })
  }

  #writeAgain(): void {
    this.#retry = undefined
    this.#flush()
  }

  async #writeBatch(): Promise<boolean> {
    this.#dropOldest()
    this.#wroteAt = performance.now()
    const batch = {
      dispatch: this.#dispatch.splice(0, OUTCOMES_PER_WRITE_MAX),
      lanes: this.#lanes.splice(0, OUTCOMES_PER_WRITE_MAX),
    }
    try {
      await this.#log.append(batch)
      this.#report('up')
      return true
    } catch (error) {
      this.#report('down', error)
      this.#dispatch.unshift(...batch.dispatch)
      this.#lanes.unshift(...batch.lanes)
      return false
    }
  }

  #dropOldest(): void {
    const over = this.#waiting - OUTCOMES_WAITING_MAX
    if (over <= 0) return
    this.#dropped += over
    const fromLanes = Math.min(over, this.#lanes.length)
    this.#lanes.splice(0, fromLanes)
    this.#dispatch.splice(0, over - fromLanes)
  }
}
