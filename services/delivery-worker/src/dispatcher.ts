/**
 * Runs dispatch jobs: opens the checkpoints of earlier starts, drops what an idempotency key rules out, matches each
 * message against its topic's slices, and hands the deliveries to the express path.
 */
import type { Message } from '@fantail/contracts'
import type { DispatchPart, DispatchRun, RunEnd } from '@fantail/jobs'
import type { Logger } from '@fantail/runtime'
import { CorruptRecordError, type Idempotency, type LaneStore, type SliceRef } from '@fantail/store'
import { CautiousRuns, isCautious } from './cautious-runs.ts'
import { Checkpoints } from './checkpoints.ts'
import type { CompiledSlice } from './compiled-slice.ts'
import type { Express } from './express.ts'
import { JobParts } from './job-parts.ts'
import { JobRun, Unit } from './job-run.ts'
import { MessageContext } from './message-context.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'
import type { Parking } from './parking.ts'
import type { PlanCache, TopicPlan } from './plan-cache.ts'
import { RunRetries } from './run-retries.ts'
import { matchSlice } from './slice-match.ts'
import { type KnownMatch, sliceNumberOf } from './topic-filters.ts'

/** Deliveries that wait for a slot; no more units are begun above it. */
export const QUEUED_MAX = 2_000
/** Message text of all jobs in hand; a job more or less. */
const BYTES_MAX = 67_108_864

export interface DispatcherOptions {
  plans: PlanCache
  lanes: LaneStore
  express: Pick<Express, 'start' | 'queued'>
  parking: Pick<Parking, 'checkpoint'>
  recorder: Pick<OutcomeRecorder, 'dispatched' | 'filtered' | 'keptBack' | 'unmatched'>
  idempotency: Pick<Idempotency, 'holds'>
  log: Logger
  /** Base of links where a message names none. */
  publicUrl: string | undefined
  /** Counts `what` once in Redis, beside the scripts' own counts. */
  count(cause: string): Promise<void>
  /** Keeps what could not be dispatched, and counts it. */
  setAside(entry: { detail: string; message: Message }): Promise<void>
}

