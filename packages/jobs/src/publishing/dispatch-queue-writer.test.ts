import { connect, type Redis, whenReady } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DispatchQueueWriter } from './dispatch-queue-writer.ts'

const { server } = await useRedis()
let connection: Redis
let writer: DispatchQueueWriter
beforeEach(async () => {
  connection = connect({ url: server.url, name: 'test' })
  writer = new DispatchQueueWriter(0, connection, { minReplicas: 0 })
  await whenReady(connection)
})
afterEach(async () => {
  await writer.close()
  connection.disconnect()
})

test('a connection that becomes ready twice in a moment gets one queue', async () => {
  const listeners = connection.listenerCount('ready')
  await Promise.all([writer.open(), writer.open()])
  expect(connection.listenerCount('ready') - listeners).toBe(1)
})

test('a writer that is open stays as it is when the connection comes back', async () => {
  await writer.open()
  const listeners = connection.listenerCount('ready')
  await writer.open()
  expect(connection.listenerCount('ready')).toBe(listeners)
})

test('it opens where the connection is ready again before the first try has failed', async () => {
  const listeners = connection.listenerCount('ready')
  await server.freeze()
  const opening = writer.open()
  const again = writer.open()
  const thawed = new Promise((resolve) => connection.once('close', resolve)).then(() => server.thaw())
  connection.on('ready', () => void writer.open())
  await Promise.all([opening, again, thawed])
  await waitFor(() => writer.canWrite)
  expect(connection.listenerCount('ready') - listeners).toBe(2)
})

test('it opens where the question fails and the connection stays', async () => {
  const admin = connect({ url: server.url, name: 'admin' })
  await whenReady(admin)
  await admin.call('ACL', 'SETUSER', 'default', '-info')
  const opening = writer.open()
  await waitFor(async () => ((await admin.call('ACL', 'LOG')) as unknown[]).length > 0)
  expect(writer.canWrite).toBe(false)
  await admin.call('ACL', 'SETUSER', 'default', '+info')
  await opening
  expect(writer.canWrite).toBe(true)
  admin.disconnect()
})
