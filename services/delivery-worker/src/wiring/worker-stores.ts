/** The stores of a worker in Redis. */
import { reportQuarantine } from '@fantail/runtime'
import {
  Counts,
  Credentials,
  FifoReading,
  Idempotency,
  IsolatedMessages,
  KeptMessages,
  KeptUpkeep,
  Lanes,
  type NewEntry,
  OutcomeLog,
  Quarantine,
  Queues,
  type Redis,
  type ReplicaAcks,
  Snapshots,
  StorageGuard,
  Subscriptions,
  TopicQueues,
} from '@fantail/store'
import { QueueCounter } from '@fantail/telemetry'
import { SnapshotCache } from '../topics/snapshot-cache.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

const KEPT_SHARE_DEFAULT = 0.1

export function createWorkerStores(redis: Redis, acks: ReplicaAcks, options: DeliveryWorkerOptions) {
  const { log, queues: queueCount, logMessages: entriesMax, redisMemoryBytes: memoryBytes } = options
  const lanes = new Lanes(redis, acks)
  const stored = new Snapshots(redis, {
    onCorrupt: (error) => log.error({ err: error }, 'subscription.unreadable'),
  })
  const use = new QueueCounter(options.telemetry.metrics)
  const { metrics } = options.telemetry
  const quarantine = new Quarantine(redis, { memoryBytes, acks, onTry: reportQuarantine({ metrics, log }) })
  metrics.observeQuarantine(() => quarantine.figures())
  return {
    lanes,
    subscriptions: new Subscriptions(redis),
    snapshots: new SnapshotCache(stored, (subscriptionId, error) =>
      log.error({ subscriptionId, err: error }, 'subscription.unusable'),
    ),
    outcomes: new OutcomeLog(redis, stored, lanes, { queues: queueCount, entriesMax }),
    queues: new Queues(redis, { use, acks, quarantine }),
    topicQueues: new TopicQueues({ acks, use }),
    counts: new Counts(redis),
    credentials: new Credentials(redis, { probeEveryMs: options.credentialProbeMs }),
    /** Puts data into the quarantine. A call may be repeated. */
    quarantine: (entry: NewEntry) => quarantine.add(entry),
    memory: new StorageGuard({ redis, memoryBytes }),
    kept: new KeptMessages(redis),
    keptUpkeep: new KeptUpkeep({
      redis,
      share: options.keptMessagesShare ?? KEPT_SHARE_DEFAULT,
      memoryBytes,
      onProblem: (error) => log.debug({ err: error }, 'kept_messages.unchecked'),
    }),
    isolated: new IsolatedMessages(redis),
    fifoReading: new FifoReading(redis),
    idempotency: new Idempotency(redis, { acks, queues: queueCount }),
  }
}
