/** Builds the API process: connections to Redis, stores on these, the app on the stores, and the server. */
import cluster from 'node:cluster'
import { type ApiSettings, redisTarget } from '@fantail/config'
import { isRedisCluster, KEY_COMMAND, type RedisTarget } from '@fantail/contracts'
import {
  bodySealsOf,
  closeAttempters,
  createAddressGuard,
  createHttpSender,
  createSigningPairs,
  EnvelopeSigning,
  SigningKey,
  type SigningPair,
} from '@fantail/delivery'
import { createPublisher, type Publisher } from '@fantail/jobs'
import {
  type AuditFile,
  type Build,
  type Checks,
  createLoop,
  createRedisClock,
  createStateLog,
  type Logger,
  openConnections,
  reportLeaseEnds,
  reportQuarantine,
  type ServiceConnections,
} from '@fantail/runtime'
import {
  ApiKeys,
  AttemptStore,
  AuditReader,
  AuditWriter,
  archiveFigures,
  BulkTasks,
  ConfirmationLimits,
  Consumers,
  Counts,
  countDueDeliveries,
  DATA_RISKS,
  Erasure,
  EventTypes,
  FifoLog,
  Idempotency,
  IsolatedMessages,
  KEPT_GIVE_WAY_SHARE,
  KeptMessages,
  KeptSearch,
  KeptUpkeep,
  KeyLimits,
  keyHolderName,
  LaneSurvey,
  Lanes,
  LinkKey,
  MailState,
  MobilePushState,
  OpenAlarms,
  OutcomeLog,
  OutcomeSearch,
  PlatformApplications,
  PlatformEndpoints,
  PortalSessions,
  Processes,
  passingTime,
  ping,
  Quarantine,
  Queues,
  type QueueUse,
  QueueWaits,
  Quotas,
  type Redis,
  Redrives,
  ReplicaWatch,
  readTopicBytes,
  readTotals,
  SandboxNumbers,
  Sessions,
  SigningKeys,
  SmsState,
  Snapshots,
  StatsCounter,
  StatsStore,
  StorageGuard,
  StorageHealthReader,
  StoredBytes,
  Subscriptions,
  Suppressions,
  TopicQueues,
  Topics,
  takeRole,
  VaultKeys,
  whenReady,
} from '@fantail/store'
import { QueueCounter, type Telemetry } from '@fantail/telemetry'
import type { Vault } from '@fantail/vault'
import { WithoutEffectLog } from '../aws/wire/without-effect.ts'
import { BulkRunner } from '../bulk/bulk-runner.ts'
import { AnnouncedChanges } from '../caches/announced-changes.ts'
import { KeyCache, PortalCache, SessionCache } from '../caches/caller-caches.ts'
import { LeaseRenewals } from '../caches/lease-renewals.ts'
import { QuotaWatch } from '../caches/quota-watch.ts'
import { RateLimits } from '../caches/rate-limits.ts'
import { SharedRead } from '../caches/shared-read.ts'
import { QueueCache, TopicCache } from '../caches/topic-cache.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { EventTypeChecks } from '../event-types/event-type-checks.ts'
import { SchemaCompiler } from '../event-types/schema-compiler.ts'
import { createEvents } from '../events/event-listeners.ts'
import { LaneBoard } from '../lanes/lane-board.ts'
import { EndpointEvents } from '../mobile-push/endpoint-events.ts'
import { readNames } from '../names/names.ts'
import { NoticeWatch } from '../notices/notice-watch.ts'
import { createQueueSource, createServiceNotes } from '../queues/queues-in-use.ts'
import { PublishCounts, StatsReads } from '../stats/stats-reads.ts'
import { MoveQuestions } from '../subscriptions/moves/move-questions.ts'
import { createTestAttempters } from '../subscriptions/test-attempt.ts'
import { ApiTravel } from '../time/api-travel.ts'
import { createApp } from './app.ts'
import { type ApiServer, listen, type Tls } from './server.ts'
import { checkStart, whenConnected } from './start-checks.ts'

/** Totals of topics, queues and dead letters may be this old. */
const TOTALS_FRESH_MS = 10_000
/** Bytes of topics may be this old, and up to 15 s if reading them takes long. */
const STORED_BYTES_FRESH_MS = 2_000
/** Names that are searched may be this old, and up to 15 s if reading them takes long. */
const NAMES_FRESH_MS = 2_000
/** The list of processes may be this old. */
const PROCESSES_FRESH_MS = 2_000

