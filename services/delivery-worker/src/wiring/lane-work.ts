/** The layer of deliveries that wait: lanes and their claims, logs of FIFO topics, and the sweep of old deliveries. */
import { inOneWrite, shardsInUse, takeRole } from '@fantail/store'
import { LaneBatches } from '../batches/lane-batches.ts'
import { LaneBodies } from '../bodies/lane-bodies.ts'
import { ClaimAttempts } from '../claims/claim-attempts.ts'
import { Renewals } from '../claims/renewals.ts'
import { LogReaders } from '../fifo/log-readers.ts'
import { LaneLoop } from '../lanes/lane-loop.ts'
import { createRetentionSweep, type RetentionSweep } from '../lanes/retention-sweep.ts'
import type { Dispatching } from './dispatching.ts'
import type { Ending } from './ending.ts'
import type { Attempting } from './worker-attempting.ts'
import type { Ground } from './worker-ground.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

const SWEEP_ROLE_MS = 50_000

export function createLaneWork(
  below: Ground & Attempting & Ending & Dispatching,
  { attemptTimeoutMs, travel }: DeliveryWorkerOptions,
) {
  const { redis, lanes, links, seals, stores, clocks, due, consumers, log } = below
  const bodies = new LaneBodies(lanes, links, seals)
  const renewals = new Renewals({ lanes, attemptTimeoutMs, log })
  const isConnected = () => redis.status === 'ready'
  const claimAttempts = new ClaimAttempts({ ...below, renewals, isConnected })
  const batches = new LaneBatches({ ...below, renewals, attemptTimeoutMs })
  // Time travel moves the times of claims too, so their send times stay valid.
  const setForward = () => claimAttempts.setForward()
  if (travel?.timeTravel !== 'on') clocks.onSetForward = setForward
  const readers = new LogReaders({ ...below, reading: stores.fifoReading, bodies, onDue: due.report })
  const laneLoop = new LaneLoop({
    ...below,
    bodies,
    claimAttempts,
    batches,
    readers,
    attemptTimeoutMs,
    inOneWrite: (ask) => inOneWrite(redis, ask),
    onPoll: () => consumers.watch(),
  })
  due.notify((shard, at) => laneLoop.dueAt(shard, at))
  const sweep: RetentionSweep = createRetentionSweep({
    lanes,
    log,
    clocks,
    beginClaims: (shard, result) => laneLoop.beginClaims(shard, result, performance.now()),
    inOneWrite: (ask) => inOneWrite(redis, ask),
    shards: () => shardsInUse(redis),
    isLeader: () => takeRole(redis, 'retention-sweep', SWEEP_ROLE_MS),
  })
  return { claimAttempts, batches, readers, laneLoop, sweep }
}
