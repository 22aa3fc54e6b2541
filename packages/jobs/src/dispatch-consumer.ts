/**
 * The worker's side of one dispatch queue: hands each job to `run` as a DispatchRun and sees the job to its end.
 *
 * A run is *held* (its lock is ours) or *lost* (another worker may have it: start no more attempts). A lock that merely
 * expired during an outage is taken again, else the finished job would be run once more in full; and where the job was
 * handed out again already, to this very process, its run in hand goes on under the new lock. `run` never throws for
 * infrastructure; were it to throw, BullMQ tries the job again a second later, for ever.
 *
 * Trouble (a full or read-only Redis answers at once with an error) would make BullMQ spin at thousands of errors a
 * second: the worker is paused, probed with a write, and resumed.
 */
import type { Message, RedisTarget } from '@fantail/contracts'
import { type Job, type Telemetry, WaitingChildrenError, WaitingError, type Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import {
  createWorker,
  dispatchQueueName,
  LOCK_MS,
  queuePrefix,
  STALLED_BUSY_MS,
  STALLED_IDLE_MS,
} from './bull.ts'
import type { ConsumerLog } from './consumer-log.ts'
import {
  type DispatchJobData,
  type DispatchPart,
  dispatchMessages,
  type PartJobData,
  partOf,
} from './dispatch-job.ts'
import { DispatchParts } from './dispatch-parts.ts'
import { PartsRoom } from './parts-room.ts'
import { PoisonWatch } from './poison-watch.ts'
import { RepeatedErrors } from './repeated-errors.ts'
import { TroubleGuard } from './trouble-guard.ts'

/** What is still known of a run when its job is completed. */
export type RunName = Pick<DispatchRun, 'key' | 'fence'>

export interface DispatchRun {
  /** Names the job in checkpoints: `<queue>:<job id>:<when it was added>`, as a number may be given again. */
  key: string
  /** Which start of the job this is; a higher one elsewhere makes this run stale. */
  fence: number
  messages: Message[]
  /** Where it is a part of another job: what of it. */
  part?: DispatchPart
  isLost(): boolean
  /** Whether Redis has room for so many parts. Rejects where Redis fails. */
  hasRoomFor(parts: number): Promise<boolean>
  /** Makes jobs of their own of the parts of this one. False where it is another start's by now. Safe to repeat with the same parts. Rejects where Redis fails. */
  handOut(parts: DispatchPart[]): Promise<boolean>
  /** False where no earlier start has handed out parts; else what of them is missing has been. Rejects where Redis fails. */
  handOutAgain(): Promise<boolean>
}

/** settled: everything of the job is. lost: some of it may not be, which is for a later start. cut: its parts are handed out. */
export type RunEnd = 'settled' | 'lost' | 'cut'

export interface ConsumerOptions {
  url: RedisTarget
  /** For locks, probes and poison; shared, not closed here. */
  redis: Redis
  /** Number of the dispatch queue. */
  queue: number
  jobsMax: number
  /** False: fetch no further job for now; asked whenever a job starts or ends. */
  hasRoom?(): boolean
  /** Stands for Redis's maxmemory where it has none (FANTAIL_REDIS_MEMORY_BYTES). */
  redisMemoryBytes?: number | undefined
  run(run: DispatchRun): Promise<RunEnd>
  /** The job is completed and gone from Redis: its checkpoints may go too. */
  completed(job: RunName): void
  log: ConsumerLog
  telemetry?: Telemetry | undefined
}

const ENDED_MAX = 10_000
/** Of a job that is started so often and is still there its data is looked at: a newer worker may have made sense of them. */
const STARTS_MAX = 60

type JobData = DispatchJobData | PartJobData

interface RunEntry {
  id: string
  /** When the job was added (epoch ms): a number may be given again where Redis has lost its last moments. */
  addedAt: number
  /** No more than this: an entry whose job could not be completed is remembered for long. */
  run: RunName
  /** Of the latest start. */
  token: string
  /** How often the job had been started then, this run's own start included. */
  starts: number
  since: number
  lost: boolean
  done: Promise<RunEnd>
}

export class DispatchConsumer {
  readonly #options: ConsumerOptions
  readonly #worker: Worker<JobData, void>
  /** Looks for jobs of dead workers often, as far as is known. */
  #isWatching = false
  readonly #runs = new Map<string, RunEntry>()
  readonly #trouble: TroubleGuard
  readonly #poison: PoisonWatch
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
    this.#trouble = new TroubleGuard(this.#worker, options.redis, options.log)
    this.#parts = new DispatchParts(options.queue, options.redis)
    this.#poison = new PoisonWatch({
      queue: this.#name,
      redis: options.redis,
      removePart: (id) => this.#parts.remove(id),
      log: options.log,
    })
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
        if (entry) void this.#retakeLock(entry)
      }
    })
    this.#worker.on('stalled', (id) => void this.#poison.look(id))
    this.#worker.on('failed', (_, error) => this.#onError(error))
    this.#worker.on('completed', (job) => this.#completed(job))
  }

  /** Jobs in hand always end, and BullMQ looks at the bound when one does: a lower bound only stops fetching. */
  #setConcurrency(): void {
    const { jobsMax, hasRoom } = this.#options
    this.#worker.concurrency = hasRoom?.() === false ? Math.max(1, this.#runs.size) : jobsMax
  }

  /**
   * To be called once a second: while any worker has a job in hand, all look often for one whose worker has died; else,
   * seldom. BullMQ reads the interval anew with each check, and keeps all workers from checking for as long: what an idle
   * one has set ends with the idleness. What an outage kept from being done is done at the next call. Never rejects.
   */
  async watch(): Promise<void> {
    const base = `${queuePrefix(this.#name)}:${this.#name}`
    const { redis } = this.#options
    const wasWatching = this.#isWatching
    this.#isWatching = false
    try {
      const { opts } = this.#worker
      if ((await redis.llen(`${base}:active`)) === 0) {
        opts.stalledInterval = STALLED_IDLE_MS
        return
      }
      const check = `${base}:stalled-check`
      // A clock of Redis that was set back makes what was to end in a second last for as long again.
      if (!wasWatching || (await redis.pttl(check)) > STALLED_IDLE_MS) {
        opts.stalledInterval = STALLED_BUSY_MS
        await redis.del(check)
        await this.#worker.startStalledCheckTimer()
      }
      this.#isWatching = true
    } catch (error) {
      this.#onError(error as Error)
    }
  }

  async #process(job: Job<JobData>, token: string): Promise<void> {
    const id = job.id ?? ''
    if (job.attemptsStarted > STARTS_MAX && (await this.#poison.look(id))) throw new WaitingError()
    const part = partOf(job.data)
    const messages = part ? await this.#messagesOf(job, part) : dispatchMessages(job.data)
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
      await this.#holdLock(entry)
      if (end === 'cut' && (await job.moveToWaitingChildren(token))) throw new WaitingChildrenError()
    } finally {
      if (this.#runs.get(id) === entry) this.#runs.delete(id)
      this.#setConcurrency()
    }
    this.#remember(entry)
  }

  /** undefined where nothing is to be done for the part. */
  async #messagesOf(job: Job<JobData>, data: PartJobData): Promise<Message[] | undefined> {
    const messages = await this.#parts.messagesOf(job, data)
    if (messages === null) await this.#poison.keepPart(job.id ?? '', data)
    return messages ?? undefined
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

  /** Before completing: a lock that ran out while Redis was away is taken again (BullMQ refuses without it). */
  async #holdLock(entry: RunEntry): Promise<void> {
    if (performance.now() - entry.since > LOCK_MS / 2) await this.#retakeLock(entry)
  }

  /** Before the stalled check comes round again and hands our running jobs to somebody else. */
  readonly #retakeLocks = () => {
    for (const entry of this.#runs.values()) void this.#retakeLock(entry)
  }

  async #retakeLock(entry: RunEntry): Promise<void> {
    if (entry.lost) return
    const job = `${queuePrefix(this.#name)}:${this.#name}:${entry.id}`
    const key = `${job}:lock`
    try {
      const { redis } = this.#options
      const { token, starts } = entry
      // Of a job that another worker has completed there is none, and what another has started since is not ours though it
      // may have died: its lock would be free, and with it the job be completed, of which it had settled just a part.
      const isOurs = (await redis.hget(job, 'ats')) === String(starts)
      if (isOurs && (await redis.set(key, token, 'PX', LOCK_MS, 'NX')) !== null) return
      if ((await redis.get(key)) === token) return
      // Unless a later start of our own has adopted the run meanwhile: then the lock is that one's.
      if (entry.token === token) entry.lost = true
    } catch (error) {
      this.#onError(error as Error)
    }
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

/**
 * Whether this start of the job may go on with a run that this process has, or has just ended: its lock ran out, or its
 * completion did not reach Redis, and nobody else has started it in between. Beginning anew would attempt everything a
 * second time.
 */
function isNextStart(known: RunEntry, job: Job<JobData>): boolean {
  return !known.lost && job.timestamp === known.addedAt && job.attemptsStarted === known.starts + 1
}
