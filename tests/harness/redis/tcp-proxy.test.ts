import { connect, whenReady } from '@fantail/store'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterAll, afterEach, expect, test } from 'vitest'
import { CommandReader } from './commands.ts'
import { hasArgument } from './redis-requests.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const { server, redis } = await useRedis({ connect })
const proxy = await startTcpProxy(server.port)
const proxied = connect({ url: `redis://127.0.0.1:${proxy.port}`, name: 'proxied' })
proxied.on('error', () => undefined)
afterEach(() => redis.flushall())
afterAll(async () => {
  proxied.disconnect()
  await proxy.close()
})

const COMMANDS = [
  '*1\r\n$4\r\nPING\r\n',
  '*2\r\n$4\r\nECHO\r\n$6\r\na\r\nb\r\n\r\n',
  '*2\r\n$3\r\nGET\r\n$0\r\n\r\n',
  // A replica that loads.
  '\n',
  '*1\r\n$4\r\nPING\r\n',
]

test.each([1, 2, 3, 7, 20, 1_000])('commands that come in pieces of %i bytes are read whole', (size) => {
  const reader = new CommandReader()
  const bytes = Buffer.from(COMMANDS.join(''))
  const read: string[] = []
  for (let at = 0; at < bytes.length; at += size)
    read.push(...reader.read(bytes.subarray(at, at + size)).map(String))
  expect(read).toEqual(COMMANDS)
})

/** Longer than one read of a socket returns. */
const LONG = 'x'.repeat(1_000_000)

test.each([
  ['before', null],
  ['after', 'trapped'],
] as const)('a trap %s a command springs there, though others came with it', async (at, stored) => {
  await whenReady(proxied)
  const reached = proxy.trap({ matches: hasArgument('trapped'), at })
  const sent = proxied.pipeline().set('long', LONG).set('key', 'trapped').exec()
  await Promise.all([reached, sent])
  expect(await redis.get('key')).toBe(stored)
})
