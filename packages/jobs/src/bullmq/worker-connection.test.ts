/** A worker that is made while Redis cannot be reached. */
import { freePort, startRedis } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createWorker } from './bull.ts'

test('a first connection that is refused is made again, and the worker becomes ready', async () => {
  const port = await freePort()
  const refused = Promise.withResolvers<void>()
  const worker = createWorker({
    name: 'dispatch-0',
    url: `redis://127.0.0.1:${port}`,
    jobsMax: 1,
    process: async () => undefined,
  })
  worker.on('error', () => refused.resolve())
  const ready = worker.waitUntilReady().then(() => 'ready')
  await refused.promise
  const server = await startRedis({ port })
  try {
    await expect(ready).resolves.toBe('ready')
    await worker.close()
  } finally {
    await server.stop()
  }
})
