/**
 * Connections: to one Redis, to the master that Sentinels name, or to a cluster. A command is sent once, and fails soon
 * if it cannot be sent. Nothing is queued while Redis is unreachable. Nothing is sent again after a lost reply, because
 * a repeated publish would be stored twice. Every caller therefore decides what a failure means. ioredis reconnects
 * without a limit, 50 ms to 2 s apart, with one log line per change of state.
 */
import {
  isRedisCluster,
  isRedisSentinels,
  type RedisCluster,
  type RedisSentinels,
  type RedisTarget,
} from '@fantail/contracts'
import { Redis, type RedisOptions } from 'ioredis'
import { createCluster, isCluster, mastersOf } from './cluster.ts'
import { accessOptions, routeOptions } from './cluster-route.ts'
import { readBeforeTimeouts } from './late-answers.ts'
import { guardCommands } from './report-gate.ts'

readBeforeTimeouts()
guardCommands()

/** @limit One command to Redis. Past it: the command has failed, and whether it ran is unknown. */
const COMMAND_TIMEOUT_MS = 1_500
/**
 * Silence on a connection on which an answer is due. Past it: the connection is replaced. A connection is replaced if
 * an answer is due and nothing has come for this long. If a host or network path dies, the kernel would keep the
 * connection open for a quarter of an hour.
 */
const SILENCE_MS_MAX = 2_000
/** One command to a Sentinel. Past it: the next Sentinel is asked. */
const SENTINEL_TIMEOUT_MS = 1_000

export interface ConnectOptions {
  url: RedisTarget
  /** Shown by CLIENT LIST. */
  name: string
  /** null: for connections whose commands may block (BullMQ workers, subscribers). */
  commandTimeoutMs?: number | null
  onState?: (state: 'up' | 'down', error: Error | undefined) => void
}

/** Pause before reconnecting: 100 ms, doubling to 2 s. */
export function retryStrategy(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 6), 2_000)
}

/** Whether the error means that a master has become a replica. The connection then looks for the new master. */
export function reconnectOnError(error: Error): boolean {
  return error.message.startsWith('READONLY')
}

type SendOptions = Pick<ConnectOptions, 'name' | 'commandTimeoutMs'>

/** Options of every connection that Fantail makes with ioredis. */
function redisOptions(options: SendOptions): RedisOptions {
  const timeout = options.commandTimeoutMs === undefined ? COMMAND_TIMEOUT_MS : options.commandTimeoutMs
  return {
    connectionName: options.name,
    // The users of a connection subscribe at each 'ready'. If ioredis subscribed again, a failure would be an unhandled
    // rejection, which ends the process.
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    socketTimeout: SILENCE_MS_MAX,
    retryStrategy,
    reconnectOnError,
    ...(timeout === null ? {} : { commandTimeout: timeout }),
  }
}

/**
 * A connection for all kinds of commands, not yet connected. `onState` reports each change of state. Errors in between
 * go to the callers. On a cluster, the state is up while the masters of all shards are connected.
 */
export function connect(options: ConnectOptions): Redis {
  const { url } = options
  return isRedisCluster(url) ? connectCluster(url, options) : connectOne(options, '')
}

/**
 * One plain connection to the server of the key. On a cluster it follows the key's slot from master to master, and
 * accepts only commands of that slot.
 */
export function connectTo(options: ConnectOptions, key: string): Redis {
  return connectOne(options, key)
}

const PING_MS = 10_000

/**
 * A connection for subscriptions. On a cluster it leads to any node. No other answer is due on it, so it sends pings to
 * prove that it is alive. Its users subscribe at each 'ready'.
 */
export function connectSubscriber(options: Omit<ConnectOptions, 'commandTimeoutMs'>): Redis {
  const redis = connectOne({ ...options, commandTimeoutMs: null }, undefined)
  const timer = setInterval(() => {
    // Without an answer the connection is replaced, which is reported.
    if (redis.status === 'ready') redis.ping().catch(() => undefined)
  }, PING_MS)
  timer.unref()
  redis.once('end', () => clearInterval(timer))
  return redis
}

/** Options that name the server to connect to. */
type PlaceOptions = Omit<RedisOptions, 'retryStrategy'> & { url?: string }

/** Options with which BullMQ makes its own connection. `key` is as in connectTo. */
export function placeOptions(url: RedisTarget, key: string | undefined): PlaceOptions {
  if (typeof url === 'string') return { url }
  if (isRedisCluster(url)) return routeOptions(url, key)
  return isRedisSentinels(url) ? sentinelOptions(url) : { url: url.url, tls: url.tls }
}

/** Resolves when the connection can first be used. */
export async function whenReady(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()))
}

function connectOne(options: ConnectOptions, key: string | undefined): Redis {
  const { url, ...place } = placeOptions(options.url, key)
  const all = { ...redisOptions(options), ...place }
  const redis = url === undefined ? new Redis(all) : new Redis(url, all)
  followState(redis, options.onState)
  return redis
}

function connectCluster(target: RedisCluster, options: ConnectOptions): Redis {
  const redis = createCluster({
    target,
    node: { ...redisOptions(options), ...accessOptions(target) },
    retryStrategy,
  })
  followState(redis, options.onState)
  return redis
}

function followState(redis: Redis, onState: ConnectOptions['onState']): void {
  let state: 'up' | 'down' | undefined
  let lastError: Error | undefined
  const report = (next: 'up' | 'down') => {
    if (state === next) return
    state = next
    onState?.(next, next === 'down' ? lastError : undefined)
  }
  const down = (error: Error) => {
    lastError = error
    report('down')
  }
  let sentinelError: Error | undefined
  redis.on('sentinelError', (error: Error) => {
    sentinelError = error
  })
  redis.on('error', (error: Error) => down(withReason(error, sentinelError)))
  redis.on('unreached', down)
  redis.on(isCluster(redis) ? 'reached' : 'ready', () => report('up'))
  redis.on('close', () => report('down'))
}

/** An error of a cluster or of Sentinels by ioredis. An answer of one of the servers becomes its cause. */
function withReason(error: Error, sentinelError: Error | undefined): Error {
  const { lastNodeError } = error as { lastNodeError?: Error }
  if (lastNodeError) return new Error('no node of the cluster can be used', { cause: lastNodeError })
  if (!sentinelError || !error.message.startsWith('All sentinels are unreachable')) return error
  return new Error('no Sentinel names a master', { cause: sentinelError })
}

/** A master that has become a replica answers `READONLY`. The connection then asks the Sentinels again. */
function sentinelOptions(target: RedisSentinels): RedisOptions {
  const { sentinels, name, sentinelUsername, sentinelPassword, tls } = target
  return {
    ...accessOptions(target),
    ...(tls ? { enableTLSForSentinelMode: true, sentinelTLS: tls } : {}),
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    sentinels,
    name,
    role: 'master',
    updateSentinels: true,
    sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
  }
}

/**
 * Resolves if Redis answers. On a cluster one master is enough, because the shards of other masters continue without
 * it.
 */
export async function ping(redis: Redis): Promise<void> {
  if (redis.status !== 'ready') throw new Error('Redis is not connected')
  try {
    await Promise.any(mastersOf(redis).map((master) => master.ping()))
  } catch (error) {
    // The cause is what the masters said. A Redis that refuses writes may refuse a ping, too.
    throw error instanceof AggregateError ? error.errors[0] : error
  }
}
