/**
 * The worker's side of one dispatch queue: hands each job to `run` as a DispatchRun and sees the job to its end.
 *
 * A run is *held* (its lock is ours) or *lost* (another worker may have it: start no more attempts). A lock that merely
 * expired during an outage is taken again, else the finished job would be run once more in full; and where the job was
 * handed out again already, to this very process, its run in hand goes on under the new lock. `run` never throws for
 * infrastructure. Where a message makes it throw, BullMQ tries the job again a second later; from the third start on,
 * `run` keeps such errors to itself and is postponed, later and later. A job that was cut waits for its
 * parts (dispatch-parts.ts) and is started once more when they have ended.
 *
 * Trouble (a full or read-only Redis answers at once with an error) would make BullMQ spin at thousands of errors a
 * second: the worker is paused, probed with a write, and resumed.
 */
import type { Message, RedisTarget } from '@fantail/contracts'
import { batch, type NewEntry, type Quarantined, type Redis, replies } from '@fantail/store'
import {
  DelayedError,
  type Job,
  type Telemetry,
  WaitingChildrenError,
  WaitingError,
  type Worker,
} from 'bullmq'
import { createWorker, dispatchQueueName, queuePrefix, STALLED_BUSY_MS } from '../bullmq/bull.ts'
import { TroubleGuard } from '../bullmq/trouble-guard.ts'
import { type DispatchJobData, dispatchMessages, type PartJobData, partOf } from '../dispatch-job.ts'
import type { ConsumerLog } from './consumer-log.ts'
import { DispatchParts } from './dispatch-parts.ts'
import type { DispatchRun, RunEnd, RunName } from './dispatch-run.ts'
import { PartsRoom } from './parts-capacity.ts'
import { RepeatedErrors } from './repeated-errors.ts'
import { type RunEntry, RunLocks } from './run-locks.ts'
import { type Look, UnreadableJobs } from './unreadable-jobs.ts'

interface ConsumerOptions {
  url: RedisTarget
  /** For locks, probes and jobs that cannot be decoded; shared, not closed here. */
  redis: Redis
  /** Number of the dispatch queue. */
  queue: number
  jobsMax: number
  /** False: fetch no further job for now; asked whenever a job starts or ends. */
  hasRoom?(): boolean
  /** Stands for Redis's maxmemory where it has none (FANTAIL_REDIS_MEMORY_BYTES). */
  redisMemoryBytes?: number | undefined
  run(run: DispatchRun): Promise<RunEnd>
  /** Keeps what cannot be decoded. Safe to repeat. */
  quarantine(entry: NewEntry): Promise<Quarantined>
  /** The job is completed and gone from Redis: its checkpoints may go too. */
  completed(job: RunName): void
  log: ConsumerLog
  telemetry?: Telemetry | undefined
}

/**
 * @limit Ended runs that are remembered until BullMQ has completed their jobs. Past it: all are forgotten, and their
 * checkpoints expire after a day.
 */
const ENDED_MAX = 10_000
/** Between looks for jobs of dead workers while no worker has a job: `watch` ends the pause when one has. */
const STALLED_UNUSED_MS = 60_000
/**
 * A job that is started more often has its data looked at: until then a newer worker may have made sense of them.
 * @limit Starts of a job before its data is looked at. Past it: a job that cannot be decoded goes to the quarantine.
 */
const STARTS_MAX = 60
/** A job that a full quarantine refused is started again so often. */
const FULL_QUARANTINE_START_MS = 60_000

type JobData = DispatchJobData | PartJobData

export class DispatchConsumer {
  readonly #options: ConsumerOptions
  readonly #worker: Worker<JobData, void>
  /** Looks for jobs of dead workers often, as far as is known. */
  #isWatching = false
  readonly #runs = new Map<string, RunEntry>()
  readonly #locks: RunLocks
  readonly #trouble: TroubleGuard
  readonly #unreadable: UnreadableJobs
  readonly #parts: DispatchParts
  readonly #partsRoom: PartsRoom
  readonly #name: string
  /** Runs that have ended and whose jobs BullMQ is completing. */
  readonly #ended = new Map<string, RunEntry>()
  readonly #errors = new RepeatedErrors()

