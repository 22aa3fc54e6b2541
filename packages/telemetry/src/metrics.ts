/** The metrics of a process: its instruments, the sources of its gauges, and the metrics that it exports. */
import { type AwsInstruments, type CounterView, createAwsInstruments, snsViews } from './aws-metrics.ts'
import { createInstruments, type Instruments } from './fantail-metrics.ts'
import {
  type FifoLogSource,
  type LaneSource,
  type QuarantineSource,
  refreshed,
  type StorageSource,
  showFifoLogs,
  showLanes,
  showQuarantine,
  showStorage,
} from './observed-gauges.ts'

interface BuildObservation {
  version: string
  commit: string
  /** ISO 8601. */
  startedAt: string
}

export interface Metrics extends Instruments, AwsInstruments {
  /** Sets the source of the gauges of lanes. If it fails, these gauges are missing from that scrape. */
  observeLanes(source: LaneSource): void
  observeFifoLogs(source: FifoLogSource): void
  /** Sets the source of the gauges of the quarantine. */
  observeQuarantine(source: QuarantineSource): void
  /** Sets the source of the gauges of Redis. */
  observeStorage(source: StorageSource): void
  showBuild(build: BuildObservation): void
  /** Sets the source of the gauges of queues. It is never called if AWS's metrics are not shown. */
  observeQueues(source: QueueSource): void
  /** Updates the gauges. Rejects with the error of a source that failed. */
  refresh(): Promise<void>
  /** The exported instruments. */
  instruments(): Instruments & Partial<AwsInstruments>
  /** Counters that are also exported under another name. */
  views(): CounterView[]
}

/**
 * The metrics of a process. They need no SDK, so code can count before telemetry has started, and in tests. `aws`:
 * whether the metrics of SNS and SQS are shown too.
 */
export function createMetrics({ aws = true }: { aws?: boolean } = {}): Metrics {
  const [instruments, awsInstruments] = [createInstruments(), createAwsInstruments()]
  const shown = { ...instruments, ...(aws && awsInstruments) }
  const views = aws ? snsViews(instruments) : []
  let lanes: LaneSource = async () => []
  let logs: FifoLogSource = async () => []
  let queues: QueueSource = async () => []
  let quarantine: QuarantineSource | undefined
  const refreshLanes = () => refreshed(lanes, (observed) => showLanes(instruments, observed))
  const refreshLogs = () => refreshed(logs, (observed) => showFifoLogs(instruments, observed))
  const refreshQuarantine = () =>
    refreshed(
      async () => (quarantine ? [await quarantine()] : []),
      (observed) => showQuarantine(instruments, observed),
    )
  let storage: StorageSource | undefined
  const refreshStorage = async () => {
    const { read, possible } = storage ?? { possible: [] }
    await refreshed(
      async () => (read ? [await read()] : []),
      (observed) => showStorage(instruments, observed, possible),
    )
  }
  const refreshQueues = () => refreshed(queues, (observed) => showQueues(awsInstruments, observed))
  return {
    ...instruments,
    ...awsInstruments,
    observeLanes(source) {
      lanes = source
    },
    observeFifoLogs(source) {
      logs = source
    },
    observeQuarantine(source) {
      quarantine = source
    },
    observeStorage(source) {
      storage = source
    },
    showBuild({ version, commit, startedAt }) {
      instruments.buildInfo.set({ version, commit }, 1)
      instruments.startedSeconds.set({}, Date.parse(startedAt) / 1_000)
    },
    observeQueues(source) {
      queues = source
    },
    async refresh() {
      const results = await Promise.allSettled([
        refreshLanes(),
        refreshLogs(),
        refreshQuarantine(),
        refreshStorage(),
        aws ? refreshQueues() : undefined,
      ])
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },
    instruments: () => shown,
    views: () => views,
  }
}

/** The gauges of queues in a scrape, by CloudWatch's names. */
export interface QueueObservation {
  /** The queue's name. Equal names in several accounts and regions are added up. */
  queue: string
  visible: number
  inFlight: number
  delayed: number
  /** null if nothing waits. */
  oldestSeconds: number | null
  /** FIFO: message groups in flight. */
  groupsInFlight?: number
  /** Standard queues with message groups. */
  groups?: { noisy: number; quietVisible: number; quietInFlight: number; quietOldestSeconds: number | null }
}

/** Called at every scrape. The source bounds the number of queues. */
export type QueueSource = () => Promise<QueueObservation[]>

function showQueues(instruments: AwsInstruments, observed: QueueObservation[]): void {
  const { queueVisible, queueNotVisible, queueDelayed, queueOldestSeconds, queueGroupsInFlight } = instruments
  const { queueNoisyGroups, quietVisible, quietNotVisible, quietOldestSeconds } = instruments
  const gauges = [queueVisible, queueNotVisible, queueDelayed, queueOldestSeconds, queueGroupsInFlight]
  gauges.push(queueNoisyGroups, quietVisible, quietNotVisible, quietOldestSeconds)
  for (const gauge of gauges) gauge.clear()
  for (const { queue, visible, inFlight, delayed, oldestSeconds, groupsInFlight, groups } of observed) {
    const labels = { QueueName: queue }
    queueVisible.of(labels).add(visible)
    queueNotVisible.of(labels).add(inFlight)
    queueDelayed.of(labels).add(delayed)
    if (groupsInFlight !== undefined) queueGroupsInFlight.of(labels).add(groupsInFlight)
    const oldest = queueOldestSeconds.of(labels)
    oldest.value = Math.max(oldest.value, oldestSeconds ?? 0)
    if (!groups) continue
    queueNoisyGroups.of(labels).add(groups.noisy)
    quietVisible.of(labels).add(groups.quietVisible)
    quietNotVisible.of(labels).add(groups.quietInFlight)
    const quiet = quietOldestSeconds.of(labels)
    quiet.value = Math.max(quiet.value, groups.quietOldestSeconds ?? 0)
  }
}
