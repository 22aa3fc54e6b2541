/**
 * Runs dispatch jobs. A job that is too large for one worker is cut into parts. Messages of all other jobs are started
 * (message-starts.ts). A run ends when every delivery of its job is settled.
 */
import type { Links } from '@fantail/delivery'
import type { DispatchRun, RunEnd } from '@fantail/jobs'
import type { Logger } from '@fantail/runtime'
import {
  type BodySeals,
  type Idempotency,
  isScriptFault,
  type KeptJob,
  type Lanes,
  type NewEntry,
  type NewKept,
  type Quarantined,
  readMessage,
  SealKeyError,
  shardBase,
  shardOf,
} from '@fantail/store'
import type { FirstAttempts } from '../first-attempts/first-attempts.ts'
import type { MessageKeeping } from '../kept/message-keeping.ts'
import { contextOf, MessageContext } from '../messages/message-context.ts'
import type { IsolationNotes } from '../reports/isolation-notes.ts'
import { LOCKED_RETRY_MS, type MissingKeys } from '../reports/missing-keys.ts'
import type { OutcomeRecorder } from '../reports/outcome-recorder.ts'
import { JobRun } from '../runs/job-run.ts'
import type { Parking } from '../settling/parking.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import { Checkpoints } from './checkpoints.ts'
import { IsolatingRuns } from './isolating-runs.ts'
import { JobBytes } from './job-bytes.ts'
import { JobParts } from './job-parts.ts'
import { KeptNotes } from './kept-notes.ts'
import { MessageStarts } from './message-starts.ts'
import { RunQuarantine, type Unreadable } from './run-quarantine.ts'
import { RunRetries } from './run-retries.ts'
import { QUEUED_MAX, UnitAdmission } from './unit-admission.ts'
import { UnitStarts } from './unit-starts.ts'
import { wholeJob } from './whole-job.ts'

/** Slices of messages that wait for capacity. Past it: no further job is fetched. */
const ADMISSIONS_MAX = 64

