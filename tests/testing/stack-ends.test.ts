/** A stack of `@fantail/testing` leaves no process, folder or data, however it ends. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRedis, waitFor } from '@fantail/test-kit'
import { startFantail } from '@fantail/testing'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isAlive } from '../../infra/dev/dev-task.fixture.ts'
import { HAS_REDIS, stackOptions } from './stack-options.ts'

const RUNNER = fileURLToPath(new URL('stack-runner.ts', import.meta.url))
let folder = ''
let temporary: string | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fantail-ends-'))
  temporary = process.env.TMPDIR
  process.env.TMPDIR = folder
})

afterEach(() => {
  if (temporary === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = temporary
  rmSync(folder, { recursive: true, force: true })
})

interface Runner {
  child: ChildProcess
  url: string
  children: number[]
}

async function startRunner(): Promise<Runner> {
  const words = ['--conditions=@fantail/source', RUNNER, JSON.stringify(stackOptions())]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await waitFor(() => text.includes('\n'), { what: 'the runner to start a stack', timeoutMs: 60_000 })
  return { child, ...(JSON.parse(text) as Pick<Runner, 'url' | 'children'>) }
}

describe.runIf(HAS_REDIS)('a stack ends', () => {
  test('with a runner that is killed by SIGKILL, every process and its folder', async () => {
    const { child, children, url } = await startRunner()
    // Redis, three services and the guard.
    expect(children).toHaveLength(5)
    expect(readdirSync(folder)).toHaveLength(1)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    child.kill('SIGKILL')
    await waitFor(() => !children.some(isAlive), { what: 'the end of all processes' })
    await waitFor(() => readdirSync(folder).length === 0, { what: 'the end of the folder' })
  })

  test('and empties its database of a given Redis, which was empty before', async () => {
    const redis = await startRedis()
    const client = new Redis(redis.url, { db: 1 })
    try {
      await client.set('own', 'data')
      const start = (url: string) => startFantail({ ...stackOptions(), redis: url })
      const [first, second] = await Promise.all([start(redis.url), start(redis.url)])
      const numbers = [first, second].map(({ redisUrl }) => new URL(redisUrl).pathname)
      expect(numbers.toSorted()).toEqual(['/0', '/2'])
      await first.client.topics('a').create()
      await expect(second.client.topics('a').get()).rejects.toThrow(/not exist|no such/)
      await expect(start(`${redis.url}/0`)).rejects.toThrow(/database 0 belongs to a test stack/)
      await expect(start(`${redis.url}/1`)).rejects.toThrow(/database 1 holds data/)
      await Promise.all([first.stop(), second.stop()])
      expect(await client.info('keyspace')).toMatch(/^# Keyspace\r\ndb1:keys=1,\S+\r\n$/)
    } finally {
      client.disconnect()
      await redis.stop()
    }
    expect(readdirSync(folder)).toEqual([])
  })

  test('and what it has left in a given Redis when it was killed, the next one empties', async () => {
    const redis = await startRedis()
    const client = new Redis(redis.url)
    try {
      const { pid } = spawnSync('true')
      await client.mset('fantail-testing:owner', `${hostname()} ${pid}`, 'left', 'behind')
      const stack = await startFantail({ ...stackOptions(), redis: `${redis.url}/0` })
      expect(await client.exists('left')).toBe(0)
      await stack.stop()
    } finally {
      client.disconnect()
      await redis.stop()
    }
  })

  test('and leaves nothing if it cannot start', async () => {
    await expect(startFantail({ ...stackOptions(), redis: '/bin/false' })).rejects.toThrow(
      /\/bin\/false did not start: .* 1/,
    )
    await expect(startFantail({ ...stackOptions(), redis: 'http://x' })).rejects.toThrow(/must be redis:/)
    const env = { FANTAIL_ATTEMPT_TIMEOUT_MS: 'soon' }
    await expect(startFantail({ ...stackOptions(), env })).rejects.toThrow(/FANTAIL_ATTEMPT_TIMEOUT_MS/)
    expect(readdirSync(folder)).toEqual([])
  })
})
