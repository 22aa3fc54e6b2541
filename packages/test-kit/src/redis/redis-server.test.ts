import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { containerProblem } from './redis-container.ts'
import { startRedis, type TestRedis } from './redis-server.ts'

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
