/** Lanes on a Redis of a test file's own: emptied before each of its tests, with one slice, and stopped after the last. */
import { startRedis } from '@fantail/test-kit'
import { Redis } from 'ioredis'
import { afterAll, beforeEach } from 'vitest'
import { writeSlice } from './lane-fixture.ts'
import { Lanes } from './lanes.ts'

export async function useLanes(slice: Parameters<typeof writeSlice>[1] = {}) {
  const server = await startRedis()
  const redis = new Redis(server.url)
  beforeEach(async () => {
    await redis.flushall()
    await writeSlice(redis, slice)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })
  return { server, redis, lanes: new Lanes(redis) }
}