interface PublishApiOptions {
  settings: ApiSettings
  redisUrl: RedisTarget
  log: Logger
  telemetry: Omit<Telemetry, 'logs'>
  build: Build
  /** Serves https. */
  tls?: Tls | undefined
  /** An operator's own signing pair. Absent: the one that Redis stores. */
  signingPair?: SigningPair | undefined
  /** Where audit lines go. Absent: to the log. */
  auditFile?: AuditFile | undefined
  /** Seals secrets. Absent: requests with secrets are refused. */
  vault?: Vault | undefined
  /** Ends the process because of a problem that is found only when Redis answers. */
  fail: (error: unknown) => void
}

export interface PublishApi {
  redis: Redis
  checks: Checks
  /** The port that it listens on. Only valid after `start`. */
  readonly port: number
  /**
   * Listens at once. While Redis is unreachable it answers 503. Rejects if the port is taken, or if Redis is not of the
   * right kind, and with the UnusableDataError of `checkData`.
   */
  start(signal?: AbortSignal, checkData?: () => Promise<void>): Promise<void>
  /** Finishes the requests under way, then closes every connection. */
  stop(): Promise<void>
}

export function createPublishApi(options: PublishApiOptions): PublishApi {
  const { settings, redisUrl, log, telemetry } = options
  const connections = openConnections({
    redisUrl,
    name: 'fantail-api',
    mainName: keyHolderName('api', options.vault?.keyIds),
    minReplicas: settings.minReplicas,
    strict: true,
    log,
  })
  const { redis, subscriber } = connections
  const published = new ReplicaWatch(createStateLog({ log, what: 'publish_replicas', initial: 'up' }))
  const publisher = createPublisher({
    url: redisUrl,
    queues: settings.queues,
    minReplicas: settings.minReplicas,
    onReplicas: published.onWait,
  })
  const clock = createRedisClock(redis)
  const now = () => clock.now()
  const guarded = {
    allowPrivate: settings.allowPrivateEndpoints,
    allow: settings.outboundAllow ?? [],
    deny: settings.outboundDeny ?? [],
  }
  const sender = createHttpSender({ timeoutMs: settings.attemptTimeoutMs, ...guarded })
  const travel = new ApiTravel({ connections, settings, log })
  const use = travel.watching(new QueueCounter(telemetry.metrics))
  const { mode, minReplicas, redisMemoryBytes: memoryBytes } = settings
  const health = new StorageHealthReader({
    redis,
    mode,
    minReplicas,
    missingReplicas: () => Math.max(published.missing, connections.replicas.missing),
    memoryBytes,
  })
  telemetry.metrics.observeStorage({
    read: async () => {
      const [storage, inLanes] = await Promise.all([health.read(), countDueDeliveries(redis)])
      return { ...storage, dueDeliveries: storage.dispatch.jobs + inLanes }
    },
    possible: DATA_RISKS,
  })
  const stores = createStores(connections, { publisher, use, travel, now }, options)
  const attempters = createTestAttempters({
    sender,
    queues: stores.queues,
    organizations: settings.organizations,
    kmsKeys: settings.kmsKeys,
    vault: options.vault,
    clock: () => passingTime.realOf(now()),
    userAgent: settings.userAgent,
    kinds: settings,
    sms: stores.sms,
    mobilePush: new MobilePushState(redis, {
      onDisabled: ({ arn }) => log.info({ endpointArn: arn }, 'push.endpoint_disabled'),
      publishUpdated: ({ arn: endpointArn }, application) =>
        new EndpointEvents(deps).announce({
          type: 'EndpointUpdated',
          application,
          endpointArn,
          publicUrl: settings.publicUrl ?? `http://${settings.host}:${settings.port}`,
          requestId: 'test',
        }),
    }),
    mail: new MailState(redis, {
      clock: () => clock.now(),
      onProblem: (error) => log.warn({ err: error }, 'mail.unsuppressed'),
    }),
  })
  const statsStore = new StatsStore(redis)
  const onFlush = createStateLog({ log, what: 'stats', initial: 'up' })
  const statsCounter = new StatsCounter({ store: statsStore, now, onFlush })
  const onWrite = createStateLog({ log, what: 'audit', initial: 'up' })
  const auditWriter = new AuditWriter({ redis, now, onWrite })
  const signing = createSigning(redis, options)
  const moveQuestions = new MoveQuestions({ ...stores, ...signing, attempters, clock: now, settings, log })
  const { finder, ...events } = createEvents({
    ...connections,
    snapshots: new Snapshots(redis, { onCorrupt: (error) => log.error({ err: error }, 'record.unreadable') }),
    queues: settings.queues,
    logMessages: settings.logMessages,
    clock: now,
    log,
  })
  const checkPublisher = async () => assertReady(publisher.ready)
  const deps: ApiDeps = {
    ...stores,
    ...events,
    publisher,
    totals: new SharedRead(() => readTotals(redis, { memoryBytes }), { freshMs: TOTALS_FRESH_MS }),
    names: new SharedRead(() => readNames(stores), { freshMs: NAMES_FRESH_MS }),
    processes: new SharedRead(() => new Processes(redis).list(), { freshMs: PROCESSES_FRESH_MS }),
    laneBoard: new LaneBoard({
      survey: new LaneSurvey(redis),
      quarantine: stores.quarantine,
      attemptTimeoutMs: settings.attemptTimeoutMs,
      health,
      clock: now,
    }),
    publishCounts: new PublishCounts({ metrics: telemetry.metrics, statsCounter, clock: now }),
    auditFile: options.auditFile,
    auditWriter,
    auditReader: new AuditReader(redis),
    stats: new StatsReads({ store: statsStore, clock: now }),
    statsStore,
    moveQuestions,
    addressGuard: createAddressGuard(guarded),
    attempters,
    ...signing,
    ...createKeys(redis, options, { growth: stores.storageGuard, clock: now }),
    health,
    build: options.build,
    checks: { redis: () => ping(redis), publisher: checkPublisher },
    settings,
    log,
    withoutEffect: new WithoutEffectLog(log),
    metrics: telemetry.metrics,
    renderMetrics: () => telemetry.renderMetrics(),
    spans: telemetry.spans,
    travel,
    clock: now,
    bulkRunner: { wake: () => bulkRunner.wake() },
  }
  const bulkRunner = new BulkRunner(deps, log)
  const { queues } = deps
  telemetry.metrics.observeQueues(createQueueSource({ redis, queues, now }))
  const changes = new AnnouncedChanges({ subscriber, redis })
  changes.follow([
    deps.topicCache,
    deps.queueCache,
    deps.keyCache,
    deps.sessionCache,
    deps.portalCache,
    finder,
  ])
  // Sessions also end without an announcement.
  if (!isRedisCluster(redisUrl))
    for (const cache of [deps.topicCache, deps.queueCache, deps.keyCache]) cache.confirmBy(changes)
  const serviceNotes = createServiceNotes({ queues, log })
  const watch = new NoticeWatch(deps, {
    alarms: new OpenAlarms(redis),
    stats: statsStore,
    health,
    takeRole: (forMs) => takeRole(redis, 'notices', forMs),
    account: settings.arn.account,
    publicUrl: settings.publicUrl ?? `http://${settings.host}:${settings.port}`,
    failingMs: settings.noticeMinutes * 60_000,
  })
  const notices = createLoop({ name: 'notices', log, round: () => watch.round() })
  let server: ApiServer | undefined
  const stop = async () => {
    const noted = serviceNotes.stop()
    const told = notices.stop()
    await bulkRunner.stop()
    stores.queueWaits.close()
    moveQuestions.stop()
    await events.events.stop()
    await server?.close()
    events.live.stop()
    await told
    await Promise.all([publisher.close(), closeAttempters(attempters), deps.schemaCompiler.stop()])
    await sender.close()
    await noted
    await Promise.all([statsCounter.stop(), auditWriter.stop()])
    clock.stop()
    connections.disconnect()
  }
  const start = async (checkData = async () => {}) => {
    if (cluster.isWorker) await whenConnected(deps.checks)
    server = await listen(createApp(deps), { ...settings, tls: options.tls })
    const checkMasterKey = settings.mode === 'server' || settings.masterKey !== undefined
    await checkStart({
      connections,
      vault: options.vault,
      checkMasterKey,
      checkData,
      joinTravel: () => travel.join(stores),
      log,
      fail: options.fail,
    })
    log.info({ host: settings.host, port: server.port }, 'api.listening')
    serviceNotes.start()
    void notices.start()
    bulkRunner.start()
    if (settings.auth) void reportWithoutKeys(redis, deps, settings)
    if (settings.auth && settings.publicUrl === undefined) reportWithoutPublicUrl(log)
    if (settings.mode === 'server') reportWithoutTls(log, settings)
  }
  return {
    redis,
    checks: { publisher: checkPublisher },
    get port() {
      return server?.port ?? settings.port
    },
    start: (_signal, checkData) =>
      start(checkData).catch(async (error) => {
        await stop()
        throw error
      }),
    stop,
  }
}

