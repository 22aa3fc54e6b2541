/**
 * The API's dependencies: stores, publisher and settings, each with the methods that it uses. `server/wiring/` connects
 * them.
 */
import type { ApiSettings } from '@fantail/config'
import type { SubscriptionRecord } from '@fantail/contracts'
import type { AddressGuard, Attempters, EnvelopeSigning } from '@fantail/delivery'
import type { Publisher } from '@fantail/jobs'
import type { AuditFile, Build, Checks } from '@fantail/runtime'
import type {
  ApiKeys,
  ArchiveFigures,
  AttemptStore,
  AuditReader,
  AuditWriter,
  BodySeals,
  BulkTasks,
  ConfirmationLimits,
  Counts,
  Erasure,
  EventTypes,
  FifoLog,
  Idempotency,
  KeptMessages,
  KeptSearch,
  KeptUpkeep,
  Lanes,
  LinkKey,
  LiveSender,
  OutcomeLog,
  OutcomeReader,
  OutcomeSearch,
  PlatformApplications,
  PlatformEndpoints,
  PortalSessions,
  Processes,
  PushConsumerRecords,
  Quarantine,
  Queues,
  QueueWaits,
  Quotas,
  Redrives,
  SandboxNumbers,
  Sessions,
  SigningKeys,
  SmsState,
  StatsStore,
  StorageGuard,
  StorageHealthReader,
  Subscriptions,
  Suppressions,
  TopicQueues,
  Topics,
  Totals,
} from '@fantail/store'
import type { Metrics, Spans } from '@fantail/telemetry'
import type { Vault } from '@fantail/vault'
import type { KeyCache, PortalCache, SessionCache } from '../caches/caller-caches.ts'
import type { LeaseRenewals } from '../caches/lease-renewals.ts'
import type { QuotaWatch } from '../caches/quota-watch.ts'
import type { RateLimits } from '../caches/rate-limits.ts'
import type { SharedRead } from '../caches/shared-read.ts'
import type { QueueCache, TopicCache } from '../caches/topic-cache.ts'
import type { EventTypeChecks } from '../event-types/event-type-checks.ts'
import type { SchemaCompiler } from '../event-types/schema-compiler.ts'
import type { EventListeners } from '../events/event-listeners.ts'
import type { Log } from '../http/log.ts'
import type { LaneBoard } from '../lanes/lane-board.ts'
import type { Names } from '../names/names.ts'
import type { PublishCounts, StatsReads } from '../stats/stats-reads.ts'
import type { ApiTravel } from '../travel/api-travel.ts'

/** The public methods of a class, so that a test may use a simpler object. */
type Methods<T> = Pick<T, keyof T>

export type Settings = Pick<
  ApiSettings,
  | 'organizations'
  | 'archive'
  | 'arn'
  | 'auth'
  | 'awsCredentials'
  | 'console'
  | 'corsOrigins'
  | 'emailConfirmOnGet'
  | 'fifoHttp'
  | 'hosts'
  | 'kmsKeys'
  | 'maxRetrySeconds'
  | 'smsMonthUsd'
  | 'mode'
  | 'openMetrics'
  | 'portalOrigins'
  | 'port'
  | 'publicUrl'
  | 'retryJitter'
  | 'sqsDeleteCooldownSeconds'
  | 'timeTravel'
  | 'tlsCertFile'
  | 'trustedProxies'
  | 'unsignedUnsubscribe'
  | 'userAgent'
>

