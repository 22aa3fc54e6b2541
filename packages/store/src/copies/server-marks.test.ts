import { startRedis, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { Cluster, type Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { connect, whenReady } from '../redis/connections/connect.ts'
import { ServerMarks } from './server-marks.ts'

const { server, redis } = await useRedis({ connect })
redis.on('error', () => undefined)

test('a mark holds for as long as no connection has closed', async () => {
  const marks = new ServerMarks([redis, redis])
  const mark = marks.mark('key')
  await redis.set('key', 'copy')
  expect(mark.holds()).toBe(true)
  await server.kill()
  await waitFor(() => redis.status !== 'ready')
  const whileAway = marks.mark('key')
  await server.restart()
  await waitFor(() => redis.status === 'ready')
  expect([mark.holds(), whileAway.holds()]).toEqual([false, false])
  expect(marks.mark('key').holds()).toBe(true)
})

test('one connection that closed is enough to end a mark', async () => {
  const other = connect({ url: server.url, name: 'other' })
  await whenReady(other)
  const mark = new ServerMarks([redis, other]).mark('key')
  await waitFor(() => mark.holds())
  other.disconnect(true)
  await waitFor(() => !mark.holds())
  await whenReady(other)
  expect(mark.holds()).toBe(false)
  other.disconnect()
})

test('a mark holds only while all connections lead to the same server', async () => {
  const second = await startRedis()
  const urls = [server.url, second.url, second.url]
  const [same, elsewhere, besides] = urls.map((url) => connect({ url, name: 'other' })) as [
    Redis,
    Redis,
    Redis,
  ]
  await Promise.all([same, elsewhere, besides].map(whenReady))
  const holds = (written: Redis[], sentOn?: Redis) => new ServerMarks(written).mark('key').holds(sentOn)
  await waitFor(() => holds([redis, same]) && holds([elsewhere, besides]))
  expect([holds([redis, elsewhere]), holds([redis, same], elsewhere)]).toEqual([false, false])
  expect([holds([redis], same), holds([redis, same], same)]).toEqual([true, true])
  for (const connection of [same, elsewhere, besides]) connection.disconnect()
  await second.stop()
})

test('a server that does not say who it is counts as one', async () => {
  const admin = connect({ url: server.url, name: 'admin' })
  await whenReady(admin)
  await admin.call('ACL', 'SETUSER', 'mute', 'on', 'nopass', '~*', '&*', '+@all', '-info')
  const url = server.url.replace('redis://', 'redis://mute:any@')
  // Hides the warning of ioredis that it makes no ready check.
  vi.spyOn(console, 'warn').mockReturnValue()
  const pair = [connect({ url, name: 'a' }), connect({ url, name: 'b' })]
  await Promise.all(pair.map(whenReady))
  await waitFor(() => new ServerMarks(pair).mark('key').holds())
  for (const connection of [admin, ...pair]) connection.disconnect()
})

test('a connection is followed once, however many marks are made on it', () => {
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
  const listeners = () => [cluster.listenerCount('+node'), redis.listenerCount('close')]
  const make = () => new ServerMarks([cluster as unknown as Redis, redis]).mark('key')
  make()
  const once = listeners()
  for (let i = 0; i < 20; i++) make()
  expect(listeners()).toEqual(once)
})
