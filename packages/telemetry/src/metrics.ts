/** The metrics of a process: what is counted, where gauges come from, and what is shown. */
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
import { type QueueSource, showQueues } from './queue-gauges.ts'

interface BuildObservation {
  version: string
  commit: string
  /** ISO 8601. */
  startedAt: string
}

export interface Metrics extends Instruments, AwsInstruments {
  /** Where the gauges of lanes come from. A source that fails leaves them out of that scrape. */
  observeLanes(source: LaneSource): void
  /** And those of the logs of FIFO topics. */
  observeFifoLogs(source: FifoLogSource): void
  /** And those of the quarantine. */
  observeQuarantine(source: QuarantineSource): void
  /** And those of Redis. */
  observeStorage(source: StorageSource): void
  showBuild(build: BuildObservation): void
  /** And those of queues; never asked where AWS's metrics are not shown. */
  observeQueues(source: QueueSource): void
  /** Brings the gauges up to date; rejects with what kept a source from answering. */
  refresh(): Promise<void>
  /** The exported instruments. */
  instruments(): Instruments & Partial<AwsInstruments>
  /** Counters exported a second time under another name. */
  views(): CounterView[]
}

/**
 * One set per process. It needs no SDK, so that parts can count before telemetry has started and in tests. `aws`:
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
