import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { redisUrlPath, resolveRedisUrl } from './redis-url.ts'

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'fantail-config-'))
})

afterEach(() => rm(dataDir, { recursive: true, force: true }))

const local = () => ({ mode: 'local' as const, dataDir })

/** Starts to resolve the URL, and returns its promise once it waits. */
async function waiting(signal?: AbortSignal) {
  let found: ReturnType<typeof resolveRedisUrl> | undefined
  const path = await new Promise<string>((resolve) => {
    found = resolveRedisUrl(local(), { signal, onWait: resolve })
  })
  return { path, found: found as ReturnType<typeof resolveRedisUrl> }
}

describe('resolveRedisUrl', () => {
  it('takes what is configured', async () => {
    const place = { ...local(), redisUrl: 'redis://redis:6379' }
    expect(await resolveRedisUrl(place)).toBe('redis://redis:6379')
  })

  it('takes what the local Redis has left', async () => {
    await writeFile(redisUrlPath(dataDir), 'redis://127.0.0.1:7001\n')
    expect(await resolveRedisUrl(local())).toBe('redis://127.0.0.1:7001')
  })

  it('waits in local mode until the file is whole', async () => {
    const { path, found } = await waiting()
    expect(path).toBe(join(dataDir, 'redis.url'))
    await writeFile(path, 'red')
    await writeFile(`${path}.new`, 'redis://127.0.0.1:7002')
    await rename(`${path}.new`, path)
    expect(await found).toBe('redis://127.0.0.1:7002')
  })

  it('stops waiting when aborted', async () => {
    const abort = new AbortController()
    const { found } = await waiting(abort.signal)
    abort.abort()
    await expect(found).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('refuses server mode without REDIS_URL by name', async () => {
    await expect(resolveRedisUrl({ mode: 'server', dataDir })).rejects.toThrow('REDIS_URL must be set')
  })
})
