/**
 * Gives each task that must run one BullMQ job. The job has the task's id, so a task never has two. BullMQ gives the
 * job to one process, and to another one if that dies. A task gets its job when it is created, resumed or canceled (a
 * wake). It gets one too if its job ends before the task does (resumed meanwhile, or this process stops). The sweep
 * finds tasks whose wakes were lost.
 */
import { nameOfArn, parseArn, type RedisTarget, withoutSubscription } from '@fantail/contracts'
import {
  createWorker,
  openQueue,
  type Queue,
  STALLED_BUSY_MS,
  STALLED_IDLE_MS,
  type Telemetry,
  TroubleGuard,
} from '@fantail/jobs'
import { createStateLog, type Logger, type StartStep } from '@fantail/runtime'
import {
  type LiveSender,
  type Redis,
  type RedriveBatches,
  type Redrives,
  type ResendBatches,
  type StorageGuard,
  sideBySide,
  WAKE_REDRIVES,
} from '@fantail/store'
import type { Metrics } from '@fantail/telemetry'
import { runTask, type SentLetter } from './run-task.ts'
import { TaskPauses } from './task-pauses.ts'

const TASK_QUEUE = 'redrive'
/** Tasks that one process runs at a time. Past it: further ones wait. */
const TASKS_MAX = 50
/** Tasks whose jobs are looked for, and made, at a time. Past it: the others follow. */
const ADDED_AT_ONCE = 8

interface TaskJobsOptions {
  redisUrl: RedisTarget
  redis: Redis
  /** For wakes. It is shared, and not closed here. */
  subscriber: Redis
  redrives: Redrives
  batches: RedriveBatches
  resends: ResendBatches
  storageGuard: StorageGuard
  log: Logger
  telemetry?: Telemetry | undefined
  metrics: Pick<Metrics, 'redrivenMessages'>
  events: RedriveEvents
  /** Called with tasks that cannot be read, and therefore are not run. */
  onUnreadable?: (error: Error, key: string) => void
}

interface RedriveEvents {
  /** Gets the live events. */
  live: LiveSender
  /** Epoch ms by Redis's clock. */
  now(): number
}

interface TaskJob {
  task: string
}

export interface TaskJobs {
  start(step: StartStep): Promise<void>
  /** Runs end after their present batch. Their jobs go to other processes. */
  stop(): Promise<void>
  /** Gives a job to every task that needs one. Returns how many had none. */
  addMissing(): Promise<number>
  /** How many tasks get a job at this moment. */
  readonly adding: number
  /** How many running tasks are in a pause. */
  readonly pausing: number
  /** How many pauses of tasks have ended. */
  readonly pausesEnded: number
}

