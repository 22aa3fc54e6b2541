/** Builds the redrive service: redrive tasks, and sweeps of queues, topics and subscriptions. */
import type { RedisTarget } from '@fantail/contracts'
import type { Telemetry } from '@fantail/jobs'
import { createStartSteps, joinTravel, type Logger, openConnections, type TravelMode } from '@fantail/runtime'
import {
  AttemptStore,
  DataLossError,
  Lanes,
  Queues,
  type Redis,
  RedriveBatches,
  Redrives,
  Subscriptions,
  Topics,
  TravelledDataError,
  type Traveller,
} from '@fantail/store'
import { createMetrics, type Metrics } from '@fantail/telemetry'
import { createMaintenance } from './maintenance.ts'
import { createTaskJobs } from './task-jobs.ts'

interface RedriveServiceOptions {
  redisUrl: RedisTarget
  /** How many replicas must hold a moved message before its source is deleted. Default: 0. */
  minReplicas?: number
  log: Logger
  telemetry?: Telemetry | undefined
  /** Default: the service makes its own. */
  metrics?: Pick<Metrics, 'redrivenMessages'>
  /** Between sweeps; a minute. */
  sweepEveryMs?: number
  /** Absent: data whose time may be moved is not looked for. */
  travel?: TravelMode
}

export interface RedriveService {
  redis: Redis
  /**
   * Starts the service. Each step is repeated until Redis allows it. Rejects if the signal is aborted, or if Redis is
   * not of the kind that the settings name.
   */
  start(signal?: AbortSignal, checkStorage?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export function createRedriveService({
  redisUrl,
  minReplicas = 0,
  log,
  telemetry,
  metrics = createMetrics(),
  sweepEveryMs,
  travel,
}: RedriveServiceOptions): RedriveService {
  const connections = openConnections({ redisUrl, name: 'fantail-redrive', minReplicas, log })
  const { redis, subscriber, acks } = connections
  const onProblem = (error: Error) => log.warn({ err: error }, 'queue.move_postponed')
  const onLeaseEnd = (queueArn: string) => log.info({ queueArn }, 'queue.lease_ended')
  const queues = new Queues(redis, { onProblem, onLeaseEnd, acks })
  const topics = new Topics(redis)
  const subscriptions = new Subscriptions(redis, {
    onCorrupt: (error) => log.error({ err: error }, 'subscription.unreadable'),
  })
  const redrives = new Redrives(redis)
  const attempts = new AttemptStore(redis)
  const batches = new RedriveBatches({ redis, acks, subscriptions, lanes: new Lanes(redis, acks) })
  const tasks = createTaskJobs({ redisUrl, redis, subscriber, redrives, batches, log, telemetry, metrics })
  const maintenance = createMaintenance({
    redisUrl,
    redis,
    log,
    telemetry,
    ...(sweepEveryMs === undefined ? {} : { everyMs: sweepEveryMs }),
    sweeps: {
      tasks: () => tasks.addMissing(),
      redrives: () => redrives.sweep(),
      queues: () => queues.sweep(),
      topics: () => topics.resumeDeletions(),
      subscriptions: () => subscriptions.expirePending(),
      attempts: () => attempts.sweep(),
    },
  })
  const traveller: Traveller = {
    moved: () => maintenance.moved(),
    work: () => ({ busy: [], activity: tasks.moves, waitingJobs: { redrive: tasks.pausing } }),
  }
  return {
    redis,
    async start(signal, checkStorage) {
      await connections.whenChecked(signal)
      const isFinal = (error: unknown) =>
        [DataLossError, TravelledDataError].some((kind) => error instanceof kind)
      const step = createStartSteps({ log, signal, isFinal })
      if (checkStorage) await step(checkStorage)
      if (travel) await step(() => joinTravel({ connections, settings: travel, traveller, log }))
      await Promise.all([tasks.start(step), maintenance.start(step)])
    },
    async stop() {
      await Promise.all([tasks.stop(), maintenance.stop()])
      connections.disconnect()
    },
  }
}
