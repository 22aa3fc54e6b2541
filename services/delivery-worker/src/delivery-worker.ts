/**
 * Builds a delivery worker from its classes. A class knows other classes only by the objects that it gets here. The
 * path of a delivery:
 *
 *   DispatchConsumer ─▶ Dispatcher ─▶ FirstAttempts ──2xx──▶ done
 *                                       └─▶ Parking ─▶ lanes ─▶ LaneLoop ─▶ LaneAttempts ─▶ Endings ─▶ Settling
 *                                FIFO: LogReaders ─▶ lanes
 */
import { nameOfArn, RECORDING_DEFAULT } from '@fantail/contracts'
import {
  closeAttempters,
  createAttempters,
  createFunctionCalls,
  type Links,
  QueueAdmission,
  QueueAppends,
} from '@fantail/delivery'
import { createPublisher, DispatchConsumer, DispatchConsumers } from '@fantail/jobs'
import { createStartSteps, createStateLog, joinTravel, openConnections } from '@fantail/runtime'
import {
  AttemptRecorder,
  AttemptStore,
  DataLossError,
  deliveryItemId,
  inOneWrite,
  keyHolderName,
  LetterQuota,
  type LetterShares,
  LiveSender,
  MasterKeyError,
  openStreamWriter,
  PushState,
  passingTime,
  type Redis,
  ServerMarks,
  StatsCounter,
  StatsStore,
  shardBase,
  shardOf,
  shardsInUse,
  TravelledDataError,
  takeRole,
  VaultKeys,
} from '@fantail/store'
import { AttemptMaker } from './attempts/attempt-maker.ts'
import { Recording } from './attempts/attempt-recording.ts'
import { AttemptSlots } from './attempts/attempt-slots.ts'
import { BodyBytes } from './attempts/body-bytes.ts'
import { CredentialGate } from './attempts/credential-gate.ts'
import { FreedCapacity } from './attempts/freed-capacity.ts'
import { LaneBodies } from './attempts/lane-bodies.ts'
import { createMailTools, createSmsTools } from './attempts/mail-and-sms.ts'
import { TargetTurns } from './attempts/target-turns.ts'
import { createWorkerMetrics } from './attempts/telemetry-metrics.ts'
import { LaneBatches } from './batches/lane-batches.ts'
import { LaneAttempts } from './claims/lane-attempts.ts'
import { Renewals } from './claims/renewals.ts'
import { createShardClocks } from './clocks/set-back-clocks.ts'
import { createTraveller, realClock } from './clocks/worker-travel.ts'
import { Dispatcher } from './dispatch/dispatcher.ts'
import { AttemptLog } from './endings/attempt-log.ts'
import { AttemptNotes } from './endings/attempt-notes.ts'
import { DeadLetters } from './endings/dead-letters.ts'
import { DeliveryStatus } from './endings/delivery-status.ts'
import { Endings } from './endings/endings.ts'
import { GoneEndpoints } from './endings/gone-endpoints.ts'
import { LanePlace } from './endings/lane-place.ts'
import { LetterAppends } from './endings/letter-appends.ts'
import { LiveAttempts } from './endings/live-attempts.ts'
import { MissingQueues } from './endings/missing-queues.ts'
import { OutcomeRecorder } from './endings/outcome-recorder.ts'
import { PushEvents } from './endings/push-events.ts'
import { Isolation } from './fifo/isolation.ts'
import { LogReaders } from './fifo/log-readers.ts'
import { FirstAttempts } from './first-attempts/first-attempts.ts'
import { MessageKeeping } from './kept/message-keeping.ts'
import { observeFifoLogs, observeLanes } from './lanes/lane-gauges.ts'
import { LaneLoop } from './lanes/lane-loop.ts'
import { createRetentionSweep } from './lanes/retention-sweep.ts'
import { createSigning, listenForWakes } from './lanes/worker-connections.ts'
import { PushConsumers } from './push-consumers/push-consumers.ts'
import { LanePacing } from './settling/lane-pacing.ts'
import { Parking } from './settling/parking.ts'
import { Settling } from './settling/settling.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'
import { createWorkerStores } from './worker-stores.ts'

