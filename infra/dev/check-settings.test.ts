import { fileURLToPath } from 'node:url'
import { freePort, startRedis } from '@fantail/test-kit'
import { expect, it } from 'vitest'
import { capture } from '../bootstrap/steps.mjs'

const script = fileURLToPath(new URL('check-settings.mjs', import.meta.url))

/** Code is kept between the runs, because compiling all sources takes longer than the check. */
const { PATH, NODE_COMPILE_CACHE } = process.env
const check = (env: Record<string, string>) =>
  capture(process.execPath, ['--conditions=@fantail/source', script], {
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  })

it('is content with the defaults of the local stack', async () => {
  expect(await check({})).toEqual({ code: 0, stdout: '', stderr: '' })
})

it('names every problem of any service, each once', async () => {
  const { code, stderr } = await check({ FANTAIL_MODE: 'server', FANTAIL_ATTEMPTS_MAX: 'many' })
  expect(code).toBe(1)
  const [first, ...problems] = stderr.trim().split('\n')
  expect(first).toBe('cannot start with these settings:')
  expect(problems.sort()).toEqual([
    expect.stringMatching(/^ {2}FANTAIL_ATTEMPTS_MAX must be /),
    expect.stringMatching(/^ {2}REDIS_URL must be set in server mode/),
  ])
})

it('names a Redis that is of another kind, and is content with one that is away', async () => {
  const url = `redis://127.0.0.1:${await freePort()}`
  expect(await check({ REDIS_URL: url })).toEqual({ code: 0, stdout: '', stderr: '' })
  const redis = await startRedis()
  try {
    expect((await check({ REDIS_URL: redis.url })).code).toBe(0)
    const { code, stderr } = await check({ REDIS_CLUSTER_NODES: `127.0.0.1:${redis.port}` })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^cannot start with this Redis: .* set REDIS_URL /),
    ])
  } finally {
    await redis.stop()
  }
})
