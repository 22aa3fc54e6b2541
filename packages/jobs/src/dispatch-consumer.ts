/**
 * The worker's side of one dispatch queue: hands each job to `run` as a DispatchRun and sees the job to its end.
 *
 * A run is *held* (its lock is ours) or *lost* (another worker may have it: start no more attempts). A lock that merely
 * expired during an outage is taken again, else the finished job would be run once more in full. `run` never throws for
 * infrastructure; were it to throw, BullMQ tries the job again a second later, for ever.
 *
 * Trouble (a full or read-only Redis answers at once with an error) would make BullMQ spin at thousands of errors a
 * second: the worker is paused, probed with a write, and resumed.
 */
import type { Message } from '@fantail/contracts'
import type { Job, Telemetry, Worker } from 'bullmq'
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
import { type DispatchJobData, dispatchMessages } from './dispatch-job.ts'
import { PoisonWatch } from './poison-watch.ts'
import { TroubleGuard } from './trouble-guard.ts'

export interface DispatchRun {
  /** Names the job in checkpoints: `<queue>:<job id>`. */
  key: string
  /** Which start of the job this is; a higher one elsewhere makes this run stale. */
  fence: number
  messages: Message[]
  /** W3C trace context of the publish that opened the group. */
  isLost(): boolean
}

export interface ConsumerOptions {
  url: string
  /** For locks, probes and poison; shared, not closed here. */
  redis: Redis
  /** Number of the dispatch queue. */
  queue: number
  jobsMax: number
  /** False: fetch no further job for now; asked whenever a job starts or ends. */
  hasRoom?(): boolean
  run(run: DispatchRun): Promise<void>
  /** The job is completed and gone from Redis: its checkpoints may go too. */
  completed(run: DispatchRun): void
  log: ConsumerLog
  telemetry?: Telemetry | undefined
}

const ENDED_MAX = 10_000

interface RunEntry {
  run: DispatchRun
  token: string
  since: number
  lost: boolean
}

export class DispatchConsumer {
  readonly #options: ConsumerOptions
  readonly #worker: Worker<DispatchJobData, void>
  readonly #runs = new Map<string, RunEntry>()
  readonly #trouble: TroubleGuard
  readonly #poison: PoisonWatch
  readonly #name: string
  readonly #ended = new Map<string, DispatchRun>()
  #lastError = ''

  constructor(options: ConsumerOptions) {
    this.#options = options
    this.#name = dispatchQueueName(options.queue)
    this.#worker = createWorker<DispatchJobData>({
      name: this.#name,
      url: options.url,
      concurrency: options.jobsMax,
      process: (job, token) => this.#process(job, token ?? ''),
      telemetry: options.telemetry,
    })
    this.#trouble = new TroubleGuard(this.#worker, options.redis, options.log)
    this.#poison = new PoisonWatch(this.#name, options.redis, options.log)
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
  }

  #listen(): void {
    this.#options.redis.on('ready', this.#retakeLocks)
    this.#worker.on('error', (error) => this.#onError(error))
    this.#worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) void this.#retakeLock(id)
    })
    this.#worker.on('stalled', (id) => void this.#poison.stalled(id))
    this.#worker.on('completed', (job) => this.#completed(job))
    this.#worker.on('active', () => this.#setStalledInterval(STALLED_BUSY_MS))
    this.#worker.on('drained', () => this.#setStalledInterval(STALLED_IDLE_MS))
  }

  /** Jobs in hand always end, and BullMQ looks at the bound when one does: a lower bound only stops fetching. */
  #setConcurrency(): void {
    const { jobsMax, hasRoom } = this.#options
    this.#worker.concurrency = hasRoom?.() === false ? Math.max(1, this.#runs.size) : jobsMax
  }

  /** BullMQ reads the option anew before each check; an idle worker looks less often. */
  #setStalledInterval(intervalMs: number): void {
    this.#worker.opts.stalledInterval = intervalMs
  }

  async #process(job: Job<DispatchJobData>, token: string): Promise<void> {
    const id = job.id ?? ''
    const entry = { token, lost: false, since: performance.now() } as RunEntry
    entry.run = {
      key: `${this.#name}:${id}`,
      fence: job.attemptsStarted,
      messages: dispatchMessages(job.data),
      isLost: () => entry.lost,
    }
    this.#runs.set(id, entry)
    this.#setConcurrency()
    try {
      await this.#options.run(entry.run)
      await this.#holdLock(id)
    } finally {
      this.#runs.delete(id)
      this.#setConcurrency()
    }
    this.#remember(id, entry.run)
  }

  /** Until BullMQ says that the job is completed, which it does not where the job went to another worker. */
  #remember(id: string, run: DispatchRun): void {
    if (this.#ended.size >= ENDED_MAX) this.#ended.clear()
    this.#ended.set(id, run)
  }

  #completed(job: Job<DispatchJobData>): void {
    const run = this.#ended.get(job.id ?? '')
    this.#ended.delete(job.id ?? '')
    if (run) this.#options.completed(run)
  }

  /** Before completing: a lock that ran out while Redis was away is taken again (BullMQ refuses without it). */
  async #holdLock(id: string): Promise<void> {
    const entry = this.#runs.get(id)
    if (entry && performance.now() - entry.since > LOCK_MS / 2) await this.#retakeLock(id)
  }

  /** Before the stalled check comes round again and hands our running jobs to somebody else. */
  readonly #retakeLocks = () => {
    for (const id of this.#runs.keys()) void this.#retakeLock(id)
  }

  async #retakeLock(id: string): Promise<void> {
    const entry = this.#runs.get(id)
    if (!entry || entry.lost) return
    const job = `${queuePrefix(this.#name)}:${this.#name}:${id}`
    const key = `${job}:lock`
    try {
      const { redis } = this.#options
      // A job that another worker has completed has no lock either: taking one would hold nothing.
      if ((await redis.exists(job)) === 0) {
        entry.lost = true
        return
      }
      const taken = await redis.set(key, entry.token, 'PX', LOCK_MS, 'NX')
      if (taken === null && (await redis.get(key)) !== entry.token) entry.lost = true
    } catch (error) {
      this.#onError(error as Error)
    }
  }

  /** One line per kind of error, not one per occurrence: an outage repeats the same one many times a second. */
  #onError(error: Error): void {
    if (this.#trouble.notice(error)) return
    // Told as lockRenewalFailed too, which is where it is dealt with.
    if (error.message.startsWith('could not renew lock')) return
    if (error.message === this.#lastError) return
    this.#lastError = error.message
    this.#options.log.warn({ queue: this.#name, error: error.message }, 'dispatch.error')
  }
}
