/** The stores of queues, their cache, and what waits for their messages. */
import { reportLeaseEnds, reportQuarantine } from '@fantail/runtime'
import { PushConsumerRecords, Quarantine, Queues, QueueWaits, TopicQueues } from '@fantail/store'
import { LeaseRenewals } from '../../caches/lease-renewals.ts'
import { QueueCache } from '../../caches/topic-cache.ts'
import type { ApiGround } from './api-ground.ts'
import type { PublishApiOptions } from './api-options.ts'
import type { Capacity } from './capacity.ts'

export function createQueueStores(
  { connections, redis, publisher, use, travel, seals }: ApiGround,
  { storageGuard: growth }: Capacity,
  { settings, log, telemetry }: PublishApiOptions,
) {
  const { subscriber, acks } = connections
  const reports = { metrics: telemetry.metrics, log }
  const quarantine = new Quarantine(redis, {
    memoryBytes: settings.redisMemoryBytes,
    acks,
    putBackOn: [acks.redis, ...publisher.connections],
    onTry: reportQuarantine(reports),
  })
  const queues: Queues = new Queues(redis, {
    use,
    seals,
    defaults: settings.arn,
    inFlightMax: settings.queueInFlightMax,
    acks,
    growth,
    // The cache reads the queues, so it is made after them.
    onChange: (arn) => queueCache.forget(arn),
    onProblem: (error) => log.warn({ err: error }, 'queue.move_postponed'),
    onLeaseEnd: reportLeaseEnds(reports),
    quarantine,
  })
  const queueCache = new QueueCache({ queues })
  return {
    quarantine,
    queues,
    queueCache,
    pushConsumers: new PushConsumerRecords(redis, { growth }),
    queueWaits: new QueueWaits({ queues, subscriber, use }),
    leaseRenewals: new LeaseRenewals(queues, (queue) => travel.leaseRenewed(queue)),
    topicQueues: new TopicQueues({ acks, seals }),
  }
}
