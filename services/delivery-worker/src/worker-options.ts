/** Options of a worker: its settings, and the resources that its process opens. */
import type { RedisTarget } from '@fantail/contracts'
import type { HttpSender, KindSettings, SigningPair } from '@fantail/delivery'
import type { Telemetry as BullTelemetry } from '@fantail/jobs'
import type { Logger } from '@fantail/runtime'
import type { LetterShares } from '@fantail/store'
import type { Telemetry } from '@fantail/telemetry'
import type { Vault } from '@fantail/vault'

export interface DeliveryWorkerOptions {
  redisUrl: RedisTarget
  /** Dispatch queues that publishers write to (FANTAIL_QUEUES). */
  queues: number
  attemptsMax: number
  /** Limit of the messages that lanes' attempts hold; default BODY_BYTES_MAX. */
  bodyBytesMax?: number | undefined
  attemptTimeoutMs: number
  /** Half width of the band that delays are spread over. */
  retryJitter: number
  maxRetrySeconds: number
  logMessages: number
  /** Stands for Redis's maxmemory where it has none (FANTAIL_REDIS_MEMORY_BYTES). */
  redisMemoryBytes?: number | undefined
  /** Shares of Redis's memory that topics' own dead-letter queues may fill; default 5 % each, 20 % together. */
  letterShares?: LetterShares | undefined
  /** Replicas that must hold what is parked or appended before its source is forgotten; default 0. */
  minReplicas?: number
  publicUrl?: string | undefined
  /** User agent of requests to native subscriptions (FANTAIL_USER_AGENT). */
  userAgent?: string | undefined
  /** An operator's own; else the one that is kept in Redis. */
  signingPair?: SigningPair | undefined
  /** Settings of endpoint kinds; default: none. */
  kinds?: KindSettings
  sender: Pick<HttpSender, 'send' | 'openAhead' | 'close'>
  /** Opens the secrets of endpoints; undefined: there is no master key. */
  vault?: Vault | undefined
  /**
   * The vault's key is all processes' own: `start` rejects if secrets are sealed with another, and the signing key
   * is sealed.
   */
  checkMasterKey?: boolean
  telemetry: Pick<Telemetry, 'metrics' | 'spans' | 'logs'>
  /** BullMQ's own spans, where traces are exported. */
  bullTelemetry?: BullTelemetry | undefined
  log: Logger
}
