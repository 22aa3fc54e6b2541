/**
 * The Redis of `fantail dev`: the one that settings name, or a server that it starts. Such a server keeps its data and
 * its address in the folder. If it outlives its stack, the next start finds it by the address and ends it.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { askServer, type Guard, type StackRedis, startStackRedis } from '@fantail/testing/processes'

const LEFT_BEHIND_POLL_MS = 50
/** Names of settings with which services find a Redis without REDIS_URL. */
const OTHERS = ['REDIS_CLUSTER_NODES', 'REDIS_SENTINELS']

interface DevRedisOptions {
  guard: Guard
  folder: string
  /** Folder of the services. */
  server: string
  timeoutMs: number
  isKept: boolean
  env: NodeJS.ProcessEnv
}

/**
 * undefined: the settings name a Redis, and the services use it directly. If the stack keeps no data, it takes an empty
 * database of that Redis, and empties it at the end.
 */
export async function startDevRedis(options: DevRedisOptions): Promise<StackRedis | undefined> {
  const { folder, server, isKept, env, ...place } = options
  if (OTHERS.some((name) => env[name]?.trim())) return undefined
  const named = env.REDIS_URL?.trim()
  if (named && isKept) return undefined
  const file = join(folder, 'redis.address')
  if (isKept) await endLeftBehind(file)
  const redis = await startStackRedis(named, server, { ...place, folder, isKept }, env)
  if (!isKept) return redis
  await writeFile(file, redis.url, { mode: 0o600 })
  const stop = async () => {
    await redis.stop()
    await rm(file, { force: true })
  }
  return { ...redis, stop }
}

/**
 * Ends a server that outlived its stack, because it must not write to the files of the new one. Nobody else knows its
 * password, so no other Redis is ended.
 */
async function endLeftBehind(file: string): Promise<void> {
  const url = URL.parse(await readFile(file, 'utf8').catch(() => ''))
  if (!url) return
  while (await isThere(url)) {
    await askServer(url, [['SHUTDOWN']]).catch(() => undefined) // It ends without an answer.
    await delay(LEFT_BEHIND_POLL_MS)
  }
}

function isThere(url: URL): Promise<boolean> {
  return askServer(url, [['PING']]).then(
    ([reply]) => reply === 'PONG',
    () => false,
  )
}
