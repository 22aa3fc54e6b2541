/** Builds the redrive service: redrive tasks, and sweeps of queues, topics and subscriptions. */
import { type Message, nameOfArn, type RedisTarget, type SubscriptionRecord } from '@fantail/contracts'
import { bodySealsOf, openBlockStore, textForProtocol } from '@fantail/delivery'
import type { Telemetry } from '@fantail/jobs'
import {
  explainFilter,
  isFiltered,
  PARSED_BYTES_MAX,
  PARSED_SMALL_BYTES_MAX,
  parsedBytes,
} from '@fantail/policy'
import {
  createRedisClock,
  createStartSteps,
  joinTravel,
  type Logger,
  openConnections,
  type ReportsTo,
  reportLeaseEnds,
  reportQuarantine,
  SplitSemaphore,
  TimeSlices,
  type TravelMode,
} from '@fantail/runtime'
import {
  ApiKeys,
  ArchivePages,
  Archives,
  AttemptStore,
  archivedTopics,
  type BodySeals,
  Consumers,
  FailedEnds,
  hearListeners,
  ifReadable,
  KeptUpkeep,
  Lanes,
  LiveSender,
  mendLines,
  OutcomeLog,
  openMessage,
  PlatformApplications,
  Quarantine,
  Queues,
  type Redis,
  RedriveBatches,
  Redrives,
  ResendBatches,
  SigningKeys,
  Snapshots,
  StorageGuard,
  Subscriptions,
  sweepHolds,
  Topics,
  type Traveller,
  UnreadableRecords,
} from '@fantail/store'
import { createMetrics, type Metrics } from '@fantail/telemetry'
import { createArchiver } from './archiver.ts'
import { createMaintenance } from './maintenance.ts'
import { createTaskJobs } from './task-jobs.ts'

