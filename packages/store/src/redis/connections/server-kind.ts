/**
 * Checks at the start of a process that the server is of the kind that the settings name. A cluster node that is used
 * as a single Redis refuses most commands. A plain Redis that is used as a cluster never connects. HELLO reports the
 * mode when a server first answers. An unreachable Redis is waited for. So are Sentinels that do not know the master:
 * their problem is logged once, and may end by itself.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  type HostPort,
  isRedisCluster,
  isRedisSentinels,
  type RedisAccess,
  type RedisCluster,
  type RedisSentinels,
  type RedisServer,
  type RedisTarget,
} from '@fantail/contracts'
import { Redis } from 'ioredis'
import { askOnce, askOptions } from './ask-once.ts'
import { accessOptions } from './cluster-route.ts'
import { whenReady } from './connect.ts'

const ASKING = askOptions('fantail-start')
/** A server that connects within this time is not checked. */
const LOOK_AFTER_MS = 200
const SERVER_LOOK_AGAIN_MS = 1_000

/** `unknown` counts as the kind that the settings name. */
export type RedisMode = 'standalone' | 'cluster' | 'sentinel' | 'unknown'

/** The server is of another kind than the settings name. */
export class WrongRedisError extends Error {
  readonly found: RedisMode

  constructor(found: RedisMode, message: string) {
    super(message)
    this.name = 'WrongRedisError'
    this.found = found
  }
}

interface ServerCheckOptions {
  redis: Redis
  /** That `redis` was made for. */
  target: RedisTarget
  /** Called once for each reason why Sentinels name no master. */
  onProblem?: ((error: Error) => void) | undefined
  /** Ends the wait. */
  signal?: AbortSignal | undefined
}

/**
 * Resolves when the connection can be used, however long that takes. If the connection is closed before, it never
 * resolves. Rejects with a WrongRedisError, or with the signal's reason.
 */
export async function whenServerChecked({
  redis,
  target,
  onProblem,
  signal: given,
}: ServerCheckOptions): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  const wrong = Promise.withResolvers<never>()
  const onEnd = () => over.abort()
  const onGivenUp = () => wrong.reject(given?.reason)
  redis.once('end', onEnd)
  given?.addEventListener('abort', onGivenUp, { once: true })
  try {
    given?.throwIfAborted()
    if (isRedisCluster(target)) void lookAtNodes(target, signal).catch(wrong.reject)
    if (isRedisSentinels(target)) void lookAtSentinels(target, signal, onProblem)
    await Promise.race([wrong.promise, whenReady(redis)])
    if (isServer(target)) await Promise.race([wrong.promise, refuseOthers(redis)])
  } finally {
    over.abort()
    redis.off('end', onEnd)
    given?.removeEventListener('abort', onGivenUp)
  }
}

/**
 * Checks once, before other connections report the same problem. Rejects with a WrongRedisError. An unreachable server
 * is not an error here, because whenServerChecked waits for it.
 */
export async function refuseWrong(target: RedisTarget): Promise<void> {
  if (isRedisCluster(target)) return await refuseNodes(target)
  if (!isServer(target)) return
  const { url, tls } = typeof target === 'string' ? { url: target } : target
  const mode = await asking(new Redis(url, { ...ASKING, ...(tls && { tls }) }), modeOf)
  if (mode !== undefined) refuseServer(mode)
}

/** Rejects if one server is of another kind. */
async function refuseOthers(redis: Redis): Promise<void> {
  for (;;) {
    const mode = await modeOf(redis).catch(() => undefined)
    if (mode !== undefined) return refuseServer(mode)
    await delay(LOOK_AFTER_MS)
    await whenReady(redis)
  }
}

function isServer(target: RedisTarget): target is string | RedisServer {
  return !isRedisCluster(target) && !isRedisSentinels(target)
}

function refuseServer(mode: RedisMode): void {
  const what = NO_SERVER[mode]
  if (what) throw new WrongRedisError(mode, `REDIS_URL names ${what} in place of it`)
}

/** Runs until the signal is aborted. Rejects if nodes answer and none belongs to a cluster. */
async function lookAtNodes(target: RedisCluster, signal: AbortSignal): Promise<void> {
  await waitOut(LOOK_AFTER_MS, signal)
  while (!signal.aborted) {
    await refuseNodes(target)
    await waitOut(SERVER_LOOK_AGAIN_MS, signal)
  }
}

