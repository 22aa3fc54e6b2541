/**
 * Finds the URL of Redis: from the settings, or in local mode from the file that the local Redis writes when it
 * listens.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RedisTarget } from '@fantail/contracts'
import { type RedisValues, redisTarget } from './redis-settings.ts'
import { SettingsError } from './setting.ts'

const POLL_MS = 50
/** The local Redis writes the file by a rename, so a reader never finds half of an address. */
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

/** Local mode waits for the file without a limit. Rejects with the signal's reason when aborted. */
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
    // The folder may not exist yet. To watch for it would need polling too, so the file is polled.
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
