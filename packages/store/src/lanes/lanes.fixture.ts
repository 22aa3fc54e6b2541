/** Lanes on a Redis of a test file's own: emptied before each of its tests, with one slice. */
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach } from 'vitest'
import { writeSlice } from './lane.fixture.ts'
import { Lanes } from './lanes.ts'

export async function useLanes(slice: Parameters<typeof writeSlice>[1] = {}) {
  const { server, redis } = await useRedis()
  beforeEach(async () => {
    await redis.flushall()
    await writeSlice(redis, slice)
  })
  return { server, redis, lanes: new Lanes(redis) }
}
