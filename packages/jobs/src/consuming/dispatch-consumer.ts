/**
 * The worker's side of one dispatch queue. It gives each job to `run` as a DispatchRun, and completes or postpones the
 * job afterwards.
 *
 * A run is *locked* while this process has the job's lock. It is *lost* once another worker may have the lock, and then
 * starts no more attempts. A lock that only expired during an outage is taken again, so that a finished job is not run
 * once more. BullMQ may already have given the job out again, to this same process. The present run then continues
 * under the new lock.
 *
 * `run` never throws because Redis fails. If a message makes it throw, BullMQ tries the job again a second later. From
 * the third start on, `run` handles such errors itself, and postpones the job for longer and longer times. A job that
 * was cut waits for its parts (dispatch-parts.ts), and is started once more when they have ended.
 *
 * A full or read-only Redis answers every command with an error at once. BullMQ would then repeat its commands
 * thousands of times a second. The worker is therefore paused until a write succeeds.
 */
import type { RedisTarget } from '@fantail/contracts'
import { isScriptFault, type NewEntry, type Quarantined, type Redis, ServerMarks } from '@fantail/store'
import { type Telemetry, WaitingChildrenError, WaitingError } from 'bullmq'
import { createWorker, dispatchQueueName } from '../bullmq/bull.ts'
import type { ConsumerLog } from '../bullmq/consumer-log.ts'
import type { PromptWorker } from '../bullmq/prompt-worker.ts'
import { type JobText, TEXT_JOB, type TextJob } from '../bullmq/text-jobs.ts'
import { TroubleGuard } from '../bullmq/trouble-guard.ts'
import { DispatchParts } from './dispatch-parts.ts'
import type { DispatchRun, RunEnd, RunId } from './dispatch-run.ts'
import { JobMessages, postpone } from './job-messages.ts'
import { PartsCapacity } from './parts-capacity.ts'
import { RepeatedErrors } from './repeated-errors.ts'
import { RunEntries, type RunEntry } from './run-entries.ts'
import { RunLocks } from './run-locks.ts'
import { RunStarts } from './run-starts.ts'
import { StalledWatch } from './stalled-watch.ts'
import { type JobCondition, UnreadableJobs } from './unreadable-jobs.ts'

interface ConsumerOptions {
  url: RedisTarget
  /** For locks, probes and jobs that cannot be decoded. It is shared, and not closed here. */
  redis: Redis
  /** Marks the copies that runs write to all servers. Default: every copy is written on `redis`. */
  servers?: ServerMarks
  /** Number of the dispatch queue. */
  queue: number
  jobsMax: number
  /** False: no further job is fetched for now. It is asked whenever a job starts or ends. */
  hasCapacity?(): boolean
  /** Called with 1 when a command is sent that may bring a job, and with -1 at its reply. */
  fetching?(change: 1 | -1): void
  /** Used instead of Redis's maxmemory if none is set (FANTAIL_REDIS_MEMORY_BYTES). */
  redisMemoryBytes?: number | undefined
  run(run: DispatchRun): Promise<RunEnd>
  /** Puts a job that cannot be decoded into the quarantine. Safe to repeat. */
  quarantine(entry: NewEntry): Promise<Quarantined>
  /** Called when the job is completed and deleted. Its checkpoints may be deleted too. */
  completed(job: RunId): void
  log: ConsumerLog
  telemetry?: Telemetry | undefined
}

export class DispatchConsumer {
  readonly #options: ConsumerOptions
  readonly #worker: PromptWorker<JobText>
  readonly #runs: RunEntries
  readonly #stalled: StalledWatch
  readonly #locks: RunLocks
  readonly #trouble: TroubleGuard
  readonly #unreadable: UnreadableJobs
  readonly #parts: DispatchParts
  readonly #starts: RunStarts
  readonly #messages: JobMessages
  readonly #name: string
  readonly #errors = new RepeatedErrors()