interface RedriveServiceOptions {
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

export interface RedriveService {
  redis: Redis
  /**
   * Starts the service. Each step is repeated until Redis allows it. Rejects if the signal is aborted, or if Redis is
   * not of the kind that the settings name.
   */
  start(signal?: AbortSignal, checkData?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export function createRedriveService({
  redisUrl,
  minReplicas = 0,
  log,
  telemetry,
  metrics = createMetrics(),
  queues: queueCount = 1,
  logMessages = 0,
  keptMessagesShare: share = 0.1,
  redisMemoryBytes: memoryBytes,
  archive,
  awsClientCredentials: credentials,
  sweepEveryMs,
  seals = bodySealsOf(undefined),
  travel,
}: RedriveServiceOptions): RedriveService {
  const connections = openConnections({ redisUrl, name: 'fantail-redrive', minReplicas, log })
  const { redis, subscriber, acks } = connections
  const onProblem = (error: Error) => log.warn({ err: error }, 'queue.move_postponed')
  const reports = { metrics, log }
  const quarantine = new Quarantine(redis, {
    memoryBytes,
    acks,
    onTry: reportQuarantine(reports),
  })
  const unreadable = new UnreadableRecords(quarantine)
  const queues = new Queues(redis, {
    onProblem,
    onLeaseEnd: reportLeaseEnds(reports),
    onUnreadable: unreadable.report,
    quarantine,
    acks,
  })
  const topics = new Topics(redis)
  const subscriptions = new Subscriptions(redis, {
    onCorrupt: (error) => log.error({ err: error }, 'subscription.unreadable'),
  })
  const kept = new KeptUpkeep({
    redis,
    share,
    memoryBytes,
    onProblem: (error) => log.debug({ err: error }, 'kept_messages.unchecked'),
  })
  const redrives = new Redrives(redis)
  const attempts = new AttemptStore(redis)
  const signing = new SigningKeys(redis)
  const keys = new ApiKeys(redis)
  const consumers = new Consumers(redis, { onUnreadable: unreadable.report })
  const applications = new PlatformApplications(redis)
  const lanes = new Lanes(redis, acks)
  const batches = new RedriveBatches({ redis, acks, subscriptions, lanes })
  const filters = new FilterMatches(seals)
  const snapshots = new Snapshots(redis, { onCorrupt: () => undefined })
  const outcomes = new OutcomeLog(redis, snapshots, lanes, { queues: queueCount, entriesMax: logMessages })
  const clock = createRedisClock(redis)
  const memory = new StorageGuard({ redis, memoryBytes })
  const blocks =
    archive === undefined ? undefined : openBlockStore({ url: archive, credentials, clock: clock.now })
  const archiver =
    blocks &&
    createArchiver({
      redis,
      archives: new Archives(redis, blocks, {
        onLost: (topic, messages) => log.error({ topicArn: topic.arn, messages }, 'archive.texts_missing'),
      }),
      memory,
      log,
      onBlock: ({ arn }, messages) => metrics.archivedMessages.of({ topic: nameOfArn(arn) }).add(messages),
    })
  const resends = new ResendBatches({
    redis,
    acks,
    archive: blocks && new ArchivePages(redis, blocks),
    subscriptions,
    lanes,
    failed: new FailedEnds(redis, lanes),
    matches: (record, message) => filters.ask(record, message),
    // The entry only shows that the delivery waits again. Its end has an entry of its own.
    onResent: (resent) =>
      outcomes
        .append({ dispatch: [], lanes: [], resent })
        .catch((error: unknown) => log.debug({ err: error }, 'resend.not_noted')),
  })
  const runs = { redrives, batches, resends, memory, onUnreadable: unreadable.report }
  const live = new LiveSender(redis)
  const stopHearing = hearListeners(subscriber, live)
  const events = { live, now: clock.now }
  const tasks = createTaskJobs({ redisUrl, redis, subscriber, ...runs, log, telemetry, metrics, events })
  const maintenance = createMaintenance({
    redisUrl,
    redis,
    log,
    telemetry,
    ...(sweepEveryMs === undefined ? {} : { everyMs: sweepEveryMs }),
    sweeps: {
      tasks: () => tasks.addMissing(),
      redrives: () => redrives.sweep(unreadable.report),
      queues: () => queues.sweep(),
      kept: () => kept.sweep(),
      archives: () => (archiver ? archiver.sweep() : refuseArchives(redis)),
      replays: () => sweepHolds(redis, { subscriptions, redrives }),
      topics: () => topics.resumeDeletions(),
      subscriptions: () => subscriptions.expirePending(),
      attempts: () => attempts.sweep(unreadable.report),
      lines: () => mendLines(redis, unreadable.report),
      signing: () => signing.sweep(unreadable.report),
      keys: () => keys.sweep(unreadable.report),
      consumers: () => consumers.all().then(() => 0),
      applications: () => applications.sweep(unreadable.report),
      indexes: () => unreadable.sweepIndexes(redis),
      unreadable: (failed) => unreadable.sweep(failed),
    },
  })
  const traveller: Traveller = {
    moved: () => maintenance.moved(),
    work: () => ({
      // A task that was just started has no job yet.
      busy: tasks.adding > 0 ? [`${tasks.adding} redrives that begin`] : [],
      activity: tasks.moves,
      waitingJobs: { redrive: tasks.pausing },
    }),
  }
  return {
    redis,
    async start(signal, checkData) {
      await connections.whenChecked(signal)
      const step = createStartSteps({ log, signal })
      if (checkData) await step(checkData)
      if (travel) await step(() => joinTravel({ connections, settings: travel, traveller, log }))
      await Promise.all([tasks.start(step), maintenance.start(step)])
      archiver?.start()
    },
    async stop() {
      stopHearing()
      await Promise.all([tasks.stop(), maintenance.stop(), archiver?.stop()])
      await blocks?.close()
      live.stop()
      clock.stop()
      connections.disconnect()
    },
  }
}

/** Rejects if topics have archives, because the messages of these would stay in Redis until it is full. */
async function refuseArchives(redis: Redis): Promise<number> {
  const [first] = await archivedTopics(redis)
  if (first)
    throw new Error(`${first.arn} has an archive: FANTAIL_ARCHIVE must also be set for the redrive service`)
  return 0
}

/** Checks whether the filters of subscriptions match stored messages, which it opens for that. */
export class FilterMatches {
  readonly #seals: BodySeals
  readonly #timeSlices = new TimeSlices()
  readonly #parsed = new SplitSemaphore(PARSED_BYTES_MAX, PARSED_SMALL_BYTES_MAX)

  constructor(seals: BodySeals) {
    this.#seals = seals
  }

  /**
   * Shares the event loop with other work of the process. Throws a SealKeyError. A message that was changed matches, so
   * that the worker finds it in its lane and puts it into the quarantine.
   */
  async ask(record: SubscriptionRecord, stored: Message): Promise<boolean> {
    if (!isFiltered(record)) return true
    const [message] = ifReadable(() => openMessage(this.#seals, stored))
    if (!message) return true
    const text = textForProtocol(message, record.protocol)
    const asked = { message: text, attributes: message.attributes }
    const bytes = parsedBytes(Buffer.byteLength(text))
    await this.#parsed.acquire(bytes)
    try {
      const explained = await this.#timeSlices.run(explainFilter(record, asked), () => false)
      return explained?.matched ?? false
    } finally {
      this.#parsed.release(bytes)
    }
  }
}
