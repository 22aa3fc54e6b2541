import { type AddressInfo, createServer, connect as open, type Socket } from 'node:net'
import { startRedis, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { connect, connectSubscriber, whenReady } from '../../index.ts'

const CHANNEL = 'changes'

test('a connection that is cut while it subscribes again fails only its own user', async () => {
  const server = await startRedis()
  const direct = connect({ url: server.url, name: 'test-direct' })
  await whenReady(direct)
  let cutsLeft = 0
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const redis = open(server.port, '127.0.0.1')
    for (const socket of [client, redis]) {
      sockets.add(socket)
      // When one side is cut, the other side ends too.
      socket.on('error', () => socket.destroy())
    }
    client.on('close', () => redis.destroy())
    redis.pipe(client)
    client.on('data', (chunk) => {
      if (cutsLeft === 0 || !/subscribe/i.test(String(chunk))) return void redis.write(chunk)
      cutsLeft--
      client.destroy()
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const subscriber = connectSubscriber({ url: `redis://127.0.0.1:${port}`, name: 'test' })
  const failures: unknown[] = []
  const subscribe = () => void subscriber.subscribe(CHANNEL).catch((error: unknown) => failures.push(error))
  subscriber.on('ready', subscribe)
  await whenReady(subscriber)
  const heard: string[] = []
  subscriber.on('message', (_, text: string) => heard.push(text))
  const publish = async () => {
    await direct.publish(CHANNEL, 'again')
    return heard.length > 0
  }
  await waitFor(publish, { what: 'a message' })
  cutsLeft = 2
  heard.length = 0
  for (const socket of sockets) socket.destroy()
  await waitFor(publish, { what: 'a message after the cuts' })
  // No rejection was unhandled. An unhandled one would fail this test run.
  expect([cutsLeft, failures.length]).toEqual([0, 2])
  subscriber.disconnect()
  direct.disconnect()
  proxy.close()
  await server.stop()
})
