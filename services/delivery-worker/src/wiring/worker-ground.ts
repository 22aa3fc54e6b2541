/** The bottom layer: connections, stores, clocks, counters, and the classes that write results of attempts to Redis. */
import { RECORDING_DEFAULT } from '@fantail/contracts'
import { bodySealsOf } from '@fantail/delivery'
import { createStateLog, openConnections, reportQuarantine } from '@fantail/runtime'
import {
  AttemptRecorder,
  AttemptStore,
  type BodySeals,
  Counts,
  Credentials,
  FifoReading,
  Idempotency,
  IsolatedMessages,
  KeptMessages,
  KeptUpkeep,
  keyHolderName,
  Lanes,
  LiveSender,
  type NewEntry,
  OutcomeLog,
  passingTime,
  Quarantine,
  Queues,
  type Redis,
  type ReplicaAcks,
  ServerMarks,
  Snapshots,
  StatsCounter,
  StatsStore,
  StorageGuard,
  Subscriptions,
  TopicQueues,
} from '@fantail/store'
import { QueueCounter } from '@fantail/telemetry'
import { createWorkerMetrics } from '../attempts/worker-metrics.ts'
import { BodyBytes } from '../bodies/body-bytes.ts'
import { AttemptSlots } from '../capacity/attempt-slots.ts'
import { FreedCapacity } from '../capacity/freed-capacity.ts'
import { createShardClocks } from '../clocks/set-back-clocks.ts'
import { Recording } from '../reports/attempt-recording.ts'
import { MissingKeys } from '../reports/missing-keys.ts'
import { LanePacing } from '../settling/lane-pacing.ts'
import { Parking } from '../settling/parking.ts'
import { Settling } from '../settling/settling.ts'
import { SnapshotCache } from '../topics/snapshot-cache.ts'
import { createSigning } from './signing.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

export type Ground = ReturnType<typeof createGround> & Pick<DeliveryWorkerOptions, 'log'>

export function createGround(options: DeliveryWorkerOptions) {
  const { redisUrl, log, minReplicas = 0, telemetry, mode = 'server' } = options
  const mainName = keyHolderName('worker', options.vault?.keyIds)
  const connections = openConnections({ redisUrl, name: 'fantail-worker', mainName, minReplicas, log })
  const { redis, subscriber, acks } = connections
  const seals: BodySeals = bodySealsOf(options.vault, { all: options.seal === 'all' })
  const stores = createWorkerStores(redis, acks, { ...options, seals })
  const { lanes } = stores
  const clocks = createShardClocks(redis, log)
  const now = (at?: number) => clocks.now(at)
  const onFlush = createStateLog({ log, what: 'stats', initial: 'up' })
  const stats = new StatsCounter({ store: new StatsStore(redis), now, onFlush })
  const freed = new FreedCapacity()
  const due = new DueShards()
  const attemptRecorder = new AttemptRecorder({
    store: new AttemptStore(redis),
    bytesMax: options.attemptRecordBytes ?? 0,
    now,
    onWrite: createStateLog({ log, what: 'attempt_records', initial: 'up' }),
  })
  return {
    connections,
    redis,
    subscriber,
    servers: new ServerMarks([redis, acks.redis]),
    seals,
    stores,
    lanes,
    queues: stores.queues,
    snapshots: stores.snapshots,
    quarantine: stores.quarantine,
    storageGuard: stores.storageGuard,
    clocks,
    now,
    stats,
    metrics: createWorkerMetrics(telemetry.metrics, now, stats),
    locked: new MissingKeys({ log, metrics: telemetry.metrics }),
    spans: telemetry.spans,
    slots: new AttemptSlots({
      attemptsMax: options.attemptsMax,
      now: () => passingTime.now(),
      roundTripMs: () => clocks.last.roundTripMs,
    }),
    freed,
    bytes: new BodyBytes({ bytesMax: options.bodyBytesMax, freed }),
    due,
    parking: new Parking(lanes, log, due.report),
    settling: new Settling(lanes, log, due.report),
    pacing: new LanePacing(lanes, log, due.report),
    live: new LiveSender(redis),
    attemptRecorder,
    recording: new Recording({
      recorder: attemptRecorder,
      standard: RECORDING_DEFAULT,
      bodiesFromAnywhere: mode === 'local',
      seals,
      now,
    }),
    signing: createSigning(redis, { ...options, vault: options.checkMasterKey ? options.vault : undefined }),
  }
}

const KEPT_SHARE_DEFAULT = 0.1

function createWorkerStores(
  redis: Redis,
  acks: ReplicaAcks,
  options: DeliveryWorkerOptions & { seals: BodySeals },
) {
  const { log, dispatchQueues: queueCount, logMessages: entriesMax, redisMemoryBytes: memoryBytes } = options
  const lanes = new Lanes(redis, acks)
  const stored = new Snapshots(redis, {
    onUnreadable: (error) => log.error({ err: error }, 'subscription.unreadable'),
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
    queues: new Queues(redis, { use, acks, quarantine, seals: options.seals }),
    topicQueues: new TopicQueues({ acks, use, seals: options.seals }),
    counts: new Counts(redis),
    credentials: new Credentials(redis, { probeEveryMs: options.credentialProbeMs }),
    /** Puts data into the quarantine. A call may be repeated. */
    quarantine: (entry: NewEntry) => quarantine.add(entry),
    storageGuard: new StorageGuard({ redis, memoryBytes }),
    kept: new KeptMessages(redis, acks),
    keptUpkeep: new KeptUpkeep({
      redis,
      share: options.keptMessagesShare ?? KEPT_SHARE_DEFAULT,
      memoryBytes,
      onProblem: (error) => log.debug({ err: error }, 'kept_messages.check_failed'),
    }),
    isolated: new IsolatedMessages(redis),
    fifoReading: new FifoReading(redis),
    idempotency: new Idempotency(redis, { acks, queues: queueCount }),
  }
}

/** `at`: when the shard next has a due delivery, in epoch ms by Redis's clock. null: nothing is due. */
type OnDue = (shard: number, at: number | null) => void

/** Passes reports of due shards to the lane loop, which is built later than the classes that report. */
class DueShards {
  #listener: OnDue | undefined

  /** Earlier reports are dropped, because the loop looks at every shard when it starts. */
  notify(listener: OnDue): void {
    this.#listener = listener
  }

  readonly report: OnDue = (shard, at) => this.#listener?.(shard, at)
}
