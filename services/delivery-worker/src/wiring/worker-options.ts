/** Options of a worker: its settings, and the resources that its process opens. */
import type { RedisTarget } from '@fantail/contracts'
import type { Attempters, HttpSender, ProtocolSettings, SigningPair } from '@fantail/delivery'
import type { Telemetry as BullTelemetry } from '@fantail/jobs'
import type { KmsKeys, Organizations } from '@fantail/policy'
import type { Logger, TravelMode } from '@fantail/runtime'
import type { LetterShares } from '@fantail/store'
import type { Telemetry } from '@fantail/telemetry'
import type { Vault } from '@fantail/vault'

export interface DeliveryWorkerOptions {
  redisUrl: RedisTarget
  /** The mode of time travel. Absent: the start does not check whether the data's time was moved. */
  travel?: TravelMode
  /** Number of dispatch queues that publishers write to (FANTAIL_QUEUES). */
  dispatchQueues: number
  attemptsMax: number
  /** Limit of the bytes of messages that lanes' attempts hold. Default: BODY_BYTES_MAX. */
  bodyBytesMax?: number | undefined
  attemptTimeoutMs: number
  /** How much delays may vary: 0.1 means 0.9 to 1.1 times the nominal delay. */
  retryJitter: number
  maxRetrySeconds: number
  logMessages: number
  /** Percent of messages whose attempts are logged (FANTAIL_ATTEMPT_LINES). Default: 100. */
  attemptLines?: number
  /** Bytes that the recorded attempts of all subscriptions may take. Default: 0, and no attempt is recorded. */
  attemptRecordBytes?: number
  /** Default: server. */
  mode?: 'local' | 'server'
  /** Used instead of Redis's maxmemory if none is set (FANTAIL_REDIS_MEMORY_BYTES). */
  redisMemoryBytes?: number | undefined
  /** Shares of Redis's memory that topics' own dead-letter queues may fill; default 5 % each, 20 % together. */
  letterShares?: LetterShares | undefined
  /** Share of Redis's memory that the kept messages of topics may fill; default 10 %. */
  keptMessagesShare?: number | undefined
  /** How many replicas must hold a parked delivery or an appended message before its source is deleted. Default: 0. */
  minReplicas?: number
  /** For policies of queues (FANTAIL_ORGANIZATIONS). */
  organizations?: Organizations
  /** Keys that queues may name (FANTAIL_KMS_KEYS). */
  kmsKeys?: KmsKeys | undefined
  publicUrl?: string | undefined
  /** User agent of requests to native subscriptions (FANTAIL_USER_AGENT). */
  userAgent?: string | undefined
  /** The operator's own signing key and certificate. Absent: the pair that Redis stores. */
  signingPair?: SigningPair | undefined
  /** Attempters that replace the usual ones of these protocols. */
  attempters?: Partial<Attempters>
  /** Settings of protocols. Default: none. */
  protocolSettings?: ProtocolSettings
  /** Time between two probes of a broken credential; a minute by default. */
  credentialProbeMs?: number
  sender: Pick<HttpSender, 'send' | 'openAhead' | 'dial' | 'close'>
  /** Opens the secrets of endpoints. undefined: there is no master key. */
  vault?: Vault | undefined
  /** Which messages are sealed; default: those of topics and queues that ask for it. */
  seal?: 'asked' | 'all'
  /**
   * True if all processes share the key of the vault. `start` then rejects if secrets are sealed with another key, and
   * the signing key is sealed.
   */
  checkMasterKey?: boolean
  telemetry: Pick<Telemetry, 'metrics' | 'spans' | 'logs'>
  /** BullMQ's own spans, if traces are exported. */
  bullTelemetry?: BullTelemetry | undefined
  log: Logger
}
