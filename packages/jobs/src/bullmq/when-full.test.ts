import { freePort, startRedis, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { connectionWhenFull } from './when-full.ts'

test('the first connect waits for a Redis that comes later, and further tries leave no listeners', async () => {
  const port = await freePort()
  let tries = 0
  const retryStrategy = () => {
    tries += 1
    return 5
  }
  const redis = connectionWhenFull({ host: '127.0.0.1', port, retryStrategy, maxRetriesPerRequest: null })
  redis.on('error', () => {
    // Refused until the server listens.
  })
  const connected = redis.connect()
  await waitFor(() => tries > 20, { what: 'tries' })
  // A try under way has a listener of its own.
  const listeners = () => [redis.listenerCount('ready'), redis.listenerCount('end')].join()
  await waitFor(() => listeners() === '1,1', { what: 'one listener of each kind' })
  const server = await startRedis({ port })
  try {
    await connected
    expect(await redis.ping()).toBe('PONG')
  } finally {
    redis.disconnect()
    await server.stop()
  }
})

test('a connection that is closed between two tries ends, and so does what waits on it', async () => {
  const server = await startRedis()
  try {
    for (const close of ['disconnect', 'quit'] as const) {
      const retryStrategy = () => 60_000
      const redis = connectionWhenFull({ host: '127.0.0.1', port: server.port, retryStrategy })
      redis.on('error', () => {
        // The tests end the server on purpose.
      })
      await redis.connect()
      await server.kill()
      await waitFor(() => redis.status === 'reconnecting')
      const ended = new Promise((resolve) => redis.once('end', resolve))
      const refused = expect(redis.ping()).rejects.toThrow('Connection is closed')
      await redis[close]()
      await Promise.all([ended, refused])
      await server.restart()
    }
  } finally {
    await server.stop()
  }
})
