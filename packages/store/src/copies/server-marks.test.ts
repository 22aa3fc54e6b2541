import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { Cluster, type Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { connect, whenReady } from '../redis/connect.ts'
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
  expect(mark.holds()).toBe(true)
  other.disconnect(true)
  await waitFor(() => !mark.holds())
  await whenReady(other)
  expect(mark.holds()).toBe(false)
  other.disconnect()
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
