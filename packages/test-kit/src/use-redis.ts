/** A Redis for one test file. It is a separate entry point, because the benchmark loads the test kit without vitest. */
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterAll } from 'vitest'
import { startRedis, type TestRedis, type TestRedisOptions } from './redis/redis-server.ts'

interface UseRedisOptions extends TestRedisOptions {
  /** Makes the connection. Default: a plain one of ioredis, which queues commands while the server is down. */
  connect?: (options: { url: string; name: string }) => Redis
}

interface UsedRedis {
  server: TestRedis
  /** Ready. */
  redis: Redis
}

/** Starts a server for the tests of the calling file and connects to it. Both end after the file's last test. */
export async function useRedis(options: UseRedisOptions = {}): Promise<UsedRedis> {
  const { connect = ({ url }) => new Redis(url), ...settings } = options
  const server = await startRedis(settings)
  const redis = connect({ url: server.url, name: 'test' })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })
  if (redis.status !== 'ready') await once(redis, 'ready')
  return { server, redis }
}