  constructor(options: ConsumerOptions) {
    const { redis, queue, log, quarantine } = options
    const servers = options.servers ?? new ServerMarks([redis])
    const onError = (error: Error) => this.#onError(error)
    this.#options = options
    this.#name = dispatchQueueName(queue)
    this.#runs = new RunEntries(onError)
    this.#worker = createWorker<JobText>({
      jobClass: TEXT_JOB,
      name: this.#name,
      url: options.url,
      jobsMax: options.jobsMax,
      hasCapacity: options.hasCapacity?.bind(options),
      fetching: options.fetching?.bind(options),
      process: (job, token) => this.#process(job, token ?? ''),
      guard: this.#runs,
      telemetry: options.telemetry,
    })
    this.#locks = new RunLocks(queue, redis, onError)
    this.#trouble = new TroubleGuard(this.#worker, redis, log)
    const parts = new DispatchParts(queue, redis)
    const partsCapacity = new PartsCapacity({ redis, memoryBytes: options.redisMemoryBytes })
    const unreadable = new UnreadableJobs({ queue: this.#name, redis, servers, quarantine, parts })
    const starts = new RunStarts({ queue, redis, servers, parts, partsCapacity })
    this.#parts = parts
    this.#unreadable = unreadable
    this.#starts = starts
    this.#messages = new JobMessages({ unreadable, parts, starts, runs: this.#runs })
    const takeFailed = () => unreadable.takeFailed()
    this.#stalled = new StalledWatch({ queue: this.#name, redis, worker: this.#worker, takeFailed, onError })
    this.#listen()
  }

  /** Starts taking jobs; resolves when BullMQ's connections are up. */
  async start(): Promise<void> {
    await this.#worker.waitUntilReady()
    // `run` resolves after close(). An error before that is an error of the start.
    void this.#worker.run().catch((error: Error) => this.#onError(error))
  }

  /** Takes no more jobs. Resolves when the running jobs are done. */
  async stop(): Promise<void> {
    this.#trouble.stop()
    this.#options.redis.off('ready', this.#retakeLocks)
    await this.#worker.close()
    await this.#parts.close()
  }

  #listen(): void {
    this.#options.redis.on('ready', this.#retakeLocks)
    this.#worker.on('error', (error) => {
      if (isScriptFault(error)) this.#unreadable.checkActive().catch((failed: Error) => this.#onError(failed))
      this.#onError(error)
    })
    this.#worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) {
        const entry = this.#runs.running.get(id)
        if (entry) void this.#locks.retake(entry)
      }
    })
    this.#worker.on('stalled', (id) => void this.#check(id))
    this.#worker.on('failed', (_, error) => this.#onError(error))
    this.#worker.on('completed', (job) => this.#completed(job))
  }

  readonly #retakeLocks = () => {
    for (const entry of this.#runs.running.values()) void this.#locks.retake(entry)
  }

  /** Must be called once a second. Never rejects. */
  watch(): Promise<void> {
    return this.#stalled.watch()
  }

  async #process(job: TextJob, token: string): Promise<void> {
    const messages = await this.#messages.of(job, token)
    if (!messages) return
    const start = { id: job.id ?? '', addedAt: job.timestamp, starts: job.attemptsStarted }
    const entry = this.#runs.adoptedBy(start) ?? this.#begin(job, messages)
    entry.token = token
    entry.starts = start.starts
    try {
      const end = await entry.done
      if (end === 'settled' || end === 'cut') await this.#runs.proveCopies(entry)
      leaveToLaterStart(entry, token)
      // BullMQ starts the job once more. Its checkpoint says what is settled.
      if (end === 'lost')
        throw entry.lost ? new WaitingError() : new Error('the checkpoints of the job are not this run’s')
      await this.#locks.hold(entry)
      leaveToLaterStart(entry, token)
      if (typeof end === 'object') await postpone(job, token, end.postponedMs)
      if (end === 'cut' && (await job.moveToWaitingChildren(token))) throw new WaitingChildrenError()
    } finally {
      // Until the latest start of the run ends, another start may come and continue the run.
      if (entry.token === token) this.#runs.leave(entry)
    }
    this.#runs.remember(entry)
  }

  /** Reads a job that has stalled. If Redis fails meanwhile, the job stalls again. */
  async #check(id: string): Promise<JobCondition | undefined> {
    try {
      return await this.#unreadable.check(id)
    } catch (error) {
      this.#onError(error as Error)
      return undefined
    }
  }

  #begin(job: TextJob, messages: string[]): RunEntry {
    const entry = this.#starts.entryOf(job)
    entry.begun = true
    this.#runs.begin(entry)
    entry.done = this.#options.run(this.#starts.runOf(entry, job, messages))
    return entry
  }

  #completed(job: TextJob): void {
    const entry = this.#runs.forget(job.id ?? '')
    if (entry?.begun) this.#options.completed(entry.run)
  }

  /** Logs one line per kind of error and outage, not one per occurrence. */
  #onError(error: Error): void {
    if (this.#trouble.notice(error)) return
    // The event lockRenewalFailed reports this error too, and its listener handles it.
    if (error.message.startsWith('could not renew lock')) return
    if (!this.#errors.isNew(error)) return
    this.#options.log.warn({ queue: this.#name, error: error.message }, 'dispatch.consume_failed')
  }
}

/** A later start continues the run, and completes its job. With this error BullMQ leaves the job as it is. */
function leaveToLaterStart(entry: RunEntry, token: string): void {
  if (entry.token !== token) throw new WaitingError()
}