/** Without a public URL, links in messages and links to certificates use the host that a caller has named. */
function reportWithoutPublicUrl(log: Logger): void {
  log.warn({ variable: 'FANTAIL_PUBLIC_URL' }, 'links.by_caller')
}

/** Without TLS here or at a proxy, keys and messages can be read on their way. */
function reportWithoutTls(log: Logger, { tlsCertFile, trustedProxies }: ApiSettings): void {
  if (tlsCertFile !== undefined || trustedProxies !== undefined) return
  log.warn({ variables: ['FANTAIL_TLS_CERT_FILE', 'FANTAIL_TRUSTED_PROXIES'] }, 'tls.none')
}

/** Without this line, a new server would refuse everybody and not say what to do. */
async function reportWithoutKeys(redis: Redis, { keys, log }: ApiDeps, settings: ApiSettings): Promise<void> {
  try {
    await whenReady(redis)
    if (settings.awsCredentials || (await keys.count()) > 0) return
    // Without a Redis in the settings, the command finds the Redis by the folder.
    const place = redisTarget(settings) ? '' : `FANTAIL_DATA_DIR=${settings.dataDir} `
    log.warn({ command: `${place}${KEY_COMMAND}` }, 'keys.none')
  } catch (error) {
    log.warn({ err: error }, 'keys.unread')
  }
}