export interface ApiDeps {
  topics: Methods<Topics>
  /** null: the topic has no archive. */
  archiveFigures(topic: { arn: string; uid: string }): Promise<ArchiveFigures | null>
  topicCache: Methods<TopicCache>
  eventTypes: Methods<EventTypes>
  /** Compiles schemas of event types in a thread. */
  schemaCompiler: Methods<SchemaCompiler>
  eventTypeChecks: Methods<EventTypeChecks>
  topicQueues: Pick<TopicQueues, 'find'>
  subscriptions: Methods<Subscriptions>
  confirmationLimits: Methods<ConfirmationLimits>
  /** Asks the new endpoint of a moving subscription to confirm. */
  moveQuestions: { ask(record: SubscriptionRecord, publicUrl: string): Promise<void> }
  /** Addresses that get no mail. */
  suppressions: Methods<Suppressions>
  platformApplications: Methods<PlatformApplications>
  platformEndpoints: Methods<PlatformEndpoints>
  /** Attributes, opted-out numbers and spend of text messages. */
  sms: Methods<SmsState>
  sandboxNumbers: Methods<SandboxNumbers>
  /** Signs links to unsubscribe in mails. */
  linkKey: Pick<LinkKey, 'get'>
  lanes: Pick<
    Lanes,
    'park' | 'deliveryStates' | 'parkRedriven' | 'figures' | 'retryNow' | 'releaseDead' | 'purge' | 'setAside'
  >
  laneBoard: Methods<LaneBoard>
  totals: Pick<SharedRead<Totals>, 'get'>
  processes: Pick<SharedRead<Awaited<ReturnType<Processes['list']>>>, 'get'>
  publishCounts: Pick<PublishCounts, 'add'>
  stats: Methods<StatsReads>
  statsStore: Pick<StatsStore, 'erase'>
  queues: Methods<Queues>
  queueCache: Methods<QueueCache>
  pushConsumers: Pick<PushConsumerRecords, 'put' | 'patch' | 'delete' | 'of' | 'get'>
  queueWaits: Pick<QueueWaits, 'receiveWaiting'>
  leaseRenewals: Methods<LeaseRenewals>
  redrives: Methods<Redrives>
  bulk: Methods<BulkTasks>
  /** Erases what remains of a customer who leaves. */
  erasure: Methods<Erasure>
  /** Removes what rings of deleted topics have left. */
  keptUpkeep: Pick<KeptUpkeep, 'sweep'>
  /** Looks for bulk tasks that nobody works on. */
  bulkRunner: { wake(): void }
  events: Pick<EventListeners, 'open'>
  /** Finds the position in the outcome log at which a listener begins. */
  outcomeReader: Pick<OutcomeReader, 'since'>
  /** Sends events about published messages to the listeners of all processes. */
  live: Pick<LiveSender, 'on' | 'send' | 'leavesOut'>
  outcomes: Pick<OutcomeLog, 'message' | 'deliveries' | 'append'>
  outcomeSearch: Pick<OutcomeSearch, 'find'>
  attempts: Pick<AttemptStore, 'read' | 'drop'>
  quarantine: Pick<Quarantine, 'list' | 'get' | 'raw' | 'messageIds' | 'mark' | 'remove'>
  /** The rings of messages that topics keep. */
  kept: Pick<KeptMessages, 'read' | 'topicOf' | 'waiting' | 'page'>
  keptSearch: Pick<KeptSearch, 'search'>
  names: Pick<SharedRead<Names>, 'get'>
  counts: Pick<Counts, 'add' | 'read'>
  publisher: Pick<Publisher, 'publish'>
  fifoLog: Methods<FifoLog>
  idempotency: Methods<Idempotency>
  storageGuard: Pick<StorageGuard, 'admit'>
  /** Has the same lists as the guard that checks attempts. */
  addressGuard: Pick<AddressGuard, 'refusalBeforehand' | 'refusalThroughProxy'>
  /** For `/test`, which makes attempts outside of lanes. */
  attempters: Attempters
  /** Signs attempts of `/test` if the topic signs. */
  signing: Pick<EnvelopeSigning, 'prepare'>
  /** Certificates with which subscribers verify signatures. */
  certificates: Pick<SigningKeys, 'certificate'>
  keys: Methods<ApiKeys>
  keyCache: Methods<KeyCache>
  rateLimits: Methods<RateLimits>
  quotas: Methods<Quotas>
  quotaWatch: Methods<QuotaWatch>
  /** Approximate bytes of each topic's messages, by ARN. */
  storedBytes: Pick<SharedRead<Map<string, number>>, 'get'>
  sessions: Methods<Sessions>
  sessionCache: Methods<SessionCache>
  portalSessions: Methods<PortalSessions>
  portalCache: Methods<PortalCache>
  /** Gets every line of the audit log. */
  auditFile?: AuditFile | undefined
  auditWriter: Pick<AuditWriter, 'add'>
  auditReader: Pick<AuditReader, 'find'>
  /** undefined: there is no master key, so no secret can be stored. */
  vault: Vault | undefined
  /** Seals and opens messages. Without a master key it throws. */
  seals: BodySeals
  /** The checks of `/readyz`, by name. */
  checks: Checks
  /** Problems of a Redis that answers, for `/readyz`. */
  health: Pick<StorageHealthReader, 'degradations'>
  build: Build
  settings: Settings
  /** The built console. Absent: the folder of its package. */
  consoleFolder?: string
  log: Log
  /** Records settings of AWS clients that have no effect. */
  withoutEffect: {
    note(kind: 'topic' | 'queue' | 'subscription', arn: string, given: Record<string, string>): void
  }
  metrics: Pick<
    Metrics,
    'messagesPublished' | 'publishBytes' | 'publishSizeBytes' | 'httpRequestSeconds' | 'eventTypeFindings'
  >
  /** The text of a Prometheus scrape. */
  renderMetrics: () => Promise<string>
  spans: Pick<Spans, 'on' | 'start'>
  /** Moves the time, with FANTAIL_TIME_TRAVEL. */
  travel: Pick<ApiTravel, 'advance'>
  /** Epoch ms. */
  clock: () => number
}
