/** The ground floor: connections, stores, clocks and counters, and the writers of results that attempts stand on. */
import { RECORDING_DEFAULT } from '@fantail/contracts'
import { createStateLog, openConnections } from '@fantail/runtime'
import {
  AttemptRecorder,
  AttemptStore,
  keyHolderName,
  LiveSender,
  passingTime,
  ServerMarks,
  StatsCounter,
  StatsStore,
} from '@fantail/store'
import { Recording } from '../attempts/attempt-recording.ts'
import { AttemptSlots } from '../attempts/attempt-slots.ts'
import { BodyBytes } from '../attempts/body-bytes.ts'
import { FreedCapacity } from '../attempts/freed-capacity.ts'
import { createWorkerMetrics } from '../attempts/telemetry-metrics.ts'
import { createShardClocks } from '../clocks/set-back-clocks.ts'
import { DueShards } from '../settling/due-shards.ts'
import { LanePacing } from '../settling/lane-pacing.ts'
import { Parking } from '../settling/parking.ts'
import { Settling } from '../settling/settling.ts'
import { createSigning } from './worker-connections.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'
import { createWorkerStores } from './worker-stores.ts'

export type Ground = ReturnType<typeof createGround> & Pick<DeliveryWorkerOptions, 'log'>

export function createGround(options: DeliveryWorkerOptions) {
  const { redisUrl, log, minReplicas = 0, telemetry, mode = 'server' } = options
  const mainName = keyHolderName('worker', options.vault?.keyIds)
  const connections = openConnections({ redisUrl, name: 'fantail-worker', mainName, minReplicas, log })
  const { redis, subscriber, acks } = connections
  const stores = createWorkerStores(redis, acks, options)
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
    stores,
    lanes,
    queues: stores.queues,
    snapshots: stores.snapshots,
    quarantine: stores.quarantine,
    memory: stores.memory,
    clocks,
    now,
    stats,
    metrics: createWorkerMetrics(telemetry.metrics, now, stats),
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
      standard: RECORDING_DEFAULT[mode],
      bodiesFromAnywhere: mode === 'local',
      now,
    }),
    signing: createSigning(redis, { ...options, vault: options.checkMasterKey ? options.vault : undefined }),
  }
}
