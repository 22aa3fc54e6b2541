/** Where Redis is: configured, or in local mode wherever the local Redis says it listens once it does. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RedisTarget } from '@fantail/contracts'
import { type RedisValues, redisTarget } from './redis-settings.ts'
import { SettingsError } from './setting.ts'

const POLL_MS = 50
/** Written whole, by a rename: an address cut short must not be taken for one. */
const REDIS_URL = /^rediss?:\/\/\S+\s*$/

export interface RedisPlace extends Partial<RedisValues> {
  mode: 'local' | 'server'
  dataDir: string
}

interface ResolveOptions {
  signal?: AbortSignal
  /** Called once with the file's path if the process has to wait for it. */
  onWait?: (path: string) => void
}

/** The file in which the local Redis leaves its URL. */
export const redisUrlPath = (dataDir: string) => join(dataDir, 'redis.url')

/** In local mode it waits without a limit. Rejects with the signal's reason when aborted. */
export async function resolveRedisUrl(place: RedisPlace, options: ResolveOptions = {}): Promise<RedisTarget> {
  const target = redisTarget(place)
  if (target !== undefined) return target
  if (place.mode === 'server') {
    throw new SettingsError([{ name: 'REDIS_URL', message: 'must be set in server mode' }])
  }
  const path = redisUrlPath(place.dataDir)
  for (let tries = 0; ; tries++) {
    options.signal?.throwIfAborted()
    const url = await readUrl(path)
    if (url !== undefined) return url
    if (tries === 0) options.onWait?.(path)
    // Polled: watching a folder that may not exist yet would need polling anyway.
    await delay(POLL_MS, undefined, { signal: options.signal })
  }
}

async function readUrl(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    return REDIS_URL.test(text) ? text.trim() : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