export function createTaskJobs(options: TaskJobsOptions): TaskJobs {
  const { redis, redrives, log, subscriber, telemetry } = options
  const stopping = new AbortController()
  const report = createStateLog({ log, what: 'redrive_jobs', initial: 'up' })
  const adding = new Set<Promise<void>>()
  let queue: Queue<TaskJob> | undefined
  const pauses = new TaskPauses()
  let running = 0
  const run = async (task: string): Promise<void> => {
    running++
    worker.opts.stalledInterval = STALLED_BUSY_MS
    try {
      await runReported({ ...options, pauses }, task, stopping.signal)
    } finally {
      running--
      if (running === 0) worker.opts.stalledInterval = STALLED_IDLE_MS
    }
  }
  const worker = createWorker<TaskJob>({
    name: TASK_QUEUE,
    url: options.redisUrl,
    jobsMax: TASKS_MAX,
    process: (job) => run(job.data.task),
    telemetry,
  })
  worker.opts.stalledInterval = STALLED_IDLE_MS
  const trouble = new TroubleGuard(worker, redis, log)
  const failed = (error: Error) => {
    if (!trouble.notice(error)) report('down', error)
  }

  const add = async (id: string): Promise<void> => {
    const task = await redrives.get(id)
    if (task?.status !== 'running' && task?.status !== 'canceling') return
    // Until the queue exists, nothing is lost: the start itself looks for tasks without a job.
    await queue?.add('redrive', { task: id }, { jobId: id })
  }
  /** The sweep repeats a failed add. */
  const tryAdd = (id: string): void => {
    const done: Promise<void> = add(id).catch(failed)
    adding.add(done)
    void done.finally(() => adding.delete(done))
  }
  const wake = (channel: string, id: string): void => {
    if (channel === WAKE_REDRIVES) tryAdd(id)
  }
  const subscribe = (): void => {
    // This fails only if the connection breaks. The next 'ready' then starts it again.
    subscriber.subscribe(WAKE_REDRIVES).catch(failed)
  }

  worker.on('error', failed)
  worker.on('failed', (_, error) => failed(error))
  worker.on('completed', (job) => {
    report('up')
    tryAdd(job.data.task)
  })

  const addMissing = async (): Promise<number> => {
    const ids = await redrives.runnable(options.onUnreadable)
    const hadJob = await sideBySide(ids, ADDED_AT_ONCE, async (id) => {
      if (await queue?.getJob(id)) return true
      await add(id)
      return false
    })
    return hadJob.filter((had) => !had).length
  }
  return {
    addMissing,
    get adding() {
      return adding.size
    },
    get pausing() {
      return pauses.running
    },
    get pausesEnded() {
      return pauses.ended
    },
    async start(step) {
      subscriber.on('ready', subscribe)
      subscriber.on('message', wake)
      if (subscriber.status === 'ready') subscribe()
      const settings = { name: TASK_QUEUE, connection: redis, telemetry }
      queue = await step(() => openQueue<TaskJob>(settings, failed))
      await worker.waitUntilReady()
      // `run` resolves after close(). An error before that is an error of the start.
      void worker.run().catch(failed)
      await step(addMissing)
    },
    async stop() {
      subscriber.off('ready', subscribe)
      subscriber.off('message', wake)
      stopping.abort()
      trouble.stop()
      await worker.close()
      await Promise.all(adding)
      await queue?.close()
    },
  }
}

async function runReported(
  {
    redrives,
    batches,
    resends,
    storageGuard,
    log,
    metrics,
    events,
    pauses,
  }: TaskJobsOptions & { pauses: TaskPauses },
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const from = performance.now()
  let moved = 0
  let skipped = 0
  const onMoved = (movedOfBatch: number, skippedOfBatch: number, source: string) => {
    moved += movedOfBatch
    skipped += skippedOfBatch
    const queue = nameOfArn(withoutSubscription(source))
    metrics.redrivenMessages.of({ queue, result: 'moved' }).add(movedOfBatch)
    metrics.redrivenMessages.of({ queue, result: 'skipped' }).add(skippedOfBatch)
  }
  let purged = 0
  const onPurged = (removed: number) => {
    purged += removed
  }
  const onSent = (sent: SentLetter) => reportSent(events.live, sent, events.now())
  const result = await runTask(
    { redrives, batches, resends, storageGuard, onMoved, onPurged, onSent, pauses },
    id,
    signal,
  )
  const durationMs = Math.round(performance.now() - from)
  log.info({ task: id, result, moved, skipped, purged, durationMs }, 'redrive.ran')
}

/** Does nothing without listeners. `now`: epoch ms by Redis's clock. */
function reportSent(live: LiveSender, { letter, edited }: SentLetter, now: number): void {
  if (!live.on) return
  const { topicArn, subscriptionArn } = letter
  const subscriptionId = parseArn(subscriptionArn)?.subscriptionId ?? null
  const facts = { type: 'redriven', topicArn, subscriptionId } as const
  live.send(facts, () => ({
    ...facts,
    at: now,
    messageId: edited?.messageId ?? letter.messageId,
    redrives: edited ? 0 : letter.generation + 1,
    ...(edited && { editedFrom: letter.messageId }),
  }))
}