async function refuseNodes(target: RedisCluster): Promise<void> {
  const modes = await Promise.all(target.nodes.map((node) => asking(connectTo(node, target), modeOf)))
  const at = modes.findIndex((mode) => mode === 'standalone' || mode === 'sentinel')
  const [node, mode] = [target.nodes[at], modes[at]]
  if (!node || !mode || modes.includes('cluster')) return
  throw new WrongRedisError(
    mode,
    `REDIS_CLUSTER_NODES names ${placeOf(node)}, ${NO_CLUSTER[mode]} in place of it`,
  )
}

const NO_SERVER: Partial<Record<RedisMode, string>> = {
  cluster: 'a node of a Redis Cluster: set REDIS_CLUSTER_NODES to some of its nodes',
  sentinel: 'a Sentinel: set REDIS_SENTINELS and REDIS_SENTINEL_NAME',
}

const NO_CLUSTER: Partial<Record<RedisMode, string>> = {
  standalone: 'a Redis whose cluster mode is off: set REDIS_URL',
  sentinel: 'a Sentinel: set REDIS_SENTINELS and REDIS_SENTINEL_NAME',
}

/** Runs until the signal; reports problems while no Sentinel knows the master. */
async function lookAtSentinels(
  target: RedisSentinels,
  signal: AbortSignal,
  onProblem: ServerCheckOptions['onProblem'],
): Promise<void> {
  const told = new Set<string>()
  await waitOut(LOOK_AFTER_MS, signal)
  while (!signal.aborted) {
    const problems = await Promise.all(target.sentinels.map((place) => problemOf(target, place)))
    const isNamed = problems.includes('')
    for (const problem of isNamed || signal.aborted ? [] : problems) {
      if (!problem || told.has(problem)) continue
      told.add(problem)
      onProblem?.(new Error(problem))
    }
    await waitOut(SERVER_LOOK_AGAIN_MS, signal)
  }
}

/** Why a Sentinel does not know the master. '': it knows the master. undefined: it does not answer. */
async function problemOf(target: RedisSentinels, place: HostPort): Promise<string | undefined> {
  const { sentinelUsername: username, sentinelPassword: password, tls } = target
  const access: RedisAccess = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls }),
  }
  return await asking(connectTo(place, access), async (sentinel) => {
    const mode = await modeOf(sentinel)
    if (mode === 'standalone') return `REDIS_SENTINELS names ${placeOf(place)}, a Redis and no Sentinel`
    if (mode === 'cluster')
      return `REDIS_SENTINELS names ${placeOf(place)}, a node of a Redis Cluster and no Sentinel`
    const master = await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', target.name)
    return master ? '' : `the Sentinels know no master '${target.name}': see REDIS_SENTINEL_NAME`
  })
}

function connectTo({ host, port }: HostPort, access: RedisAccess): Redis {
  return new Redis({ host, port, ...accessOptions(access), ...ASKING })
}

/** Undefined if there is no answer. The connection that waits for the server reports the reason. */
function asking<T>(redis: Redis, ask: (redis: Redis) => Promise<T>): Promise<T | undefined> {
  return askOnce(redis, ask).catch(() => undefined)
}

/** `unknown` if the server does not report its mode. Rejects if it does not answer. */
async function modeOf(redis: Redis): Promise<RedisMode> {
  try {
    const mode = fieldOf(await redis.call('HELLO'), 'mode')
    return mode === 'standalone' || mode === 'cluster' || mode === 'sentinel' ? mode : 'unknown'
  } catch (error) {
    if (error instanceof Error && /^(ERR|NOPERM)\b/.test(error.message)) return 'unknown'
    throw error
  }
}

/** Reads a field of a map, in RESP3's form or as RESP2's flat list. */
export function fieldOf(reply: unknown, name: string): unknown {
  if (!Array.isArray(reply)) return (reply as Record<string, unknown> | null)?.[name]
  const at = reply.indexOf(name)
  return at < 0 ? undefined : reply[at + 1]
}

function placeOf({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

async function waitOut(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}