function createSigning(redis: Redis, { signingPair: pair, settings, vault, log }: PublishApiOptions) {
  const certificates = new SigningKeys(redis)
  const onState = createStateLog({ log, what: 'signing', initial: 'up' })
  // A key that local mode has made seals nothing, because a worker with another data folder could not open it.
  const own = settings.masterKey && vault
  const pairs = createSigningPairs(certificates, {
    vault: own,
    beforeSealing: async () => own && new VaultKeys(redis).add(own.keyId),
    onUnsealed: () => log.warn({ command: 'fantail secrets reseal' }, 'signing.unsealed'),
  })
  return { certificates, signing: new EnvelopeSigning(new SigningKey({ pairs, pair, onState })) }
}

function createKeys(
  redis: Redis,
  { settings, vault, log }: PublishApiOptions,
  { growth, clock }: { growth: StorageGuard; clock: () => number },
) {
  const keys = new ApiKeys(redis, { growth })
  const sessions = new Sessions(redis, { growth })
  const portalSessions = new PortalSessions(redis, { growth })
  return {
    keys,
    sessions,
    sessionCache: new SessionCache({ sessions, clock }),
    portalSessions,
    portalCache: new PortalCache(portalSessions),
    keyCache: new KeyCache({ keys, vault, log }),
    rateLimits: new RateLimits({ limits: new KeyLimits(redis) }),
    vault,
    seals: bodySealsOf(vault, { all: settings.seal === 'all' }),
  }
}

interface StoreParts {
  publisher: Publisher
  use: QueueUse
  travel: ApiTravel
  now(): number
}

