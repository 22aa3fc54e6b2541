/**
 * The only code that makes BullMQ queues and workers, so that their settings agree. A Worker with other stream settings
 * than its Queue would fall back to 10,000 kept events.
 *
 * Every queue has a hash tag of its own. Its keys share a slot and may live on any master. Each connection of a worker
 * is a plain one to that master (store/src/redis/connections/cluster-route.ts).
 */
import type { RedisTarget } from '@fantail/contracts'
import { dispatchTag, placeOptions, reconnectOnError, retryStrategy } from '@fantail/store'
import { type Job, type JobsOptions, Queue, type QueueOptions, type Telemetry } from 'bullmq'
import { BullMQOtel } from 'bullmq-otel'
import type { Redis, RedisOptions } from 'ioredis'
import type { CompletionGuard } from './completion-guard.ts'
import { type Capacity, PromptWorker } from './prompt-worker.ts'
import { TextQueue } from './text-jobs.ts'
import { connectionWhenFull } from './when-full.ts'

/** Lock of a job, which its worker renews. After it: another worker may start the job. */
export const LOCK_MS = 3_000
export const STALLED_BUSY_MS = 1_000
export const STALLED_IDLE_MS = 5_000
/** How long an idle worker waits for a job in one command. After it: it asks again. BullMQ allows at most 10 s. */
const DRAIN_SECONDS = 8
/**
 * Silence on a worker's blocking connection. Past it: the connection is replaced. SILENCE_MS_MAX of the other
 * connections plus 10 s, the longest time that BullMQ's blocking command may take.
 */
const WORKER_SILENCE_MS_MAX = 15_000

/** BullMQ keeps few events, because the outcome log holds the history of a message. */
const STREAMS = { events: { maxLen: 100 } }

/**
 * A failure of Redis never ends a job. The job is tried without a limit, one second apart. No stacks are kept, because
 * BullMQ would keep one for each try.
 */
export const JOB_OPTIONS: JobsOptions = {
  attempts: 1_000_000,
  backoff: { type: 'fixed', delay: 1_000 },
  stackTraceLimit: 1,
  removeOnComplete: true,
}

const DISPATCH = /^dispatch-(\d+)$/

/** The prefix of all keys of the queue. Keys with this prefix are on its master. */
export function queuePrefix(name: string): string {
  const number = DISPATCH.exec(name)?.[1]
  return `ft:{${number === undefined ? name : dispatchTag(Number(number))}}`
}

export function dispatchQueueName(number: number): string {
  return `dispatch-${number}`
}

/** Spans and metrics of BullMQ itself, through the process's OpenTelemetry set-up. */
export function createTelemetry(): Telemetry {
  return new BullMQOtel({ tracerName: 'fantail', meterName: 'fantail', enableMetrics: true })
}

interface QueueSettings {
  name: string
  /** A connection that the queue shares with others. Closing the queue does not close it. */
  connection: Redis
  telemetry?: Telemetry | undefined
}

/**
 * A queue that is ready for use. BullMQ asks the server for its version once, when a queue is made. A queue that got no
 * answer can never work. It is therefore closed here, and the promise rejects.
 */
export function openQueue<T>(settings: QueueSettings, onError: (error: Error) => void): Promise<Queue<T>> {
  return ready(new Queue<T>(settings.name, queueOptions(settings)), onError)
}

/** Like `openQueue`, for jobs whose data is a text. */
export function openTextQueue(settings: QueueSettings, onError: (error: Error) => void): Promise<TextQueue> {
  return ready(new TextQueue(settings.name, queueOptions(settings)), onError)
}

function queueOptions({ name, connection, telemetry }: QueueSettings): QueueOptions {
  return {
    connection,
    prefix: queuePrefix(name),
    streams: STREAMS,
    defaultJobOptions: JOB_OPTIONS,
    ...(telemetry ? { telemetry } : {}),
  }
}

async function ready<Q extends Queue>(queue: Q, onError: (error: Error) => void): Promise<Q> {
  queue.on('error', onError)
  try {
    await queue.waitUntilReady()
    return queue
  } catch (error) {
    await queue.close()
    throw error
  }
}

interface WorkerSettings<T> extends Capacity {
  name: string
  url: RedisTarget
  process(job: Job<T, void>, token?: string): Promise<void>
  /** Asked before a job is completed. Default: every job may be completed. */
  guard?: CompletionGuard
  telemetry?: Telemetry | undefined
}

/**
 * A worker that is not running yet; `run()` starts it. Its two connections wait for Redis without a limit and repeat
 * commands without an answer. That is safe, because BullMQ's scripts are safe to repeat under a job's token.
 */
export function createWorker<T>({
  name,
  url,
  process,
  guard,
  telemetry,
  ...capacity
}: WorkerSettings<T>): PromptWorker<T> {
  const connection = connectionWhenFull(workerConnection(url, name), guard)
  const options = {
    connection,
    prefix: queuePrefix(name),
    autorun: false,
    drainDelay: DRAIN_SECONDS,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_BUSY_MS,
    maxStalledCount: 1_000_000,
    runRetryDelay: 500,
    removeOnComplete: { count: 0 },
    ...(telemetry ? { telemetry } : {}),
  }
  const worker = new PromptWorker<T>(name, process, options, capacity)
  // A job scheduler of the worker uses the same connection and does not close it.
  connection.on('error', (error: Error) => worker.emit('error', error))
  worker.once('closed', () => connection.disconnect())
  return worker
}

function workerConnection(url: RedisTarget, name: string): RedisOptions & { url?: string } {
  return {
    connectionName: name,
    connectTimeout: 2_000,
    socketTimeout: WORKER_SILENCE_MS_MAX,
    maxRetriesPerRequest: null,
    retryStrategy,
    reconnectOnError,
    ...placeOptions(url, queuePrefix(name)),
  }
}