/** A message whose slices are being started. */
interface Start {
  run: JobRun
  index: number
  context: MessageContext
  plan: TopicPlan
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
  readonly #admissions: Admission[] = []
  #bytes = 0

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#retries = new RunRetries(options.log)
    this.#checkpoints = new Checkpoints({ ...options, retries: this.#retries })
    this.#parts = new JobParts({ ...options, checkpoints: this.#checkpoints, retries: this.#retries })
    this.#cautious = new CautiousRuns({
      checkpoints: this.#checkpoints,
      start: (run, index, context) => this.#startOrSetAside(run, index, context),
      setAside: (run, context, detail) => this.#setAside(run, context, detail),
    })
  }

  get runs(): number {
    return this.#checkpoints.runs
  }

  /** False while enough deliveries wait: no further job should be fetched. */
  get hasRoom(): boolean {
    return (
      this.#admissions.length === 0 && this.#options.express.queued < QUEUED_MAX && this.#bytes < BYTES_MAX
    )
  }

  /** Resolves when every delivery of the job is settled, or the run is lost. */
  async run(job: DispatchRun): Promise<RunEnd> {
    const contexts = job.messages.flatMap((message) => this.#context(message))
    const run = new JobRun(job, contexts, (unit) => this.#options.recorder.dispatched(unit))
    const bytes = contexts.reduce((sum, { message }) => sum + message.message.length, 0)
    this.#bytes += bytes
    this.#checkpoints.begin(run)
    try {
      for (let n = contexts.length; n < job.messages.length; n++) await this.#countAside(run)
      const handedOut = this.#parts.handOut(run)
      if (handedOut instanceof Promise ? await handedOut : handedOut) return 'cut'
      if (isCautious(run)) await this.#cautious.run(run)
      else await this.#runAll(run)
      return run.lost ? 'lost' : 'settled'
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

  /** Called when a delivery left the queue: units that wait for room go on. */
  readonly roomChanged = (): void => {
    // One by one: each that starts may fill the room that the next one waits for.
    while (this.#options.express.queued < QUEUED_MAX) {
      const next = this.#admissions.shift()
      if (!next) return
      try {
        next.start()
        next.resolve()
      } catch (error) {
        // Its own run's to deal with, not that of whoever has made room.
        next.reject(error)
      }
    }
  }

  async #runAll(run: JobRun): Promise<void> {
    const starts = run.messages.map((context, index) => this.#startOrSetAside(run, index, context))
    try {
      await Promise.all(starts)
    } catch (error) {
      await Promise.allSettled(starts)
      throw error
    }
    await run.whenUnitsEnded()
  }

  /** A topic whose record cannot be read would keep its messages' job, and in time the worker, for ever. */
  async #startOrSetAside(run: JobRun, index: number, context: MessageContext): Promise<void> {
    try {
      await this.#startMessage(run, index, context)
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error
      await this.#setAside(run, context, error.message)
    }
  }

  /** Kept with its body, so that somebody can look at it and publish it again. */
  async #setAside(run: JobRun, context: MessageContext, detail: string): Promise<void> {
    const { messageId, topicArn } = context.message
    this.#options.log.error({ messageId, topicArn, detail }, 'message.set_aside')
    await this.#untilDone(run, () => this.#options.setAside({ detail, message: context.message }))
    this.#options.recorder.unmatched(context)
  }

  async #countAside(run: JobRun): Promise<void> {
    await this.#untilDone(run, () => this.#options.count('aside'))
  }

  async #startMessage(run: JobRun, index: number, context: MessageContext): Promise<void> {
    // Each wait is taken only where there is something to wait for: this is done for every message.
    if (context.message.idempotency && !(await this.#isFirst(run, context.message.idempotency))) return
    const known = this.#options.plans.topic(context.message.topicArn)
    let plan = known instanceof Promise ? await this.#planOf(run, context) : known
    if (isOfAnother(plan, context.message)) plan = await this.#planAnew(run, context)
    if (plan === undefined) return
    if (plan === null || plan.slices.length === 0) {
      // Told by one of its parts.
      if (!isFirst(run.part)) return
      if (plan === null) await this.#untilDone(run, () => this.#options.count('discarded:topicDeleted'))
      this.#options.recorder.unmatched(context)
      return
    }
    const { plans, recorder } = this.#options
    const checks = plans.checkFilters(plan)
    if (checks) await this.#untilDone(run, () => plans.checkFilters(plan))
    // A later start opens every slice: what an earlier one settled there is not kept back.
    const match = run.fence === 1 ? plans.match(plan, context) : undefined
    const start = { run, index, context, plan }
    if (match) {
      for (const { ref, found } of match.toOpen) {
        if (run.part && !isOf(run.part, ref)) continue
        const waits = this.#startSlice(start, ref, found)
        if (waits) await waits
      }
      if (match.keptBack && isFirst(run.part) && !run.lost)
        recorder.keptBack(plan.topic, context, match.keptBack)
      return
    }
    for (const ref of plan.slices) {
      if (run.part && !isOf(run.part, ref)) continue
      if (run.fence > 1) await this.#checkpoints.restore(run, ref.shard)
      const waits = this.#startSlice(start, ref)
      if (waits) await waits
    }
  }

  /** A promise only where there is something to wait for. */
  #startSlice(start: Start, ref: SliceRef, found?: KnownMatch): Promise<void> | undefined {
    if (start.run.lost) return undefined
    const cached = this.#options.plans.sliceOf(start.plan, ref)
    if (cached instanceof Promise) return this.#startLoaded(start, ref, found)
    return cached ? this.#admitUnit(start, cached, found) : undefined
  }

  async #startLoaded(start: Start, ref: SliceRef, found?: KnownMatch): Promise<void> {
    const slice = await this.#untilDone(start.run, () => this.#options.plans.sliceOf(start.plan, ref))
    if (slice) await this.#admitUnit(start, slice, found)
  }

  #admitUnit({ plan, ...start }: Start, slice: CompiledSlice, found?: KnownMatch): Promise<void> | undefined {
    if (slice.filters !== null) plan.hasFilters = true
    // Taken before the wait for room: what is too old by its end is checked again.
    const checkedAt = this.#options.plans.checkedAt(slice, plan)
    return this.#admit(() => this.#startUnit(new Unit({ ...start, slice, checkedAt, found })))
  }

  #startUnit(unit: Unit): void {
    // It may have been lost while it waited for room: its deliveries are another worker's.
    if (unit.run.lost) return
    this.#match(unit)
    unit.run.addUnit(unit)
    // Held open while deliveries are handed over, so that the unit cannot end between two of them.
    unit.open++
    try {
      this.#options.express.start(unit)
    } catch (error) {
      unit.run.abandon(unit)
      throw error
    }
    unit.close()
  }

  /** Decided here and now: a filter that changes later acts on what is dispatched later. */
  #match(unit: Unit): void {
    const { slice, context, found, settled, run } = unit
    if (slice.filters === null) {
      unit.matched = slice.subscriptions
      return
    }
    const { matched, filtered, reasons } = matchSlice(
      slice,
      context,
      found?.filters.revision === slice.revision ? found.slots : undefined,
    )
    unit.matched = matched
    unit.filtered = run.fence > 1 ? settled.missingFrom(filtered) : filtered
    this.#options.recorder.filtered(slice.topic.name, reasons)
  }

  /** null: no such topic. undefined: the run is lost. */
  async #planOf(run: JobRun, context: MessageContext): Promise<TopicPlan | null | undefined> {
    return this.#untilDone(run, () => this.#options.plans.topic(context.message.topicArn))
  }

  /**
   * The topic was deleted, and maybe made again, since the message was published, or since the plan was looked at. What
   * there is now counts: a publisher may still stamp messages as for the earlier one. Two looks, because the first may
   * join one that began before.
   */
  async #planAnew(run: JobRun, context: MessageContext): Promise<TopicPlan | null | undefined> {
    this.#options.plans.invalidate(context.message.topicArn)
    const plan = await this.#planOf(run, context)
    if (!isOfAnother(plan, context.message)) return plan
    this.#options.plans.invalidate(context.message.topicArn)
    return this.#planOf(run, context)
  }

  /** The same claim that the publisher makes: whoever came first is delivered. */
  async #isFirst(run: JobRun, { key, value }: NonNullable<Message['idempotency']>): Promise<boolean> {
    return (await this.#untilDone(run, () => this.#options.idempotency.holds(key, value))) ?? false
  }

  /** Starts a unit when there is room, first come first served. */
  #admit(start: () => void): Promise<void> | undefined {
    if (this.#admissions.length === 0 && this.#options.express.queued < QUEUED_MAX) {
      start()
      return undefined
    }
    return new Promise((resolve, reject) => this.#admissions.push({ start, resolve, reject }))
  }

  #context(message: Message): MessageContext[] {
    try {
      if (typeof message.message !== 'string') throw new TypeError('a message without text')
      return [new MessageContext(message, this.#options.publicUrl)]
    } catch (error) {
      this.#options.log.error({ err: error }, 'message.unreadable')
      return []
    }
  }

  #untilDone<T>(run: JobRun, attempt: () => Promise<T> | T): Promise<T | undefined> {
    return this.#retries.untilDone(run, attempt)
  }
}

function isOf({ slices: [from, to] }: DispatchPart, { sliceId }: SliceRef): boolean {
  const sliceNumber = sliceNumberOf(sliceId)
  return sliceNumber >= from && (to === null || sliceNumber < to)
}

/** What is told once of a message is told by whoever has its first slices. */
function isFirst(part: DispatchPart | undefined): boolean {
  return part === undefined || part.slices[0] === 0
}

/** Or of no topic, where the message was for one. */
function isOfAnother(plan: TopicPlan | null | undefined, { topicUid }: Message): boolean {
  return topicUid !== undefined && plan !== undefined && plan?.topic.uid !== topicUid
}
