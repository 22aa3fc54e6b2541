/**
 * A Redis Cluster as one connection: ioredis's `Cluster`, configured like every other connection (connect.ts).
 *
 * A command is sent once. ioredis repeats it only if a server refused it (MOVED, ASK, TRYAGAIN, CLUSTERDOWN), which is
 * safe. Repeating it after a connection broke (`retryDelayOnFailover`) would not be safe, and is off. The useful part
 * of that option is done here: while a shard's master cannot be reached, the map of slots is fetched again and again.
 */
import type { RedisCluster } from '@fantail/contracts'
import { Cluster, type ClusterOptions, type Command, type Redis } from 'ioredis'
import { SHARD_COUNT, shardBase } from '../../keys/shards.ts'
import { keySlot } from '../../keys/slots.ts'

const SLOTS_REFRESH_MS = 200
/**
 * Tries of a command that a cluster's servers refused (MOVED, ASK, TRYAGAIN). Past it: the command has failed. With the
 * pause between two tries, all tries take less than a command's own time-out. A refused command therefore fails with
 * the refusal.
 */
const REDIRECTIONS_MAX = 8
const REFUSED_RETRY_MS = 100
/** One refresh of the map of slots. Past it: another node is asked. */
const REFRESH_TIMEOUT_MS = 1_000
/** A connection that sends nothing to a slot notices only by this refresh that the slot has moved. */
const REFRESH_INTERVAL_MS = 10_000

/** ioredis's Cluster would queue commands without a limit until it is connected. This class refuses them. */
class SendOnceCluster extends Cluster {
  override sendCommand(...[command, ...rest]: Parameters<Cluster['sendCommand']>): unknown {
    if (this.status === 'ready' || isOfHandshake(command, this.status)) {
      return super.sendCommand(command, ...rest)
    }
    command.reject(new Error('Connection is closed.'))
    return command.promise
  }
}

/**
 * Whether the command may be sent before the connection is ready: ioredis's own, and BullMQ's when it is about to be
 * ready.
 */
function isOfHandshake({ name }: Command, status: string): boolean {
  return name === 'cluster' || (name === 'info' && status === 'connect')
}

interface ClusterConnectOptions {
  target: RedisCluster
  /** Options of each node's connection. */
  node: NonNullable<ClusterOptions['redisOptions']>
  retryStrategy(times: number): number
}

/**
 * A cluster with the commands and events of a Redis. It also emits `reached` and `unreached`, for the masters of all
 * shards together.
 */
export function createCluster({ target, node, retryStrategy }: ClusterConnectOptions): Redis {
  const { nodes, natMap, tls } = target
  const cluster = new SendOnceCluster(nodes, {
    redisOptions: node as ClusterOptions['redisOptions'] & { replyMapping?: 'legacy' },
    clusterRetryStrategy: retryStrategy,
    maxRedirections: REDIRECTIONS_MAX,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: REFUSED_RETRY_MS,
    retryDelayOnTryAgain: REFUSED_RETRY_MS,
    slotsRefreshTimeout: REFRESH_TIMEOUT_MS,
    slotsRefreshInterval: REFRESH_INTERVAL_MS,
    ...(natMap ? { natMap } : {}),
    // A certificate names a host, so host names are not resolved to addresses.
    ...(tls ? { dnsLookup: (host, done) => done(null, host) } : {}),
  })
  watchMasters(cluster)
  return cluster as unknown as Redis
}

export function isCluster(redis: Redis): boolean {
  return (redis as unknown as { isCluster?: boolean }).isCluster === true
}

/** The connections to all masters. On a single Redis this is its connection. */
export function mastersOf(redis: Redis): Redis[] {
  return isCluster(redis) ? (redis as unknown as Cluster).nodes('master') : [redis]
}

/** The connection to the master of the key, for commands without a key. Throws if it is unknown. */
export function nodeOf(redis: Redis, key: string): Redis {
  if (!isCluster(redis)) return redis
  const node = masterWith(redis as unknown as Cluster, keySlot(key))
  if (!node) throw new Error('Connection is closed.')
  return node
}

/** A text that is equal for shards of the same master, and different for others. '' on a single Redis. */
export function masterOfShard(redis: Redis, shard: number): string {
  if (!isCluster(redis)) return ''
  return (redis as unknown as Cluster).slots[shardSlots()[shard] ?? 0]?.[0] ?? ''
}

let slots: number[] | undefined

function shardSlots(): number[] {
  slots ??= Array.from({ length: SHARD_COUNT }, (_, shard) => keySlot(shardBase(shard)))
  return slots
}

function masterWith(cluster: Cluster, slot: number): Redis | undefined {
  const name = cluster.slots[slot]?.[0]
  return cluster.nodes('master').find(({ options: { host, port } }) => `${host}:${port}` === name)
}

/** The first shard whose master is not connected. undefined: all are connected. */
function unreachedShard(cluster: Cluster): number | undefined {
  const connected = new Map(
    cluster.nodes('master').map(({ options, status }) => [`${options.host}:${options.port}`, status]),
  )
  const at = shardSlots().findIndex((slot) => connected.get(cluster.slots[slot]?.[0] ?? '') !== 'ready')
  return at < 0 ? undefined : at
}

/** Connects every master at once, and looks for a new master if one is unreachable. */
function watchMasters(cluster: Cluster): void {
  let timer: NodeJS.Timeout | undefined
  let reached: boolean | undefined
  const look = () => {
    if (cluster.status !== 'ready') return
    for (const node of cluster.nodes('master')) {
      // The failure is also an event, which is handled.
      if (node.status === 'wait') node.connect().catch(() => undefined)
    }
    const shard = unreachedShard(cluster)
    report(shard)
    if (shard === undefined || timer) return
    timer = setTimeout(() => {
      timer = undefined
      if (cluster.status === 'ready') cluster.refreshSlotsCache(look)
    }, SLOTS_REFRESH_MS)
  }
  const report = (shard: number | undefined) => {
    if (reached === (shard === undefined)) return
    // Masters are still being connected, so nothing is reported yet.
    if (reached === undefined && shard !== undefined) return
    reached = shard === undefined
    const place = shard === undefined ? undefined : cluster.slots[shardSlots()[shard] ?? 0]?.[0]
    if (reached) cluster.emit('reached')
    else cluster.emit('unreached', new Error(`the master of shard ${shard} cannot be reached (${place})`))
  }
  cluster.on('+node', (node: Redis) => {
    node.on('ready', look)
    node.on('close', () => setImmediate(look))
  })
  for (const event of ['ready', 'refresh', '-node']) cluster.on(event, () => setImmediate(look))
  cluster.on('close', () => {
    reached = undefined
    clearTimeout(timer)
    timer = undefined
  })
  cluster.on('end', () => clearTimeout(timer))
}
