/** The bottom layer: connections, the publisher, the sender of requests, clocks, and the health of the storage. */
import { bodySealsOf, createHttpSender } from '@fantail/delivery'
import { createPublisher } from '@fantail/jobs'
import { createRedisClock, createStateLog, openConnections, type RedisClock } from '@fantail/runtime'
import {
  countDueDeliveries,
  DATA_RISKS,
  keyHolderName,
  ReplicaWatch,
  Snapshots,
  StorageHealthReader,
} from '@fantail/store'
import { QueueCounter } from '@fantail/telemetry'
import { ApiTravel } from '../../travel/api-travel.ts'
import type { PublishApiOptions } from './api-options.ts'

export type ApiGround = ReturnType<typeof createApiGround>

export function createApiGround({ settings, redisUrl, vault, log, telemetry }: PublishApiOptions) {
  const { mode, minReplicas, queues, redisMemoryBytes: memoryBytes } = settings
  const connections = openConnections({
    redisUrl,
    name: 'fantail-api',
    mainName: keyHolderName('api', vault?.keyIds),
    minReplicas,
    strict: true,
    log,
  })
  const { redis } = connections
  const onUnreadable = (error: Error) => log.error({ err: error }, 'record.unreadable')
  const published = new ReplicaWatch(createStateLog({ log, what: 'publish_replicas', initial: 'up' }))
  const publisher = createPublisher({ url: redisUrl, queues, minReplicas, onReplicas: published.onWait })
  const redisClock: RedisClock = createRedisClock(redis)
  const guarded = {
    allowPrivate: settings.allowPrivateEndpoints,
    allow: settings.outboundAllow ?? [],
    deny: settings.outboundDeny ?? [],
  }
  const sender = createHttpSender({ timeoutMs: settings.attemptTimeoutMs, ...guarded })
  const travel = new ApiTravel({ connections, settings, log })
  const health = new StorageHealthReader({
    redis,
    mode,
    minReplicas,
    missingReplicas: () => Math.max(published.missing, connections.replicas.missing),
    memoryBytes,
  })
  telemetry.metrics.observeStorage({
    read: async () => {
      const [storage, inLanes] = await Promise.all([health.read(), countDueDeliveries(redis)])
      return { ...storage, dueDeliveries: storage.dispatch.jobs + inLanes }
    },
    possible: DATA_RISKS,
  })
  return {
    connections,
    redis,
    onUnreadable,
    snapshots: new Snapshots(redis, { onUnreadable }),
    publisher,
    checkPublisher: async () => {
      if (!publisher.ready) throw new Error('cannot write to the dispatch queue')
    },
    redisClock,
    now: () => redisClock.now(),
    guarded,
    sender,
    travel,
    /** Counts the use of queues. */
    use: travel.watching(new QueueCounter(telemetry.metrics)),
    health,
    seals: bodySealsOf(vault, { all: settings.seal === 'all' }),
  }
}