  constructor(options: ConsumerOptions) {
    this.#options = options
    this.#name = dispatchQueueName(options.queue)
    this.#worker = createWorker<JobData>({
      name: this.#name,
      url: options.url,
      concurrency: options.jobsMax,
      process: (job, token) => this.#process(job, token ?? ''),
      telemetry: options.telemetry,
    })
    this.#locks = new RunLocks(options.queue, options.redis, (error) => this.#onError(error))
    this.#trouble = new TroubleGuard(this.#worker, options.redis, options.log)
    this.#parts = new DispatchParts(options.queue, options.redis)
    const { redis, quarantine } = options
    this.#unreadable = new UnreadableJobs({ queue: this.#name, redis, quarantine, parts: this.#parts })
    this.#partsRoom = new PartsRoom({ redis: options.redis, memoryBytes: options.redisMemoryBytes })
    this.#listen()
  }

  get runningJobs(): number {
    return this.#runs.size
  }

  /** Starts taking jobs; resolves when BullMQ's connections are up. */
  async start(): Promise<void> {
    await this.#worker.waitUntilReady()
    // The loop ends with close(); what it throws before that is an error of the start itself.
    void this.#worker.run().catch((error: Error) => this.#onError(error))
  }

  /** Takes no more jobs and resolves when those in hand are done. */
  async stop(): Promise<void> {
    this.#trouble.stop()
    this.#options.redis.off('ready', this.#retakeLocks)
    await this.#worker.close()
    await this.#parts.close()
  }

  #listen(): void {
    this.#options.redis.on('ready', this.#retakeLocks)
    this.#worker.on('error', (error) => this.#onError(error))
    this.#worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) {
        const entry = this.#runs.get(id)
        if (entry) void this.#locks.retake(entry)
      }
    })
    this.#worker.on('stalled', (id) => void this.#look(id))
    this.#worker.on('failed', (_, error) => this.#onError(error))
    this.#worker.on('completed', (job) => this.#completed(job))
  }

  readonly #retakeLocks = () => {
    for (const entry of this.#runs.values()) void this.#locks.retake(entry)
  }

  /** Jobs in hand always end, and BullMQ looks at the bound when one does: a lower bound only stops fetching. */
  #setConcurrency(): void {
    const { jobsMax, hasRoom } = this.#options
    this.#worker.concurrency = hasRoom?.() === false ? Math.max(1, this.#runs.size) : jobsMax
  }

  /**
   * To be called once a second: while any worker has a job in hand, all look often for one whose worker has died; else,
   * seldom. BullMQ reads the interval anew with each check, and keeps all workers from checking for as long: a pause
   * that an idle worker has set is ended here. What an outage kept from being done is done at the next call. Never
   * rejects.
   */
  async watch(): Promise<void> {
    const base = `${queuePrefix(this.#name)}:${this.#name}`
    const { redis } = this.#options
    const wasWatching = this.#isWatching
    this.#isWatching = false
    try {
      const { opts } = this.#worker
      const asked = batch(redis)
      asked.llen(`${base}:active`).zcard(`${base}:failed`)
      const [active, failed] = (await replies(asked)) as number[]
      if (failed) await this.#takeFailed()
      if (active === 0) {
        opts.stalledInterval = STALLED_UNUSED_MS
        return
      }
      const check = `${base}:stalled-check`
      // Longer where an idle worker has checked meanwhile, or where the clock of Redis was set back.
      if (!wasWatching || (await redis.pttl(check)) > STALLED_BUSY_MS) {
        opts.stalledInterval = STALLED_BUSY_MS
        await redis.del(check)
        await this.#worker.startStalledCheckTimer()
      }
      this.#isWatching = true
    } catch (error) {
      this.#onError(error as Error)
    }
  }

  /** A job that cannot be taken does not stop the search for jobs of dead workers. */
  async #takeFailed(): Promise<void> {
    try {
      await this.#unreadable.takeFailed()
    } catch (error) {
      this.#onError(error as Error)
    }
  }

  async #process(job: Job<JobData>, token: string): Promise<void> {
    const id = job.id ?? ''
    if (hasNoData(job) || job.attemptsStarted > STARTS_MAX) await this.#quarantineUnreadable(job, token)
    const part = partOf(job.data)
    const messages = part ? await this.#messagesOf(job, part, token) : dispatchMessages(job.data)
    if (!messages) return
    const known = this.#runs.get(id) ?? this.#ended.get(id)
    const entry = known && isNextStart(known, job) ? known : this.#begin(id, job, messages)
    entry.token = token
    entry.starts = job.attemptsStarted
    try {
      const end = await entry.done
      // A later start has adopted the run and sees the job to its end; with this error BullMQ leaves the job as it is.
      if (entry.token !== token) throw new WaitingError()
      // What a later start settled is known where its checkpoint is: BullMQ brings the job to one more.
      if (end === 'lost')
        throw entry.lost ? new WaitingError() : new Error('a later start of the job was seen')
      await this.#locks.hold(entry)
      if (typeof end === 'object') {
        await postpone(job, token, end.postponedMs)
      }
      if (end === 'cut' && (await job.moveToWaitingChildren(token))) throw new WaitingChildrenError()
    } finally {
      if (this.#runs.get(id) === entry) this.#runs.delete(id)
      this.#setConcurrency()
    }
    this.#remember(entry)
  }

  /** undefined where nothing is to be done for the part. */
  async #messagesOf(job: Job<JobData>, data: PartJobData, token: string): Promise<Message[] | undefined> {
    const messages = await this.#parts.messagesOf(job, data)
    if (messages !== null) return messages
    const result = await this.#unreadable.addPart(job.id ?? '', job.timestamp, data)
    if (result === 'full') await postpone(job, token, FULL_QUARANTINE_START_MS)
    return undefined
  }

  /** Rejects where the job is gone, or has to wait for capacity of the quarantine; resolves where it is readable. */
  async #quarantineUnreadable(job: Job<JobData>, token: string): Promise<void> {
    const found = await this.#unreadable.look(job.id ?? '')
    if (found === 'gone') throw new WaitingError()
    if (found === 'full') await postpone(job, token, FULL_QUARANTINE_START_MS)
  }

  /** For a job that stalled. If Redis fails meanwhile, the job stalls again. */
  async #look(id: string): Promise<Look | undefined> {
    try {
      return await this.#unreadable.look(id)
    } catch (error) {
      this.#onError(error as Error)
      return undefined
    }
  }

  #begin(id: string, job: Job<JobData>, messages: Message[]): RunEntry {
    const { attemptsStarted: starts, timestamp: addedAt } = job
    const name: RunName = { key: `${this.#name}:${id}:${addedAt.toString(36)}`, fence: starts }
    const entry = { id, addedAt, run: name, starts, lost: false, since: performance.now() } as RunEntry
    const run: DispatchRun = {
      ...name,
      messages,
      ...('part' in job.data ? { part: job.data.part } : {}),
      isLost: () => entry.lost,
      hasRoomFor: (parts) => this.#partsRoom.take(parts),
      handOut: (parts) => this.#parts.handOut(job, entry.starts, parts),
      handOutAgain: () => this.#parts.handOutAgain(job),
    }
    this.#runs.set(id, entry)
    this.#setConcurrency()
    entry.done = this.#options.run(run)
    return entry
  }

  /** Until BullMQ says that the job is completed, which it does not where the job went to another worker. */
  #remember(entry: RunEntry): void {
    if (this.#ended.size >= ENDED_MAX) this.#ended.clear()
    this.#ended.set(entry.id, entry)
  }

  #completed(job: Job<JobData>): void {
    const entry = this.#ended.get(job.id ?? '')
    this.#ended.delete(job.id ?? '')
    if (entry) this.#options.completed(entry.run)
  }

  /** One line per kind of error and outage, not one per occurrence. */
  #onError(error: Error): void {
    if (this.#trouble.notice(error)) return
    // Told as lockRenewalFailed too, which is where it is dealt with.
    if (error.message.startsWith('could not renew lock')) return
    if (!this.#errors.isNew(error)) return
    this.#options.log.warn({ queue: this.#name, error: error.message }, 'dispatch.error')
  }
}

/** Always rejects, with what BullMQ leaves the job alone for. */
async function postpone(job: Job<JobData>, token: string, delayMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + delayMs, token)
  throw new DelayedError()
}

/** BullMQ reads a job without data as one with an empty object. */
function hasNoData({ data }: Job<JobData>): boolean {
  return Object.keys(data ?? {}).length === 0
}

/**
 * Whether this start of the job may go on with a run that this process has, or has just ended: its lock ran out, or its
 * completion did not reach Redis, and nobody else has started it in between. Beginning anew would attempt everything a
 * second time.
 */
function isNextStart(known: RunEntry, job: Job<JobData>): boolean {
  return !known.lost && job.timestamp === known.addedAt && job.attemptsStarted === known.starts + 1
}