function createStores(
  { redis, subscriber, acks }: ServiceConnections,
  { publisher, use, travel, now }: StoreParts,
  { settings, log, telemetry, vault }: PublishApiOptions,
) {
  const seals = bodySealsOf(vault, { all: settings.seal === 'all' })
  const { arn: defaults, queues: queueCount, logMessages, redisMemoryBytes } = settings
  const onCorrupt = (error: Error) => log.error({ err: error }, 'record.unreadable')
  const keptUpkeep = new KeptUpkeep({
    redis,
    share: settings.keptMessagesShare,
    memoryBytes: redisMemoryBytes,
    onProblem: (error) => log.debug({ err: error }, 'kept_messages.unchecked'),
  })
  const growth = new StorageGuard({
    redis,
    onSample: ({ usedBytes, limitBytes }) => {
      if (usedBytes >= limitBytes * KEPT_GIVE_WAY_SHARE) keptUpkeep.look()
      quotaWatch.look()
    },
    topicBytes: () => readTopicBytes(redis),
    memoryBytes: redisMemoryBytes,
    onRefused: (reason) => telemetry.metrics.storageRefusals.of({ reason }).add(),
    onState: (state, sample) => log[state === 'full' ? 'warn' : 'info']({ ...sample }, `storage.${state}`),
  })
  const quotas = new Quotas(redis, { growth })
  const bytesOfTopics = new StoredBytes(redis)
  const storedBytes = new SharedRead(() => bytesOfTopics.read(), { freshMs: STORED_BYTES_FRESH_MS })
  const quotaWatch = new QuotaWatch({
    quotas,
    storedBytes,
    onRefused: () => telemetry.metrics.storageRefusals.of({ reason: 'quota' }).add(),
    log,
  })
  const topics = new Topics(redis, { defaults, growth, quotas })
  const reports = { metrics: telemetry.metrics, log }
  const quarantine = new Quarantine(redis, {
    memoryBytes: redisMemoryBytes,
    acks,
    putBackOn: [acks.redis, ...publisher.connections],
    onTry: reportQuarantine(reports),
  })
  const queues: Queues = new Queues(redis, {
    use,
    seals,
    defaults,
    inFlightMax: settings.queueInFlightMax,
    acks,
    growth,
    onChange: (arn) => queueCache.forget(arn),
    onProblem: (error) => log.warn({ err: error }, 'queue.move_postponed'),
    onLeaseEnd: reportLeaseEnds(reports),
    quarantine,
  })
  const queueCache = new QueueCache({ queues })
  const subscriptions = new Subscriptions(redis, { onCorrupt, growth, quotas })
  const lanes = new Lanes(redis, acks)
  const eventTypes = new EventTypes(redis, { growth, onUnreadable: onCorrupt })
  const schemaCompiler = new SchemaCompiler()
  const snapshots = new Snapshots(redis, { onCorrupt })
  const unsent = {
    quarantine,
    isolated: new IsolatedMessages(redis),
  }
  return {
    topics,
    archiveFigures: (topic: { arn: string; uid: string }) => archiveFigures(redis, topic),
    topicCache: new TopicCache({ topics }),
    eventTypes,
    schemaCompiler,
    eventTypeChecks: new EventTypeChecks({ eventTypes, compiler: schemaCompiler, log }),
    topicQueues: new TopicQueues({ acks, seals }),
    subscriptions,
    confirmationLimits: new ConfirmationLimits(redis, { growth }),
    suppressions: new Suppressions(redis, { growth }),
    platformApplications: new PlatformApplications(redis, { growth }),
    platformEndpoints: new PlatformEndpoints(redis, { growth }),
    linkKey: new LinkKey(redis),
    sms: new SmsState(redis, {
      growth,
      clock: now,
      onProblem: (error) => log.warn({ err: error }, 'sms.not_kept'),
    }),
    sandboxNumbers: new SandboxNumbers(redis, { growth }),
    lanes,
    queues,
    queueCache,
    consumers: new Consumers(redis, { growth }),
    queueWaits: new QueueWaits({ queues, subscriber, use }),
    leaseRenewals: new LeaseRenewals(queues, (queue) => travel.leaseRenewed(queue)),
    redrives: new Redrives(redis),
    bulk: new BulkTasks(redis, { growth, now }),
    erasure: new Erasure(redis),
    keptUpkeep,
    messages: new OutcomeLog(redis, snapshots, lanes, {
      queues: queueCount,
      entriesMax: logMessages,
      unsent,
    }),
    attempts: new AttemptStore(redis, seals),
    search: new OutcomeSearch(redis, (id) => subscriptions.topicOf(id)),
    quarantine: unsent.quarantine,
    counts: new Counts(redis),
    fifoLog: new FifoLog(redis, { acks }),
    idempotency: new Idempotency(redis, { acks, queues: queueCount }),
    kept: new KeptMessages(redis),
    keptSearch: new KeptSearch(redis, seals),
    storageGuard: growth,
    quotas,
    quotaWatch,
    storedBytes,
  }
}

function assertReady(ready: boolean): void {
  if (!ready) throw new Error('cannot write to the dispatch queue')
}
