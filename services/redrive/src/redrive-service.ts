/** The redrive service, wired: tasks, and the sweeps that keep queues, topics and subscriptions tidy. */
import type { RedisTarget } from '@fantail/contracts'
import type { Telemetry } from '@fantail/jobs'
import { createStartSteps, createStateLog, type Logger } from '@fantail/runtime'
import {
  connect,
  connectSubscriber,
  Lanes,
  Queues,
  type Redis,
  RedriveBatches,
  Redrives,
  ReplicaAcks,
  Subscriptions,
  Topics,
  whenServerChecked,
} from '@fantail/store'
import { createMetrics, type Metrics } from '@fantail/telemetry'
import { createMaintenance } from './maintenance.ts'
import { createTaskJobs } from './task-jobs.ts'

export interface RedriveServiceOptions {
  redisUrl: RedisTarget
  /** Replicas that must hold what is moved before its source is forgotten; default 0. */
  minReplicas?: number
  log: Logger
  telemetry?: Telemetry | undefined
  /** Default: the service makes its own. */
  metrics?: Pick<Metrics, 'redrivenMessages'>
  /** Between sweeps; a minute. */
  sweepEveryMs?: number
}

export interface RedriveService {
  redis: Redis
  /**
   * Repeats each step until Redis lets it; rejects by the signal, or where that is another kind of Redis than was
   * named.
   */
  start(signal?: AbortSignal): Promise<void>
  stop(): Promise<void>
}

export function createRedriveService({
  redisUrl,
  minReplicas = 0,
  log,
  telemetry,
  metrics = createMetrics(),
  sweepEveryMs,
}: RedriveServiceOptions): RedriveService {
  const onState = createStateLog({ log, what: 'redis' })
  const redis = connect({ url: redisUrl, name: 'fantail-redrive', onState })
  const subscriber = connectSubscriber({ url: redisUrl, name: 'fantail-redrive-wakes' })
  const onProblem = (error: Error) => log.warn({ err: error }, 'queue.move_postponed')
  const acksRedis = minReplicas > 0 ? connect({ url: redisUrl, name: 'fantail-redrive-held' }) : redis
  const acks = new ReplicaAcks(acksRedis, { minReplicas })
  const queues = new Queues(redis, { onProblem, acks })
  const topics = new Topics(redis)
  const subscriptions = new Subscriptions(redis, {
    onCorrupt: (error) => log.error({ err: error }, 'subscription.unreadable'),
  })
  const redrives = new Redrives(redis)
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
    },
  })
  return {
    redis,
    async start(signal) {
      const onMisnamed = (error: Error) => log.error({ err: error }, 'redis.misnamed')
      await whenServerChecked({ redis, target: redisUrl, onProblem: onMisnamed, signal })
      const step = createStartSteps({ log, signal })
      await Promise.all([tasks.start(step), maintenance.start(step)])
    },
    async stop() {
      await Promise.all([tasks.stop(), maintenance.stop()])
      subscriber.disconnect()
      redis.disconnect()
      acksRedis.disconnect()
    },
  }
}