/** @limit Dispatch jobs that a worker runs at a time from one queue. Past it: it fetches no further job. */
const JOBS_MAX = 512
const SWEEP_ROLE_MS = 50_000
/** Errors of the start that a repetition cannot solve. */
const FINAL = [MasterKeyError, DataLossError, TravelledDataError]
const LETTER_SHARES_DEFAULT: LetterShares = { perQueue: 0.05, together: 0.2 }

export interface DeliveryWorker {
  /**
   * Starts the worker. Each step is repeated until Redis allows it. Rejects if the signal is aborted, if Redis is not
   * of the kind that the settings name, and with the DataLossError of `checkStorage`.
   */
  start(signal?: AbortSignal, checkStorage?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
  redis: Redis
  /** Work in progress, for the gauges. */
  figures(): { attempts: number; queued: number; jobs: number }
  /** For the list of processes. */
  slots(): { used: number; max: number }
}

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { redisUrl, log, retryJitter: jitter, maxRetrySeconds, attemptTimeoutMs } = options
  const { spans } = options.telemetry
  const { minReplicas = 0, travel } = options
  const mainName = keyHolderName('worker', options.vault?.keyIds)
  const connections = openConnections({ redisUrl, name: 'fantail-worker', mainName, minReplicas, log })
  const { redis, subscriber, acks } = connections
  const servers = new ServerMarks([redis, acks.redis])
  const stores = createWorkerStores(redis, acks, options)
  const { lanes, queues, snapshots, quarantine } = stores
  const clocks = createShardClocks(redis, log)
  const now = (at?: number) => clocks.now(at)
  const onFlush = createStateLog({ log, what: 'stats', initial: 'up' })
  const stats = new StatsCounter({ store: new StatsStore(redis), now, onFlush })
  const metrics = createWorkerMetrics(options.telemetry.metrics, now, stats)
  const slots = new AttemptSlots({ attemptsMax: options.attemptsMax, now: () => passingTime.now() })
  const freed = new FreedCapacity()
  const bytes = new BodyBytes({ bytesMax: options.bodyBytesMax, freed })
  const recorder = new OutcomeRecorder(stores.outcomes, metrics, log)
  const onDue = (shard: number, at: number | null) => laneLoop.dueAt(shard, at)
  const parking = new Parking(lanes, log, onDue)
  const notes = new AttemptNotes(lanes, log)
  const live = new LiveSender(redis)
  const attemptRecorder = new AttemptRecorder({
    store: new AttemptStore(redis),
    bytesMax: options.attemptRecordBytes ?? 0,
    now,
    onWrite: createStateLog({ log, what: 'attempt_records', initial: 'up' }),
  })
  const mode = options.mode ?? 'server'
  const recording = new Recording({
    recorder: attemptRecorder,
    standard: RECORDING_DEFAULT[mode],
    bodiesFromAnywhere: mode === 'local',
    now,
  })
  const settling = new Settling(lanes, log, onDue)
  const pacing = new LanePacing(lanes, log, onDue)
  const admission = new QueueAdmission({ queues, clock: now, organizations: options.organizations })
  const signing = createSigning(redis, {
    ...options,
    vault: options.checkMasterKey ? options.vault : undefined,
  })
  const status = new DeliveryStatus({ log, records: options.telemetry.logs, now })
  const letters = new LetterAppends({
    queues,
    topicQueues: stores.topicQueues,
    servers,
    quota: new LetterQuota({
      redis,
      shares: options.letterShares ?? LETTER_SHARES_DEFAULT,
      sample: () => stores.memory.sample,
      onRemoved: (topicArn, removed, of) => recorder.lettersRemoved(nameOfArn(topicArn), removed, of),
      onProblem: (error) => log.debug({ err: error }, 'letter_quota.unchecked'),
    }),
    admission,
    memory: stores.memory,
    signing,
    recorder,
    log,
    now,
  })
  const { sender, vault } = options
  const markQueue = (queueArn: string) => servers.mark(shardBase(shardOf(queueArn)))
  const appends = new QueueAppends({ queues, admission, mark: markQueue })
  const { userAgent } = options
  const sending = {
    sender,
    vault,
    clock: realClock(now),
    userAgent,
    ...(options.kinds && { kinds: options.kinds }),
  }
  const links: Links = { publicUrl: options.publicUrl }
  const mail = createMailTools(redis, { metrics: options.telemetry.metrics, log, now })
  const sms = createSmsTools(redis, { metrics: options.telemetry.metrics, log, now })
  const push: PushState = new PushState(redis, {
    onDisabled: ({ arn }) => log.info({ endpointArn: arn }, 'push.endpointDisabled'),
    publishUpdated: ({ arn: endpointArn }, application) =>
      events.publish(application, { type: 'EndpointUpdated', endpointArn }),
  })
  const events = new PushEvents({
    application: (arn) => push.application(arn),
    snapshots,
    memory: stores.memory,
    openPublisher: () => createPublisher({ url: redisUrl, queues: options.queues, minReplicas }),
    publicUrl: options.publicUrl,
    log,
    now,
  })
  const made = createAttempters({
    ...sending,
    openStreamWriter,
    appends,
    mail,
    sms,
    push,
    itemIdOf: deliveryItemId,
  })
  const attempters = { ...made, ...options.attempters }
  const credentials = new CredentialGate({ credentials: stores.credentials, attempters, lanes, log })
  const missing = new MissingQueues({ lanes, log })
  const gone = new GoneEndpoints({ subscriptions: stores.subscriptions, log })
  const deadLetters = new DeadLetters({ settling, letters, recorder, missing, status, events, log, now })
  const lanePlace = new LanePlace({ settling, deadLetters, recorder, status, now })
  const reports = [notes, new AttemptLog(log), recording, new LiveAttempts({ live, now })]
  const endings = new Endings({ reports, pacing, credentials, gone, jitter, maxRetrySeconds })
  const targets = new TargetTurns()
  const attempts = new AttemptMaker({ attempters, signing, metrics, credentials, recording, spans, log })
  const bodies = new LaneBodies(lanes, links)
  const renewals = new Renewals({ lanes, attemptTimeoutMs, log })
  const laneAttempts = new LaneAttempts({
    attempts,
    endings,
    lanePlace,
    deadLetters,
    signing,
    settling,
    pacing,
    credentials,
    slots,
    targets,
    freed,
    snapshots,
    renewals,
    clocks,
    isConnected: () => redis.status === 'ready',
    log,
  })
  const batches = new LaneBatches({
    attempters,
    endings,
    lanePlace,
    settling,
    pacing,
    credentials,
    slots,
    freed,
    snapshots,
    renewals,
    attemptTimeoutMs,
    metrics,
    spans,
    log,
  })
  const { kept, keptUpkeep: upkeep, memory } = stores
  const keeping = new MessageKeeping({ kept, upkeep, memory, log })
  const isolation = new Isolation({ isolated: stores.isolated, log, now })
  // Time travel moves the times of claims too, so their send times stay valid.
  if (options.travel?.timeTravel !== 'on') clocks.onSetForward = () => laneAttempts.setForward()
  const readers = new LogReaders({
    reading: stores.fifoReading,
    snapshots,
    bodies,
    recorder,
    servers,
    quarantine,
    isolation,
    keeping,
    log,
    now,
    onDue,
  })
  const laneLoop = new LaneLoop({
    lanes,
    pacing,
    slots,
    bytes,
    targets,
    snapshots,
    bodies,
    attempts: laneAttempts,
    batches,
    readers,
    settling,
    recorder,
    clocks,
    servers,
    quarantine,
    log,
    attemptTimeoutMs,
    inOneWrite: (ask) => inOneWrite(redis, ask),
    onLook: () => consumers.watch(),
  })
  const firstAttempts = new FirstAttempts({
    slots,
    bytes,
    credentials,
    targets,
    attempts,
    parking,
    endings,
    lanePlace,
    signing,
    snapshots,
    metrics,
    status,
    attemptTimeoutMs,
    now,
    freed,
  })
  const dispatcher = new Dispatcher({
    snapshots,
    lanes,
    firstAttempts,
    parking,
    recorder,
    idempotency: stores.idempotency,
    log,
    links,
    count: (cause) => stores.counts.add(cause),
    quarantine,
    isolation,
    keeping,
    now,
  })
  freed.notify(firstAttempts, dispatcher, laneLoop)
  const consumers = new DispatchConsumers({
    redis,
    queues: options.queues,
    log,
    create: (queue) =>
      new DispatchConsumer({
        url: redisUrl,
        redis,
        servers,
        queue,
        jobsMax: JOBS_MAX,
        hasCapacity: () => dispatcher.hasCapacity,
        redisMemoryBytes: options.redisMemoryBytes,
        quarantine,
        run: (run) => dispatcher.run(run),
        completed: (run) => void dispatcher.completed(run),
        log,
        telemetry: options.bullTelemetry,
      }),
  })
  const sweep = createRetentionSweep({
    lanes,
    log,
    handOn: (shard, result) => laneLoop.handOn(shard, result, performance.now()),
    inOneWrite: (ask) => inOneWrite(redis, ask),
    shards: () => shardsInUse(redis),
    isLeader: () => takeRole(redis, 'retention-sweep', SWEEP_ROLE_MS),
  })
  const pushConsumers = new PushConsumers({
    redis,
    subscriber,
    queues,
    sender,
    functions: createFunctionCalls(sending, options.kinds ?? {}),
    vault,
    metrics: options.telemetry.metrics,
    spans,
    log,
  })
  const traveller = createTraveller({
    slots,
    firstAttempts,
    dispatcher,
    laneLoop,
    laneAttempts,
    batches,
    readers,
    pushConsumers,
    sweep,
    recorder,
    parking,
    settling,
    pacing,
  })
  redis.on('ready', () => {
    laneAttempts.reconnected()
    laneLoop.reconnected()
  })
  listenForWakes(subscriber, { snapshots, laneLoop, slots, missing, credentials, live })
  options.telemetry.metrics.observeLanes(() => observeLanes({ redis, lanes, now }))
  options.telemetry.metrics.observeFifoLogs(() => observeFifoLogs({ redis, now }))
  return {
    redis,
    figures: () => ({ attempts: slots.inFlight, queued: firstAttempts.queued, jobs: dispatcher.runs }),
    slots: () => ({ used: slots.inFlight, max: options.attemptsMax }),
    async start(signal, checkStorage) {
      await connections.whenChecked(signal)
      const isFinal = (error: unknown) => FINAL.some((kind) => error instanceof kind)
      const step = createStartSteps({ log, signal, isFinal })
      if (checkStorage) await step(checkStorage)
      if (travel) await step(() => joinTravel({ connections, settings: travel, traveller, log }))
      if (options.checkMasterKey) {
        await step(() => new VaultKeys(redis).check(vault?.keyIds ?? []))
      }
      links.key = await step(() => mail.linkKey())
      laneLoop.start()
      pushConsumers.start()
      await consumers.start()
      await sweep.start()
    },
    async stop() {
      // New work ends first. Then queued deliveries are parked, and running attempts end and are settled. Connections
      // close last.
      const jobsDone = consumers.stop()
      const pushesDone = pushConsumers.stop()
      await Promise.all([laneLoop.stop(), sweep.stop()])
      await readers.stop()
      await Promise.all([firstAttempts.stop(), laneAttempts.stop(), batches.stop()])
      await Promise.all([parking.whenIdle(), pacing.whenIdle(), settling.whenIdle()])
      await jobsDone
      await pushesDone
      live.stop()
      await Promise.all([recorder.stop(), attemptRecorder.stop(), notes.stop(), stats.stop(), events.close()])
      await closeAttempters(attempters)
      await options.sender.close()
      connections.disconnect()
    },
  }
}
