/** Gauges whose values are read at every scrape: of lanes, FIFO logs, the quarantine and Redis. */
import type { Instruments } from './fantail-metrics.ts'

/** @limit Lanes that the gauges show. Past it: the lanes with fewer waiting deliveries are left out. */
const LANES_SHOWN_MAX = 1_000
export interface LaneObservation {
  /** The topic's name. */
  topic: string
  /** The subscription's id. */
  subscription: string
  waiting: number
  inFlight: number
  oldestSeconds: number | null
  /** null if unknown: the lane is paused, or its endpoint has accepted nothing lately. */
  drainSeconds: number | null
}

/** Called at every scrape. Returns the lanes with the most waiting deliveries, at most a thousand. */
export type LaneSource = () => Promise<LaneObservation[]>

export interface FifoLogObservation {
  /** The topic's name. Equal names in several accounts and regions are added up. */
  topic: string
  messages: number
  oldestSeconds: number
}

/** Called at every scrape. Returns the FIFO logs that are not empty. */
export type FifoLogSource = () => Promise<FifoLogObservation[]>

interface QuarantineObservation {
  entries: number
  bytes: number
  /** Past this size an entry is refused, and its data stays where it was found. */
  bytesMax: number
}

/** Read at every scrape. */
export type QuarantineSource = () => Promise<QuarantineObservation>

interface StorageObservation {
  memory: { usedBytes: number; limitBytes: number }
  watermarkBytes: number
  /** The risks that were found: settings of Redis that could lose accepted messages. */
  risks: readonly string[]
  /** Replicas of FANTAIL_MIN_REPLICAS that do not follow. */
  missingReplicas: number
  /** Dispatch jobs that no worker has fetched yet. */
  dispatch: { jobs: number; oldestSeconds: number }
  /** Deliveries that only a lack of workers holds back. */
  dueDeliveries: number
}

export interface StorageSource {
  /** Read at every scrape. */
  read: () => Promise<StorageObservation>
  /** Every risk that Fantail looks for. The gauge of a risk is 1 if Redis has the risk, else 0. */
  possible: readonly string[]
}

/**
 * Reads first and then shows the result synchronously. So a scrape cannot clear the gauges of another scrape at the
 * same time.
 */
export async function refreshed<T>(source: () => Promise<T[]>, show: (observed: T[]) => void): Promise<void> {
  try {
    show(await source())
  } catch (error) {
    show([])
    throw error
  }
}

export function showLanes(instruments: Instruments, observed: LaneObservation[]): void {
  const { lanesWaiting, lanesInFlight, lanesOldestSeconds, lanesDrainSeconds } = instruments
  for (const gauge of [lanesWaiting, lanesInFlight, lanesOldestSeconds, lanesDrainSeconds]) gauge.clear()
  const shown = observed.toSorted((a, b) => b.waiting - a.waiting).slice(0, LANES_SHOWN_MAX)
  for (const { topic, subscription, ...lane } of shown) {
    const labels = { topic, subscription }
    lanesWaiting.set(labels, lane.waiting)
    lanesInFlight.set(labels, lane.inFlight)
    if (lane.oldestSeconds !== null) lanesOldestSeconds.set(labels, lane.oldestSeconds)
    if (lane.drainSeconds !== null) lanesDrainSeconds.set(labels, lane.drainSeconds)
  }
}

export function showQuarantine(instruments: Instruments, observed: QuarantineObservation[]): void {
  const { quarantineEntries, quarantineBytes, quarantineBytesMax } = instruments
  for (const gauge of [quarantineEntries, quarantineBytes, quarantineBytesMax]) gauge.clear()
  for (const { entries, bytes, bytesMax } of observed) {
    quarantineEntries.set({}, entries)
    quarantineBytes.set({}, bytes)
    quarantineBytesMax.set({}, bytesMax)
  }
}

export function showStorage(
  instruments: Instruments,
  observed: StorageObservation[],
  possible: readonly string[],
): void {
  const { redisUsedBytes, redisLimitBytes, redisWatermarkBytes, redisDataRisks } = instruments
  const { redisMissingReplicas, dispatchJobs, dispatchOldestSeconds, dueDeliveries } = instruments
  const figures = [redisUsedBytes, redisLimitBytes, redisWatermarkBytes, redisMissingReplicas, dueDeliveries]
  for (const gauge of [...figures, redisDataRisks, dispatchJobs, dispatchOldestSeconds]) gauge.clear()
  for (const { memory, watermarkBytes, risks, missingReplicas, dispatch, ...due } of observed) {
    dueDeliveries.set({}, due.dueDeliveries)
    redisMissingReplicas.set({}, missingReplicas)
    dispatchJobs.set({}, dispatch.jobs)
    dispatchOldestSeconds.set({}, dispatch.oldestSeconds)
    redisUsedBytes.set({}, memory.usedBytes)
    redisLimitBytes.set({}, memory.limitBytes)
    redisWatermarkBytes.set({}, watermarkBytes)
    for (const risk of possible) redisDataRisks.set({ risk }, risks.includes(risk) ? 1 : 0)
  }
}

export function showFifoLogs(instruments: Instruments, observed: FifoLogObservation[]): void {
  const { fifoLogMessages, fifoLogOldestSeconds } = instruments
  for (const gauge of [fifoLogMessages, fifoLogOldestSeconds]) gauge.clear()
  for (const { topic, messages, oldestSeconds } of observed) {
    fifoLogMessages.of({ topic }).add(messages)
    const oldest = fifoLogOldestSeconds.of({ topic })
    oldest.value = Math.max(oldest.value, oldestSeconds)
  }
}
