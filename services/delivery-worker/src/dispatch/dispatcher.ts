/**
 * Runs dispatch jobs: opens the checkpoints of earlier starts, drops what an idempotency key rules out, matches each
 * message against its topic's slices, and hands the deliveries to their first attempts.
 */
import type { Message } from '@fantail/contracts'
import type { DispatchPart, DispatchRun, RunEnd } from '@fantail/jobs'
import type { Logger } from '@fantail/runtime'
import {
  CorruptRecordError,
  type Idempotency,
  type LaneStore,
  type NewEntry,
  type Quarantined,
  type SliceRef,
  underTopic,
} from '@fantail/store'
import type { FirstAttempts } from '../first-attempts/first-attempts.ts'
import type { OutcomeRecorder } from '../outcomes/outcome-recorder.ts'
import type { CompiledSlice } from '../topics/compiled-slice.ts'
import { MessageContext } from '../topics/message-context.ts'
import type { SliceMatch } from '../topics/slice-match.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import { type KnownMatch, sliceNumberOf, type TopicMatch } from '../topics/topic-filters.ts'
import type { TopicSnapshot } from '../topics/topic-snapshot.ts'
import { CautiousRuns, isCautious } from './cautious-runs.ts'
import { Checkpoints } from './checkpoints.ts'
import type { Isolation } from './isolation.ts'
import { JobParts } from './job-parts.ts'
import { JobRun, Unit } from './job-run.ts'
import type { Parking } from './parking.ts'
import { RunRetries } from './run-retries.ts'

/**
 * @limit First attempts of a worker that wait for a slot. Past it: no more messages are begun and no job is fetched.
 */
export const QUEUED_MAX = 2_000
/** A job that holds what a full quarantine refused is started again so often. */
const FULL_RETRY_MS = 60_000
/** @limit Deliveries that are begun in one turn of the event loop. Past it: the next turn goes on. */
const BEGUN_PER_TURN_MAX = 1_000
/**
 * @limit Deliveries of a message and slice that count as small. Past it: the slice waits in the line of large ones.
 */
const SMALL_MAX = 50
/** @limit Slices of messages that wait for capacity. Past it: no job is fetched. */
const ADMISSIONS_MAX = 64
/** @limit Message text of all jobs that a worker has in hand. Past it: no job is fetched. */
const JOB_BYTES_MAX = 67_108_864

export interface DispatcherOptions {
  snapshots: SnapshotCache
  lanes: LaneStore
  firstAttempts: Pick<FirstAttempts, 'start' | 'queued'>
  parking: Pick<Parking, 'checkpoint'>
  recorder: Pick<OutcomeRecorder, 'dispatched' | 'filtered' | 'keptBack' | 'unmatched' | 'expiredWhole'>
  idempotency: Pick<Idempotency, 'holds'>
  log: Logger
  /** Base of links where a message names none. */
  publicUrl: string | undefined
  /** Counts `what` once in Redis, beside the scripts' own counts. */
  count(cause: string): Promise<void>
  /** Keeps what cannot be decoded. Safe to repeat. */
  quarantine(entry: NewEntry): Promise<Quarantined>
  isolation: Pick<Isolation, 'begin' | 'end'>
  /** Epoch ms by Redis's clock. */
  now(): number
}

/** A message of a job that cannot be decoded, and its place there. */
interface Unreadable {
  index: number
  message: unknown
  error: unknown
}

/** A message whose slices are being started. */
interface Start {
  run: JobRun
  index: number
  context: MessageContext
  snapshot: TopicSnapshot
}

