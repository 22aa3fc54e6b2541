/**
 * Runs dispatch jobs: opens the checkpoints of earlier starts, drops what an idempotency key rules out, matches each
 * message against its topic's slices, and hands the deliveries to the express path.
 *
 * From its third start a job runs one message at a time and notes which: one that was under way at three deaths of a
 * worker in a row is set aside, so that it cannot keep its neighbours from being delivered. The notes of a job stand
 * together in one shard of its own: a note in the shard of its message's topic would outlive the message's turn.
 */
import type { Message } from '@fantail/contracts'
import type { DispatchRun } from '@fantail/jobs'
import { createStateLog, type Logger, type TellState } from '@fantail/runtime'
import { CorruptRecordError, type Idempotency, type LaneStore, type SliceRef, shardOf } from '@fantail/store'
import type { CompiledSlice } from './compiled-slice.ts'
import type { Express } from './express.ts'
import { JobRun, Unit } from './job-run.ts'
import { MessageContext } from './message-context.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'
import type { Parking } from './parking.ts'
import type { PlanCache, TopicPlan } from './plan-cache.ts'
import { matchSlice } from './slice-match.ts'
import type { KnownMatch } from './topic-filters.ts'

/** Deliveries that wait for a slot; no more units are begun above it. */
export const QUEUED_MAX = 2_000
/** Message text of all jobs in hand; a job more or less. */
const BYTES_MAX = 67_108_864
const CHECKPOINT_MS = 25
const CAUTIOUS_FROM_FENCE = 3
const DEATHS_MAX = 3
const RETRY_MS = 200
/** Which message a cautious run has under way: `<index>,<times in a row>`. */
const UNDER_WAY = 'under-way'
/** With the message's index: it was set aside, and is so for every later start. */
const ASIDE = 'aside.'
const CHECKPOINTED_MAX = 10_000

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
}

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #runs = new Map<string, JobRun>()
  readonly #checkpointed = new Map<string, Set<number>>()
  readonly #tell: TellState
  readonly #admissions: Admission[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#tell = createStateLog({ log: options.log, what: 'dispatch', initial: 'up' })
  }

  get runs(): number {
    return this.#runs.size
  }

  /** False while enough deliveries wait: no further job should be fetched. */
  get hasRoom(): boolean {
    return (
      this.#admissions.length === 0 && this.#options.express.queued < QUEUED_MAX && this.#bytes < BYTES_MAX
    )
  }

  /** Resolves when every delivery of the job is settled, or the run is lost. */
  async run(job: DispatchRun): Promise<void> {
    const contexts = job.messages.flatMap((message) => this.#context(message))
    const run = new JobRun(job, contexts, (unit) => this.#options.recorder.dispatched(unit))
    const bytes = contexts.reduce((sum, { message }) => sum + message.message.length, 0)
    this.#bytes += bytes
    this.#runs.set(run.key, run)
    this.#armCheckpoints()
    try {
      for (let n = contexts.length; n < job.messages.length; n++) await this.#countAside(run)
      if (run.fence >= CAUTIOUS_FROM_FENCE) await this.#runCautiously(run)
      else await this.#runAll(run)
    } finally {
      run.ended = true
      this.#bytes -= bytes
      if (this.#runs.get(run.key) === run) this.#runs.delete(run.key)
      this.#logRun(run)
      const shards = run.touchedShards()
      if (shards.size > 0) this.#rememberShards(run.key, shards)
    }
  }

  /**
   * The job is gone from Redis: so go its checkpoints, here best-effort, else when their day is over. The fence of one
   * that was taken over stays: the worker it was taken from may only have been frozen, and still hold an attempt of it.
   */
  async completed({ key, fence }: Pick<DispatchRun, 'key' | 'fence'>): Promise<void> {
    const shards = this.#checkpointed.get(key)
    if (!shards) return
    this.#checkpointed.delete(key)
    try {
      const { lanes } = this.#options
      const close = (shard: number) =>
        fence > 1 ? lanes.keepFence(shard, key, fence) : lanes.deleteCheckpoints(shard, [key])
      await Promise.all([...shards].map(close))
    } catch (error) {
      this.#options.log.debug({ err: error, job: key }, 'checkpoint.left_to_expire')
    }
  }

  /** Until the job is completed, which it is elsewhere where it went to another worker. */
  #rememberShards(key: string, shards: Set<number>): void {
    if (this.#checkpointed.size >= CHECKPOINTED_MAX) this.#checkpointed.clear()
    this.#checkpointed.set(key, shards)
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
      next.start()
      next.resolve()
    }
  }

  async #runAll(run: JobRun): Promise<void> {
    await Promise.all(run.messages.map((context, index) => this.#startOrSetAside(run, index, context)))
    await run.whenUnitsEnded()
  }

  async #runCautiously(run: JobRun): Promise<void> {
    for (const [index, context] of run.messages.entries()) {
      if (run.lost) return
      if (await this.#killsWorkers(run, index, context)) continue
      await this.#startOrSetAside(run, index, context)
      await run.whenUnitsEnded()
    }
  }

  /** True where the message is set aside. The note is written before the message is touched. */
  async #killsWorkers(run: JobRun, index: number, context: MessageContext): Promise<boolean> {
    const shard = shardOf(run.key)
    await this.#restore(run, shard)
    if (run.restored.has(`${shard}:${ASIDE}${index}`)) return true
    const [noted, deaths] = String(run.restored.get(`${shard}:${UNDER_WAY}`) ?? '-1,0')
      .split(',')
      .map(Number)
    const times = noted === index ? (deaths ?? 0) + 1 : 1
    const kills = times > DEATHS_MAX
    if (kills) await this.#setAside(run, context, 'worker died')
    await this.#note(run, shard, kills ? [`${ASIDE}${index}`, '1'] : [UNDER_WAY, `${index},${times}`])
    return kills || run.lost
  }

  async #note(run: JobRun, shard: number, [name, text]: [string, string]): Promise<void> {
    const fields: [string, Buffer][] = [[name, Buffer.from(text)]]
    const request = { messages: [], jobs: [{ job: run.key, fence: run.fence, fields, entries: [] }] }
    const result = await this.#untilDone(run, () => this.#options.lanes.park(shard, request))
    if (result?.jobs[0]?.stale !== false) run.lost = true
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
        const waits = this.#startSlice(start, ref, found)
        if (waits) await waits
      }
      if (match.keptBack && !run.lost) recorder.keptBack(plan.topic, context, match.keptBack)
      return
    }
    for (const ref of plan.slices) {
      if (run.fence > 1) await this.#restore(run, ref.shard)
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
    this.#options.express.start(unit)
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

  readonly #restoring = new WeakMap<JobRun, Map<number, Promise<void>>>()

  /** Once per shard and run: stores this run's fence, which makes earlier runs stale, and reads what they settled. */
  #restore(run: JobRun, shard: number): Promise<void> {
    const shards = this.#restoring.get(run) ?? new Map<number, Promise<void>>()
    this.#restoring.set(run, shards)
    const running = shards.get(shard) ?? this.#openCheckpoint(run, shard)
    shards.set(shard, running)
    return running
  }

  async #openCheckpoint(run: JobRun, shard: number): Promise<void> {
    const found = await this.#untilDone(run, () =>
      this.#options.lanes.openCheckpoint(shard, run.key, run.fence),
    )
    if (!found || found.stale) run.lost = true
    else run.restore(shard, found.fields)
  }

  /** Starts a unit when there is room, first come first served. */
  #admit(start: () => void): Promise<void> | undefined {
    if (this.#admissions.length === 0 && this.#options.express.queued < QUEUED_MAX) {
      start()
      return undefined
    }
    return new Promise((resolve) => this.#admissions.push({ start, resolve }))
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

  /** Redis decides nothing about a job but when: what fails is tried again for as long as the run is ours. */
  async #untilDone<T>(run: JobRun, attempt: () => Promise<T> | T): Promise<T | undefined> {
    while (!run.lost) {
      try {
        const value = await attempt()
        this.#tell('up')
        return value
      } catch (error) {
        if (error instanceof CorruptRecordError) throw error
        this.#tell('down', error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS * (0.5 + Math.random())))
      }
    }
    return undefined
  }

  /** A run that lasts longer than an instant tells what it has settled, so that its successor repeats only an instant. */
  #armCheckpoints(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      const before = performance.now() - CHECKPOINT_MS
      for (const run of this.#runs.values()) {
        if (run.startedAt > before || run.lost) continue
        for (const shard of run.dirtyShards()) this.#options.parking.checkpoint(shard, run)
      }
      if (this.#runs.size > 0) this.#armCheckpoints()
    }, CHECKPOINT_MS)
  }
}

/** Or of no topic, where the message was for one. */
function isOfAnother(plan: TopicPlan | null | undefined, { topicUid }: Message): boolean {
  return topicUid !== undefined && plan !== undefined && plan?.topic.uid !== topicUid
}
