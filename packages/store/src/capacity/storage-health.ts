/**
 * The state of Redis for operators: how full it is, which of its settings would lose accepted messages, and whether
 * processes of both modes use it. It is read on demand (`/readyz`, a scrape), at most once a second.
 *
 * INFO has most figures, on managed servers too. Only CONFIG knows save points, and managed servers often refuse
 * CONFIG.
 */
import type { Redis } from 'ioredis'
import { type DispatchBacklog, readDispatchBacklog } from '../dispatch/dispatch-backlog.ts'
import { archivesKey, roleKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { Processes, type ProcessReport } from '../processes/processes.ts'
import { batch } from '../redis/batch.ts'
import { mastersOf } from '../redis/connections/cluster.ts'
import { fieldOf } from '../redis/connections/server-kind.ts'
import { replies } from '../redis/pages.ts'
import { UnusableDataError } from '../redis/unusable-data.ts'
import { type MemorySample, PUBLISH_SHARE, parseMemory } from './storage-guard.ts'

/** Age of the figures of Redis that `/readyz` and a scrape show. Past it: they are read again. */
const HEALTH_AGE_MS_MAX = 1_000
/**
 * A replica sends one each second.
 * @limit Seconds since the last confirmation of a replica. Past it: the replica counts as missing.
 */
const REPLICA_LAG_SECONDS_MAX = 2
/** @limit Age of the oldest message that no worker has fetched. Past it: `/readyz` says `dispatch_behind`. */
const DISPATCH_AGE_SECONDS_MAX = 30
/** A process of the redrive service keeps this role while it writes all archives. */
export const ARCHIVED_ROLE = 'archived'
/** Time since all archives were written. After it `/readyz` says `archive_behind`. */
export const ARCHIVED_FOR_MS = 60_000
/** @limit A round trip to Redis. Past it: `/readyz` says `redis_slow`. */
const ROUND_TRIP_MS_MAX = 200

/**
 * `eviction`: Redis may remove keys. `no_persistence`: a restart loses everything. `unseen`: the server does not say
 * whether it persists. `disk`: Redis could not write its files.
 */
export const DATA_RISKS = ['eviction', 'no_persistence', 'unseen', 'disk'] as const
type DataRisk = (typeof DATA_RISKS)[number]

interface StorageHealth {
  memory: MemorySample
  /** Used memory above which publishing is refused. */
  watermarkBytes: number
  /** Empty: neither a setting nor the disk would lose an accepted message. */
  risks: DataRisk[]
  /** Writes of files that failed when a server last tried them, as INFO names them. */
  failedWrites: string[]
  /** `maxmemory-policy` of the servers. If any of them evicts, it is that server's policy. */
  evictionPolicy: string
  /** How many replicas of FANTAIL_MIN_REPLICAS do not follow. On a cluster, those of the worst master. */
  missingReplicas: number
  dispatch: DispatchBacklog
  /** Whether topics have archives that nobody writes completely. */
  archiveBehind: boolean
  /** On a cluster, that of the slowest master. */
  roundTripMs: number
  /** Processes of the other mode on this Redis. */
  ofOtherMode: number
}

/** A reason why a process that works needs attention. */
interface Degradation {
  reason:
    | DataRisk
    | 'storage_full'
    | 'replicas_missing'
    | 'dispatch_behind'
    | 'archive_behind'
    | 'redis_slow'
    | 'modes_mixed'
  message: string
}

/** Redis would lose accepted messages, and server mode was not configured to accept that. */
export class DataLossError extends UnusableDataError {
  constructor(problems: Degradation[]) {
    const reasons = problems.map(({ message }) => message).join(' ')
    super(
      `this Redis would lose accepted messages. ${reasons} FANTAIL_ALLOW_VOLATILE_REDIS=true accepts that.`,
    )
    this.name = 'DataLossError'
  }
}

interface StorageHealthOptions {
  redis: Redis
  /** FANTAIL_MIN_REPLICAS. With one or more, a message is on another machine before it is accepted. */
  minReplicas: number
  /** How many of them did not confirm in the latest waits. Default: only Redis's list of replicas counts. */
  missingReplicas?: () => number
  /** FANTAIL_MODE. */
  mode: ProcessReport['mode']
  /** FANTAIL_REDIS_MEMORY_BYTES. */
  memoryBytes?: number | undefined
  /** Monotonic ms. */
  now?: () => number
}

export class StorageHealthReader {
  readonly #options: StorageHealthOptions
  readonly #now: () => number
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<StorageHealth> | undefined

  constructor(options: StorageHealthOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Rejects if Redis does not answer. */
  read(): Promise<StorageHealth> {
    if (this.#reading && this.#now() - this.#readAt < HEALTH_AGE_MS_MAX) return this.#reading
    const reading = readHealth(this.#options)
    this.#readAt = this.#now()
    this.#reading = reading
    reading.catch(() => {
      // A failed reading is not kept. Callers that wait for it get its error, and the next call reads again.
      if (this.#reading === reading) this.#reading = undefined
    })
    return reading
  }

  /** Rejects if Redis does not answer. */
  async degradations(): Promise<Degradation[]> {
    return degradationsOf(await this.read(), this.#options)
  }
}

async function readHealth({
  redis,
  minReplicas,
  missingReplicas,
  mode,
  memoryBytes,
}: StorageHealthOptions): Promise<StorageHealth> {
  const [dispatch, archiveBehind, ofOtherMode, ...servers] = await Promise.all([
    readDispatchBacklog(redis),
    isArchiveBehind(redis),
    new Processes(redis).ofOtherMode(mode),
    ...mastersOf(redis).map((master) => readServer(master, memoryBytes)),
  ])
  const fullness = ({ usedBytes, limitBytes }: MemorySample) => usedBytes / limitBytes
  const [fullest] = servers.toSorted((a, b) => fullness(b.memory) - fullness(a.memory))
  if (!fullest) throw new Error('Connection is closed.')
  const evicting = servers.find(({ evictionPolicy }) => evicts(evictionPolicy))
  const risks = new Set(servers.flatMap((server) => risksOf(server, minReplicas)))
  return {
    memory: fullest.memory,
    watermarkBytes: fullest.memory.limitBytes * PUBLISH_SHARE,
    risks: DATA_RISKS.filter((risk) => risks.has(risk)),
    failedWrites: [...new Set(servers.flatMap((server) => server.failedWrites))],
    evictionPolicy: (evicting ?? fullest).evictionPolicy,
    missingReplicas: Math.max(
      missingReplicas?.() ?? 0,
      0,
      ...servers.map(({ replicas }) => minReplicas - replicas),
    ),
    dispatch,
    archiveBehind,
    ofOtherMode,
    roundTripMs: Math.max(...servers.map((server) => server.roundTripMs)),
  }
}

async function isArchiveBehind(redis: Redis): Promise<boolean> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.exists(archivesKey(shardBase(shard)))
  const [isWritten, found] = await Promise.all([redis.exists(roleKey(ARCHIVED_ROLE)), replies(pipeline)])
  return isWritten === 0 && found.includes(1)
}

interface ServerHealth {
  memory: MemorySample
  evictionPolicy: string
  /** Undefined: the server does not show its settings. */
  persists: boolean | undefined
  failedWrites: string[]
  /** Replicas that have lately confirmed what they hold. */
  replicas: number
  roundTripMs: number
}

async function readServer(redis: Redis, memoryBytes: number | undefined): Promise<ServerHealth> {
  const [memory, persistence, replication, savePoints, roundTripMs] = await Promise.all([
    redis.info('memory'),
    redis.info('persistence'),
    redis.info('replication'),
    readSavePoints(redis),
    roundTripOf(redis),
  ])
  const hasFile = /^aof_enabled:1/m.test(persistence)
  return {
    memory: parseMemory(memory, memoryBytes),
    evictionPolicy: /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? '',
    persists: hasFile || (savePoints === undefined ? undefined : savePoints !== ''),
    failedWrites: failedWritesIn(persistence),
    replicas: followers(replication),
    roundTripMs,
  }
}

/** INFO does not show how full the disk is. A full disk shows when Redis cannot write a file. */
function failedWritesIn(persistence: string): string[] {
  const failed = persistence.matchAll(/^(rdb_last_bgsave|aof_last_write|aof_last_bgrewrite)_status:err/gm)
  return [...failed].map(([, name = '']) => `${name}_status`)
}

/** A busy process reads its replies late. So a long round trip is measured once more. */
async function roundTripOf(redis: Redis): Promise<number> {
  const first = await pingMs(redis)
  return first > ROUND_TRIP_MS_MAX ? Math.min(first, await pingMs(redis)) : first
}

async function pingMs(redis: Redis): Promise<number> {
  const askedAt = performance.now()
  await redis.ping()
  return performance.now() - askedAt
}

/** Each line is `slave<n>:ip=…,port=…,state=online,offset=…,lag=<seconds>`. */
function followers(replication: string): number {
  const lags = replication.matchAll(/^slave\d+:.*\bstate=online\b.*\blag=(\d+)/gm)
  return [...lags].filter(([, lag]) => Number(lag) <= REPLICA_LAG_SECONDS_MAX).length
}

/** undefined: CONFIG is forbidden, renamed or absent. */
async function readSavePoints(redis: Redis): Promise<string | undefined> {
  try {
    const save = fieldOf(await redis.call('CONFIG', 'GET', 'save'), 'save')
    return save === undefined ? undefined : String(save)
  } catch (error) {
    if (error instanceof Error && /^(ERR|NOPERM)\b/.test(error.message)) return undefined
    throw error
  }
}

/** INFO has had the policy since Redis 4. A server that does not report one does not evict. */
function evicts(policy: string): boolean {
  return policy !== '' && policy !== 'noeviction'
}

function risksOf({ evictionPolicy, persists, failedWrites }: ServerHealth, minReplicas: number): DataRisk[] {
  const risks: DataRisk[] = evicts(evictionPolicy) ? ['eviction'] : []
  if (failedWrites.length > 0) risks.push('disk')
  if (persists === true || minReplicas > 0) return risks
  return [...risks, persists === undefined ? 'unseen' : 'no_persistence']
}

/** Sentences for operators, the worst first. */
function degradationsOf(
  {
    risks,
    failedWrites,
    evictionPolicy,
    memory,
    watermarkBytes,
    missingReplicas,
    dispatch,
    archiveBehind,
    roundTripMs,
    ofOtherMode,
  }: StorageHealth,
  { minReplicas, mode }: Pick<StorageHealthOptions, 'minReplicas' | 'mode'>,
): Degradation[] {
  const texts: Record<DataRisk, string> = {
    eviction: `Its maxmemory-policy is ${evictionPolicy}, which drops messages when memory is full: set noeviction.`,
    no_persistence:
      'It keeps nothing over a restart: set appendonly yes or save points, or FANTAIL_MIN_REPLICAS with replicas.',
    unseen:
      'It does not show whether it persists, since CONFIG is forbidden: make sure of appendonly yes or save points.',
    disk: `It could not write to its disk (${failedWrites.join(', ')}): free space, or replace the disk.`,
  }
  const full: Degradation[] =
    memory.usedBytes < watermarkBytes
      ? []
      : [{ reason: 'storage_full', message: 'Redis is filled to the watermark: publishing is refused.' }]
  const missing: Degradation[] =
    missingReplicas === 0
      ? []
      : [
          {
            reason: 'replicas_missing',
            message: `Only ${minReplicas - missingReplicas} of ${minReplicas} replicas follow: publishes get 503.`,
          },
        ]
  const { jobs, oldestSeconds } = dispatch
  const behind: Degradation[] =
    oldestSeconds <= DISPATCH_AGE_SECONDS_MAX
      ? []
      : [
          {
            reason: 'dispatch_behind',
            message: `${jobs} dispatch jobs wait for a worker, the oldest for ${Math.round(oldestSeconds)} s.`,
          },
        ]
  const unarchived: Degradation[] = archiveBehind
    ? [
        {
          reason: 'archive_behind',
          message:
            'Archives are not written: set FANTAIL_ARCHIVE for the redrive service, or see `archive.down` in its log.',
        },
      ]
    : []
  const slow: Degradation[] =
    roundTripMs <= ROUND_TRIP_MS_MAX
      ? []
      : [
          {
            reason: 'redis_slow',
            message: `Redis answers after ${Math.round(roundTripMs)} ms: all work waits for it.`,
          },
        ]
  const mixed: Degradation[] =
    ofOtherMode === 0 ? [] : [{ reason: 'modes_mixed', message: modesMixed(mode, ofOtherMode) }]
  const risky = risks.map((reason) => ({ reason, message: texts[reason] }))
  return [...risky, ...full, ...missing, ...behind, ...unarchived, ...slow, ...mixed]
}

/** Both modes take deliveries from the same lanes, and each judges their endpoints by its own settings. */
export function modesMixed(mode: ProcessReport['mode'], others: number): string {
  const other = mode === 'server' ? 'local' : 'server'
  return (
    `Processes of ${other} mode use this Redis too: ${others}. Workers of both modes take the same deliveries, and one ` +
    'mode dead-letters endpoints that the other allows: give each mode a Redis of its own.'
  )
}

interface StorageCheckOptions {
  health: StorageHealthReader
  log: { warn(fields: object, event: string): void }
  settings: { mode: 'local' | 'server'; allowVolatileRedis: boolean }
}

/**
 * Called at the start of a process. Rejects with a DataLossError if server mode must not continue. Otherwise one log
 * line names what could be lost. A process starts while the disk fails: Redis refuses writes then, and recovers.
 */
export async function refuseDataLoss({ health, log, settings }: StorageCheckOptions): Promise<void> {
  const isRisk = ({ reason }: Degradation) => (DATA_RISKS as readonly string[]).includes(reason)
  const problems = (await health.degradations()).filter(isRisk)
  if (problems.length === 0) return
  const known = problems.filter(({ reason }) => reason !== 'unseen' && reason !== 'disk')
  if (known.length > 0 && settings.mode === 'server' && !settings.allowVolatileRedis) {
    throw new DataLossError(known)
  }
  const detail = problems.map(({ message }) => message).join(' ')
  log.warn({ risks: problems.map(({ reason }) => reason), detail }, 'redis.volatile')
}