interface Admission {
  start(): void
  resolve(): void
  reject(error: unknown): void
}

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #retries: RunRetries
  readonly #checkpoints: Checkpoints
  readonly #cautious: CautiousRuns
  readonly #parts: JobParts
  readonly #small: Admission[] = []
  readonly #large: Admission[] = []
  #isSmallNext = false
  #bytes = 0
  #begunInTurn = 0
  #turn: NodeJS.Immediate | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#retries = new RunRetries(options.log)
    this.#checkpoints = new Checkpoints({ ...options, retries: this.#retries })
    this.#parts = new JobParts({ ...options, checkpoints: this.#checkpoints, retries: this.#retries })
    this.#cautious = new CautiousRuns({
      checkpoints: this.#checkpoints,
      start: (run, index, context) => this.#startOrQuarantine(run, index, context),
      startSuspect: (run, index, context) => this.#startSuspect(run, index, context),
      isolated: (...suspect) => options.isolation.begin(...suspect),
      threw: ({ message: { messageId, topicArn } }, error) =>
        options.log.error({ messageId, topicArn, err: error }, 'message.threw'),
    })
  }

  get runs(): number {
    return this.#checkpoints.runs
  }

  /** False while enough deliveries wait: no further job should be fetched. */
  get hasRoom(): boolean {
    return (
      this.#waiting < ADMISSIONS_MAX &&
      this.#options.firstAttempts.queued < QUEUED_MAX &&
      this.#bytes < JOB_BYTES_MAX
    )
  }

  /** Resolves when every delivery of the job is settled, or the run is lost. */
  async run(job: DispatchRun): Promise<RunEnd> {
    const unreadable: Unreadable[] = []
    const contexts = job.messages.flatMap((message, index) => this.#context(message, index, unreadable))
    const run = new JobRun(job, contexts, (unit) => this.#options.recorder.dispatched(unit))
    const bytes = contexts.reduce((sum, { message }) => sum + message.message.length, 0)
    this.#bytes += bytes
    this.#checkpoints.begin(run)
    try {
      for (const one of unreadable) await this.#quarantineUnreadable(run, one)
      const handedOut = this.#parts.handOut(run)
      if (handedOut instanceof Promise ? await handedOut : handedOut) return 'cut'
      const delayMs = isCautious(run) ? await this.#cautious.run(run) : await this.#runAll(run)
      const postponedMs = delayMs ?? (run.awaitsQuarantine ? FULL_RETRY_MS : undefined)
      // The job will start again, and the next start must know its settled deliveries.
      if (postponedMs !== undefined) await this.#checkpoints.save(run)
      if (run.lost) return 'lost'
      return postponedMs === undefined ? 'settled' : { postponedMs }
    } catch (error) {
      // The job is started again: what of it is under way ends first, and is known to the next start.
      await run.whenUnitsEnded()
      await this.#checkpoints.save(run)
      throw error
    } finally {
      run.ended = true
      this.#bytes -= bytes
      this.#logRun(run)
      this.#checkpoints.end(run)
    }
  }

  /** The job is gone from Redis. */
  completed(job: Pick<DispatchRun, 'key' | 'fence'>): Promise<void> {
    return this.#checkpoints.completed(job)
  }

  /** One line per job: what of its messages was delivered at once and what waits in lanes. */
  #logRun(run: JobRun): void {
    if (!this.#options.log.isLevelEnabled('info')) return
    const { key: job, fence, lost, units } = run
    const delivered = units.reduce((sum, unit) => sum + unit.delivered.count(), 0)
    const parked = units.reduce((sum, unit) => sum + unit.parked.count(), 0)
    const durationMs = Math.round(performance.now() - run.startedAt)
    const counts = { messages: run.messages.length, slices: units.length, delivered, parked }
    this.#options.log.info({ job, fence, ...counts, lost, durationMs }, 'dispatch.completed')
  }

  /** Units that wait for capacity go on. */
  capacityFreed(): void {
    // One by one: each that starts may take the capacity that the next one waits for.
    while (this.#hasRoomForUnit) {
      const next = this.#nextAdmission()
      if (!next) return
      try {
        next.start()
        next.resolve()
      } catch (error) {
        // Its own run's to deal with, not that of the part that freed capacity.
        next.reject(error)
      }
    }
  }

  async #runAll(run: JobRun): Promise<undefined> {
    const starts = run.messages.map((context, index) => this.#startOrQuarantine(run, index, context))
    try {
      await Promise.all(starts)
    } catch (error) {
      await Promise.allSettled(starts)
      throw error
    }
    await run.whenUnitsEnded()
    return undefined
  }

  /** A topic whose record cannot be read would keep its messages' job, and in time the worker, for ever. */
  async #startOrQuarantine(run: JobRun, index: number, context: MessageContext): Promise<void> {
    try {
      await this.#startMessage(run, index, context)
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error
      const { messageId, topicArn } = context.message
      const entry = { id: `message.${messageId}`, messageId, topicArn, raw: context.body }
      await this.#quarantine(run, { ...entry, reason: 'topicUnreadable', detail: error.message })
      this.#options.recorder.unmatched(context)
    } finally {
      context.forgetSubjects()
    }
  }

  async #startSuspect(run: JobRun, index: number, context: MessageContext): Promise<void> {
    if (!(await this.#expire(run, context))) await this.#startOrQuarantine(run, index, context)
    await run.whenUnitsEnded()
    if (run.lost) return
    await this.#options.isolation.end(context)
  }

  /**
   * Retention ends also what never reached its lanes. For how many subscriptions it was is not known: it counts once.
   */
  async #expire(run: JobRun, context: MessageContext): Promise<boolean> {
    const snapshot = await this.#snapshotOf(run, context).catch(readableOnly)
    const ageMs = this.#options.now() - context.message.publishedAt
    if (!snapshot || ageMs <= snapshot.topic.retentionSeconds * 1_000) return false
    if (!isFirst(run.part)) return true
    await this.#untilDone(run, () => this.#options.count('expired'))
    this.#options.recorder.expiredWhole(snapshot.topic, context)
    return true
  }

  async #quarantineUnreadable(run: JobRun, { index, message, error }: Unreadable): Promise<void> {
    const detail = `message ${index} of its job cannot be decoded: ${error instanceof Error ? error.message : error}`
    const id = `job.${run.key.replaceAll(':', '.')}.${index}`
    await this.#quarantine(run, {
      id,
      reason: 'messageUnreadable',
      detail,
      raw: JSON.stringify(message) ?? 'null',
    })
  }

  async #quarantine(run: JobRun, entry: NewEntry): Promise<void> {
    const result = await this.#untilDone(run, () => this.#options.quarantine(entry))
    if (result === 'full') run.awaitsQuarantine = true
  }

  async #startMessage(run: JobRun, index: number, context: MessageContext): Promise<void> {
    // Each wait is taken only where there is something to wait for: this is done for every message.
    const known = this.#options.snapshots.topic(context.message.topicArn)
    let snapshot = known instanceof Promise ? await this.#snapshotOf(run, context) : known
    if (isOfAnother(snapshot, context.message)) snapshot = await this.#snapshotAnew(run, context)
    if (snapshot === undefined) return
    if (snapshot === null || snapshot.slices.length === 0) {
      // Told by one of its parts.
      if (!isFirst(run.part)) return
      if (snapshot === null) await this.#untilDone(run, () => this.#options.count('discarded:topicDeleted'))
      this.#options.recorder.unmatched(context)
      return
    }
    // Not before: a message without subscribers, of a topic that was made again, uses no key up.
    if (context.message.idempotency && !(await this.#isFirst(run, context.message, snapshot))) return
    const { snapshots, recorder } = this.#options
    const checks = snapshots.checkFilters(snapshot)
    if (checks) await this.#untilDone(run, () => snapshots.checkFilters(snapshot))
    if (run.fence > 1) await this.#restore(run, snapshot)
    const found = snapshots.match(snapshot, context, () => run.lost)
    const match = found instanceof Promise ? await found : found
    if (run.lost) return
    const start = { run, index, context, snapshot }
    if (match && opensAllBegun(start, match)) {
      for (const { ref, found } of match.toOpen) {
        if (run.part && !isOf(run.part, ref)) continue
        const waits = this.#startSlice(start, ref, found)
        if (waits) await waits
      }
      if (match.keptBack && isFirst(run.part) && !run.lost)
        recorder.keptBack(snapshot.topic, context, match.keptBack)
      return
    }
    for (const ref of snapshot.slices) {
      if (run.part && !isOf(run.part, ref)) continue
      const waits = this.#startSlice(start, ref)
      if (waits) await waits
    }
  }

  /** Reads what earlier starts have settled, in all shards at once, and makes these starts stale there. */
  async #restore(run: JobRun, snapshot: TopicSnapshot): Promise<void> {
    const refs = run.part
      ? snapshot.slices.filter((ref) => !run.part || isOf(run.part, ref))
      : snapshot.slices
    const shards = new Set(refs.map(({ shard }) => shard))
    await Promise.all([...shards].map((shard) => this.#checkpoints.restore(run, shard)))
  }

  /** A promise only where there is something to wait for. */
  #startSlice(start: Start, ref: SliceRef, found?: KnownMatch): Promise<void> | undefined {
    if (start.run.lost) return undefined
    const cached = this.#options.snapshots.sliceOf(start.snapshot, ref)
    if (cached instanceof Promise) {
      start.context.forgetSubjects()
      return this.#startLoaded(start, ref, found)
    }
    return cached ? this.#admitUnit(start, cached, found) : undefined
  }

  async #startLoaded(start: Start, ref: SliceRef, found?: KnownMatch): Promise<void> {
    const slice = await this.#untilDone(start.run, () => this.#options.snapshots.sliceOf(start.snapshot, ref))
    if (slice) await this.#admitUnit(start, slice, found)
  }

  #admitUnit(
    { snapshot, ...start }: Start,
    slice: CompiledSlice,
    found?: KnownMatch,
  ): Promise<void> | undefined {
    if (slice.filters !== null) snapshot.hasFilters = true
    // Taken before the wait for room: what is too old by its end is checked again.
    const checkedAt = this.#options.snapshots.checkedAt(slice, snapshot)
    const unit = new Unit({ ...start, slice, checkedAt })
    const match = this.#match(unit, found)
    if (match instanceof Promise) return match.then((matched) => matched && this.#admitMatched(unit, matched))
    return this.#admitMatched(unit, match)
  }

  #admitMatched(unit: Unit, match: SliceMatch): Promise<void> | undefined {
    const waits = this.#admit(match.matched.length, () => this.#startUnit(unit, match))
    if (waits) unit.context.forgetSubjects()
    return waits
  }

  #startUnit(unit: Unit, match: SliceMatch): void {
    // It may have been lost while it waited for room: its deliveries are another worker's.
    if (unit.run.lost) return
    this.#setMatch(unit, match)
    this.#countBegun(unit.matched.length)
    unit.run.addUnit(unit)
    // Held open while deliveries are handed over, so that the unit cannot end between two of them.
    unit.open++
    try {
      this.#options.firstAttempts.start(unit)
    } catch (error) {
      unit.run.abandon(unit)
      throw error
    }
    unit.close()
  }

  /** Decided by the slice in hand: a filter that changes later acts on what is dispatched later. */
  #match(
    { run, slice, context }: Unit,
    found: KnownMatch | undefined,
  ): SliceMatch | Promise<SliceMatch | undefined> {
    const slots = found && found.filters.revision === slice.revision ? found.slots : undefined
    return this.#options.snapshots.matchSlice(slice, context, () => run.lost, slots)
  }

  #setMatch(unit: Unit, { matched, filtered, reasons }: SliceMatch): void {
    const { slice, settled, run } = unit
    unit.matched = matched
    if (slice.filters === null) return
    unit.filtered = run.fence > 1 ? settled.missingFrom(filtered) : filtered
    this.#options.recorder.filtered(slice.topic.name, reasons)
  }

  /** null: no such topic. undefined: the run is lost. */
  async #snapshotOf(run: JobRun, context: MessageContext): Promise<TopicSnapshot | null | undefined> {
    return this.#untilDone(run, () => this.#options.snapshots.topic(context.message.topicArn))
  }

  /**
   * The topic was deleted, and maybe made again, since the message was published, or since the snapshot was looked at.
   * What there is now counts: a publisher may still stamp messages as for the earlier one. Two looks, because the first
   * may join one that began before.
   */
  async #snapshotAnew(run: JobRun, context: MessageContext): Promise<TopicSnapshot | null | undefined> {
    this.#options.snapshots.invalidate(context.message.topicArn)
    const snapshot = await this.#snapshotOf(run, context)
    if (!isOfAnother(snapshot, context.message)) return snapshot
    this.#options.snapshots.invalidate(context.message.topicArn)
    return this.#snapshotOf(run, context)
  }

  /**
   * The same claim that the publisher makes, under the topic that the message goes to: whoever came first is delivered.
   * Where the topic was made again meanwhile, a repeated request would else find its key free and be delivered too.
   */
  async #isFirst(
    run: JobRun,
    { idempotency, topicUid }: Message,
    { topic }: TopicSnapshot,
  ): Promise<boolean> {
    if (!idempotency) return true
    const { key, value } = idempotency
    const name = topicUid === undefined ? key : underTopic(key, topicUid, topic.uid)
    return (await this.#untilDone(run, () => this.#options.idempotency.holds(name, value))) ?? false
  }

  /** Starts a unit when there is capacity: first come first served, but small and large ones take turns. */
  #admit(deliveries: number, start: () => void): Promise<void> | undefined {
    if (this.#waiting === 0 && this.#hasRoomForUnit) {
      start()
      return undefined
    }
    const line = deliveries <= SMALL_MAX ? this.#small : this.#large
    return new Promise((resolve, reject) => line.push({ start, resolve, reject }))
  }

  get #waiting(): number {
    return this.#small.length + this.#large.length
  }

  #nextAdmission(): Admission | undefined {
    this.#isSmallNext = !this.#isSmallNext
    const [first, other] = this.#isSmallNext ? [this.#small, this.#large] : [this.#large, this.#small]
    return first.shift() ?? other.shift()
  }

  get #hasRoomForUnit(): boolean {
    return this.#options.firstAttempts.queued < QUEUED_MAX && this.#begunInTurn < BEGUN_PER_TURN_MAX
  }

  /** Deliveries that are parked at once fill no queue: without a bound all of a backlog's would be begun in one go. */
  #countBegun(deliveries: number): void {
    this.#begunInTurn += deliveries
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined
      this.#begunInTurn = 0
      this.capacityFreed()
    })
  }

  #context(message: Message, index: number, unreadable: Unreadable[]): MessageContext[] {
    try {
      if (typeof message.message !== 'string') throw new TypeError('a message without text')
      return [new MessageContext(message, this.#options.publicUrl)]
    } catch (error) {
      unreadable.push({ index, message, error })
      return []
    }
  }

  #untilDone<T>(run: JobRun, attempt: () => Promise<T> | T): Promise<T | undefined> {
    return this.#retries.untilDone(run, attempt)
  }
}

