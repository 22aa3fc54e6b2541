import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { waitFor } from '../waiting/wait-for.ts'
import { containerProblem } from './redis-container.ts'
import { canSpawnRedis, startRedis, type TestRedis } from './redis-server.ts'

const noContainer = await containerProblem()

const RUNTIMES = [
  { name: 'spawned', value: '', skip: undefined },
  { name: 'in a container', value: 'container', skip: noContainer },
]

describe.each(RUNTIMES)('a test’s Redis, $name', ({ value, skip }) => {
  let redis: TestRedis
  let client: Redis
  const before = process.env.FANTAIL_TEST_REDIS

  beforeEach(async (context) => {
    if (skip) return context.skip(skip)
    process.env.FANTAIL_TEST_REDIS = value
    redis = await startRedis({ appendfsync: 'always', args: ['--maxmemory', '64mb'] })
    client = new Redis(redis.url, { maxRetriesPerRequest: null, retryStrategy: () => 10 })
    client.on('error', () => {
      // Connections are refused while the server is down. Commands wait for it.
    })
  })

  afterEach(async () => {
    if (before === undefined) delete process.env.FANTAIL_TEST_REDIS
    else process.env.FANTAIL_TEST_REDIS = before
    client?.disconnect()
    await redis?.stop()
  })

  it('has the settings that were asked for', async () => {
    expect(await client.config('GET', 'maxmemory')).toEqual(['maxmemory', String(64 * 1024 * 1024)])
  })

  it('comes back with its data on the same port after a kill', async () => {
    await client.set('greeting', 'hello')
    const pid = redis.pid()
    await redis.kill()
    await redis.restart()

    expect(await client.get('greeting')).toBe('hello')
    expect(redis.pid()).not.toBe(pid)
  })

  it('answers nothing while frozen, and everything once thawed', async () => {
    await redis.freeze()
    let answered = false
    const reply = client.ping().finally(() => {
      answered = true
    })
    // The kernel accepts this connection although the server is frozen. A second connection proves that time has
    // passed.
    const second = new Redis(redis.url, {
      commandTimeout: 200,
      retryStrategy: () => null,
      enableReadyCheck: false,
    })
    second.on('error', () => {})
    await expect(second.ping()).rejects.toThrow(/timed out/)
    second.disconnect()
    expect(answered).toBe(false)
    await redis.thaw()

    expect(await reply).toBe('PONG')
  })

  it('can be killed while it is frozen', async () => {
    await redis.freeze()
    await redis.kill()
    await redis.restart()

    expect(await client.ping()).toBe('PONG')
  })
})

const STARTS_ONE = `
  import { startRedis } from ${JSON.stringify(new URL('./redis-server.ts', import.meta.url).href)}
  const { pid } = await startRedis({ spawned: true })
  console.log(pid())
  setInterval(() => undefined, 1_000)
`

test.skipIf(!canSpawnRedis())('a server ends with a process that its runner ends by SIGTERM', async () => {
  const words = ['--conditions=@fantail/source', '--input-type=module', '--eval', STARTS_ONE]
  const runner = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed] = await once(runner.stdout, 'data')
  const pid = Number(printed)
  expect(isAlive(pid)).toBe(true)

  runner.kill('SIGTERM')

  expect(await once(runner, 'exit')).toEqual([null, 'SIGTERM'])
  await waitFor(() => !isAlive(pid), { what: 'the server to end' })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
