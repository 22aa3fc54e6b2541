import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startRedis } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { withRedis } from './cli-redis.ts'

const waitMs = 300
const at = (redisUrl: string) => ({ mode: 'server' as const, dataDir: '/nowhere', redisUrl })

test('a Redis that answers is lent', async () => {
  const server = await startRedis()
  try {
    const answer = await withRedis({ name: 'test', settings: at(server.url) }, (redis) => redis.ping())
    expect(answer).toBe('PONG')
  } finally {
    await server.stop()
  }
})

test('an error says why Redis does not answer', async () => {
  const settings = at(`redis://127.0.0.1:${await freePort()}`)
  const lent = withRedis({ name: 'test', settings, waitMs }, (redis) => redis.ping())
  await expect(lent).rejects.toThrow(/^Redis does not answer: connect ECONNREFUSED 127/)
})

test('an error says that no Redis runs', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'fantail-cli-'))
  const settings = { mode: 'local' as const, dataDir }
  const lent = withRedis({ name: 'test', settings, waitMs }, (redis) => redis.ping())
  await expect(lent).rejects.toThrow(`${dataDir}/redis.url does not exist: no stack with its data there runs`)
  await rm(dataDir, { recursive: true })
})