/** A topic whose record cannot be decoded is dealt with where its message is started. */
function readableOnly(error: unknown): null {
  if (error instanceof CorruptRecordError) return null
  throw error
}

function isOf({ slices: [from, to] }: DispatchPart, { sliceId }: SliceRef): boolean {
  const sliceNumber = sliceNumberOf(sliceId)
  return sliceNumber >= from && (to === null || sliceNumber < to)
}

/** What is told once of a message is told by whoever has its first slices. */
function isFirst(part: DispatchPart | undefined): boolean {
  return part === undefined || part.slices[0] === 0
}

/**
 * No slice that an earlier start has settled something of is kept back as a whole: its filters may have changed since.
 */
function opensAllBegun({ run, index, snapshot }: Start, { toOpen }: TopicMatch): boolean {
  if (run.fence === 1) return true
  const opened = new Set(toOpen.map(({ ref }) => ref.sliceId))
  return snapshot.slices.every(
    ({ sliceId }) => opened.has(sliceId) || !run.restored.has(`${index}.${sliceId}`),
  )
}

/** Or of no topic, where the message was for one. */
function isOfAnother(snapshot: TopicSnapshot | null | undefined, { topicUid }: Message): boolean {
  return topicUid !== undefined && snapshot !== undefined && snapshot?.topic.uid !== topicUid
}
