/** The bottom layer: connections, Redis's clock, stores, and the reports of what these find. */
import { createRedisClock, openConnections, reportLeaseEnds, reportQuarantine } from '@fantail/runtime'
import {
  KeptUpkeep,
  Lanes,
  PushConsumerRecords,
  Quarantine,
  Queues,
  Redrives,
  StorageGuard,
  Subscriptions,
  UnreadableRecords,
} from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import type { RedriveServiceOptions } from './redrive-options.ts'

export type RedriveGround = ReturnType<typeof createRedriveGround>

export function createRedriveGround({
  redisUrl,
  minReplicas = 0,
  log,
  metrics = createMetrics(),
  keptMessagesShare: share = 0.1,
  redisMemoryBytes: memoryBytes,
}: RedriveServiceOptions) {
  const connections = openConnections({ redisUrl, name: 'fantail-redrive', minReplicas, log })
  const { redis, acks } = connections
  const clock = createRedisClock(redis)
  const reports = { metrics, log }
  const quarantine = new Quarantine(redis, { memoryBytes, acks, onTry: reportQuarantine(reports) })
  const unreadable = new UnreadableRecords(quarantine)
  return {
    connections,
    redis,
    acks,
    metrics,
    unreadable,
    queues: new Queues(redis, {
      onProblem: (error) => log.warn({ err: error }, 'queue.move_postponed'),
      onLeaseEnd: reportLeaseEnds(reports),
      onUnreadable: unreadable.report,
      quarantine,
      acks,
    }),
    subscriptions: new Subscriptions(redis, {
      onUnreadable: (error) => log.error({ err: error }, 'subscription.unreadable'),
    }),
    kept: new KeptUpkeep({
      redis,
      share,
      memoryBytes,
      onProblem: (error) => log.debug({ err: error }, 'kept_messages.check_failed'),
    }),
    redrives: new Redrives(redis),
    pushConsumers: new PushConsumerRecords(redis, { onUnreadable: unreadable.report }),
    lanes: new Lanes(redis, acks),
    clock,
    storageGuard: new StorageGuard({ redis, memoryBytes }),
  }
}