export interface DispatcherOptions {
  snapshots: SnapshotCache
  lanes: Lanes
  firstAttempts: Pick<FirstAttempts, 'start' | 'queued'>
  parking: Pick<Parking, 'checkpoint'>
  recorder: Pick<OutcomeRecorder, 'dispatched' | 'filtered' | 'rejectedSlices' | 'unmatched' | 'expiredWhole'>
  idempotency: Pick<Idempotency, 'claimForDispatch'>
  locked: Pick<MissingKeys, 'report'>
  log: Logger
  /** For messages that do not name their own. */
  links?: Links
  seals: BodySeals
  /** Adds one to a count in Redis, in addition to the scripts' own counts. */
  count(cause: string): Promise<void>
  /** Puts data that cannot be decoded into the quarantine. Safe to repeat. */
  quarantine(entry: NewEntry): Promise<Quarantined>
  isolation: Pick<IsolationNotes, 'begin' | 'end'>
  /** Writes messages into the rings of their topics. */
  keeping: Pick<MessageKeeping, 'keep'>
  /** Epoch ms by Redis's clock. */
  now(): number
}

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #checkpoints: Checkpoints
  readonly #keptNotes: KeptNotes
  readonly #isolating: IsolatingRuns
  readonly #parts: JobParts
  readonly #admission: UnitAdmission
  readonly #quarantine: RunQuarantine
  readonly #messages: MessageStarts
  readonly #retries: RunRetries
  readonly #bytes = new JobBytes()
  #started = 0

  constructor(options: DispatcherOptions) {
    this.#options = options
    const retries = new RunRetries(options.log)
    const checkpoints = new Checkpoints({ ...options, retries })
    const admission = new UnitAdmission({ queued: () => options.firstAttempts.queued })
    const units = new UnitStarts({ ...options, retries, admission })
    const quarantine = new RunQuarantine({ ...options, retries })
    const messages = new MessageStarts({ ...options, units, checkpoints, retries, quarantine })
    this.#retries = retries
    this.#checkpoints = checkpoints
    this.#keptNotes = new KeptNotes(checkpoints)
    this.#admission = admission
    this.#quarantine = quarantine
    this.#messages = messages
    this.#parts = new JobParts({ ...options, checkpoints, retries })
    this.#isolating = new IsolatingRuns({
      checkpoints,
      start: (run, index, context) => messages.start(run, index, context),
      startIsolated: (run, index, context) => messages.startIsolated(run, index, context),
      waits: (...isolated) => options.isolation.begin(...isolated),
      threw: ({ message: { messageId, topicArn } }, error) =>
        options.log.error({ messageId, topicArn, err: error }, 'message.start_failed'),
    })
  }

  /** How many jobs were ever started. */
  get started(): number {
    return this.#started
  }

  get runs(): number {
    return this.#checkpoints.runs
  }

  /** False while so many deliveries wait that no further job should be fetched. */
  get hasCapacity(): boolean {
    return (
      this.#admission.waiting < ADMISSIONS_MAX &&
      this.#options.firstAttempts.queued < QUEUED_MAX &&
      this.#bytes.hasCapacity
    )
  }

  /** Called with 1 when a command is sent that may bring a job, and with -1 at its reply. */
  fetching(change: 1 | -1): void {
    this.#bytes.fetching(change)
  }

  /** Resolves when every delivery of the job is settled, or when the run is lost. */
  async run(job: DispatchRun): Promise<RunEnd> {
    this.#started++
    const unreadable: Unreadable[] = []
    const contexts = job.messages.flatMap((body, index) => this.#context(body, index, unreadable))
    const run = new JobRun(job, contexts, (unit) => this.#options.recorder.dispatched(unit))
    const bytes = job.messages.reduce((sum, body) => sum + body.length, 0)
    this.#bytes.begin(bytes)
    this.#checkpoints.begin(run)
    let end: RunEnd | undefined
    try {
      end = await this.#settle(run, unreadable)
      return end
    } catch (error) {
      // The job will start again. Wait for its running units first, so that the next start knows their results.
      await run.whenUnitsEnded()
      await this.#saveForNextStart(run)
      throw error
    } finally {
      run.ended = true
      this.#bytes.end(bytes)
      this.#logRun(run, end)
      this.#checkpoints.end(run)
    }
  }

  async #settle(run: JobRun, unreadable: Unreadable[]): Promise<RunEnd> {
    if (run.fence > 1) run.isIsolating = await this.#isolating.isNeeded(run)
    for (const one of unreadable) await this.#quarantine.addUnreadable(run, one)
    const handedOut = this.#parts.handOut(run)
    if (handedOut instanceof Promise ? await handedOut : handedOut) return 'cut'
    const delayMs = run.isIsolating ? await this.#isolating.run(run) : await this.#runAll(run)
    if (run.toKeep) await this.#keep(run, run.toKeep)
    const waits = run.awaitsQuarantine || run.awaitsKey || run.awaitsRing
    const postponedMs = delayMs ?? (waits ? LOCKED_RETRY_MS : undefined)
    if (postponedMs !== undefined) await this.#saveForNextStart(run)
    if (run.lost) return 'lost'
    if (postponedMs !== undefined) return { postponedMs }
    this.#checkpoints.saveBeforeLoss(run)
    return 'settled'
  }

  /** The job will start again. Saves what is settled and kept, so that the next start knows it. */
  async #saveForNextStart(run: JobRun): Promise<void> {
    await this.#checkpoints.save(run)
    await this.#keptNotes.write(run)
  }

  /** Called when the job was removed from Redis. */
  completed(job: Pick<DispatchRun, 'jobName' | 'fence'>): Promise<void> {
    return this.#checkpoints.completed(job)
  }

  /**
   * Logs one line per run: how it ended, how many deliveries were made at once, and how many wait in lanes. `end`:
   * undefined if the run failed.
   */
  #logRun(run: JobRun, end: RunEnd | undefined): void {
    if (!this.#options.log.isLevelEnabled('info')) return
    const result = typeof end === 'object' ? 'postponed' : (end ?? 'failed')
    const { jobName, fence, lost, units } = run
    const delivered = units.reduce((sum, unit) => sum + unit.delivered.count(), 0)
    const parked = units.reduce((sum, unit) => sum + unit.parked.count(), 0)
    const durationMs = Math.round(performance.now() - run.startedAt)
    const counts = { messages: run.messages.length, slices: units.length, delivered, parked }
    this.#options.log.info({ job: jobName, fence, result, ...counts, lost, durationMs }, 'dispatch.run_ended')
  }

  /** Called when capacity was freed. Units that wait for capacity may continue. */
  capacityFreed(): void {
    this.#admission.capacityFreed()
  }

  async #runAll(run: JobRun): Promise<undefined> {
    const starts = run.messages.map((context, index) => this.#messages.start(run, index, context))
    try {
      await Promise.all(starts)
    } catch (error) {
      await Promise.allSettled(starts)
      throw error
    }
    // The write continues while the deliveries are made.
    const keeping = run.toKeep && this.#keep(run, run.toKeep)
    await run.whenUnitsEnded()
    if (keeping) await keeping
    return undefined
  }

  /** Each topic is kept alone. If the ring of one is damaged or away, the others do not get their messages again. */
  async #keep(run: JobRun, messages: NewKept[]): Promise<void> {
    run.toKeep = undefined
    const byTopic = Map.groupBy(messages, ({ uid }) => uid)
    await Promise.all([...byTopic.values()].map((some) => this.#keepOfTopic(run, some)))
  }

  async #keepOfTopic(run: JobRun, all: NewKept[]): Promise<void> {
    const messages = run.fence > 1 ? await this.#keptNotes.missing(run, all) : all
    const [first] = messages
    if (!first) return
    const job = wholeJob(run, messages)
    const isArchived = messages.some((message) => message.isArchived)
    const mark = isArchived ? run.copies.mark(shardBase(shardOf(first.arn))) : undefined
    const isKept = await this.#retries.untilDone(run, () => this.#tryKeep(messages, job))
    if (isKept === false) run.awaitsRing = true
    if (!isKept) return
    // If Redis loses them, the next start keeps them again.
    if (mark) run.copies.wrote(mark)
    run.kept.push({ messages, mark })
  }

  /** False: Redis permanently refuses messages of an archive. Other jobs must not wait for this one. */
  async #tryKeep(messages: NewKept[], job: KeptJob | undefined): Promise<boolean> {
    try {
      await this.#options.keeping.keep(messages, job)
      return true
    } catch (error) {
      if (!isScriptFault(error)) throw error
      return false
    }
  }

  #context(body: string, index: number, unreadable: Unreadable[]): MessageContext[] {
    try {
      return [contextOf(body, this.#options)]
    } catch (error) {
      if (error instanceof SealKeyError) return [this.#lockedContext(body, error)]
      unreadable.push({ index, body, error })
      return []
    }
  }

  /** The message stays in the job, and the job starts again until somebody has the key. */
  #lockedContext(body: string, error: SealKeyError): MessageContext {
    const context = new MessageContext(readMessage(body), this.#options.links, body)
    this.#options.locked.report(context.message.topicArn, error)
    return context
  }
}
