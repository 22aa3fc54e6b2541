import type { RedisTarget } from '@fantail/contracts'
import type { openBlockStore } from '@fantail/delivery'
import type { Telemetry } from '@fantail/jobs'
import type { Logger, ReportsTo, TravelMode } from '@fantail/runtime'
import type { BodySeals } from '@fantail/store'
import type { Metrics } from '@fantail/telemetry'

export interface RedriveServiceOptions {
  redisUrl: RedisTarget
  /** How many replicas must hold a moved message before its source is deleted. Default: 0. */
  minReplicas?: number
  log: Logger
  telemetry?: Telemetry | undefined
  /** Default: the service makes its own. */
  metrics?: Pick<Metrics, 'archivedMessages' | 'redrivenMessages'> & ReportsTo['metrics']
  /** Number of dispatch queues, which have the streams of the outcome log. Default: 1. */
  queues?: number
  /** Entries of the outcome log. Default: 0, it is not written. */
  logMessages?: number
  /** Share of Redis's memory that the kept messages of topics may fill; default 10 %. */
  keptMessagesShare?: number | undefined
  /** Used instead of Redis's maxmemory if none is set. */
  redisMemoryBytes?: number | undefined
  /** Where the blocks of archives are. Absent: archives are neither written nor read. */
  archive?: string | undefined
  /** For a bucket of archives whose URL has none. */
  awsClientCredentials?: Parameters<typeof openBlockStore>[0]['credentials']
  /** Between sweeps; a minute. */
  sweepEveryMs?: number
  /** Opens sealed messages, for filters only: redrives move them as they are. Default: there is no key. */
  seals?: BodySeals
  /** The mode of time travel. Absent: the start does not check whether the data's time was moved. */
  travel?: TravelMode
}
