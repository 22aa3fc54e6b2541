/** Streams in a Redis: the sink of packages/delivery with the connection of the store. */
import { RedisSink, redisStreamOf } from '@fantail/delivery'
import { openStreamWriter } from '@fantail/store'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterAll, expect, test } from 'vitest'

const { server, redis } = await useRedis()
const sinks: RedisSink[] = []
afterAll(() => {
  for (const sink of sinks) sink.close()
})

function sinkAt(query: string, url = server.url): RedisSink {
  const place = redisStreamOf(new URL(`${url}?${query}`))
  if (!place) throw new Error(`${query} names no stream`)
  const sink = new RedisSink(place, openStreamWriter({ ...place, timeoutMs: 5_000 }))
  sinks.push(sink)
  return sink
}

const records = (...ids: string[]) =>
  ids.map((id) => ({ id, data: Buffer.from(`{"id":"${id}"}\n`), publishedAt: 0 }))

test('each record becomes an entry, in order', async () => {
  const results = await sinkAt('stream=orders').put(records('a', 'b'), 5_000)
  const entries = await redis.xrange('orders', '-', '+')
  expect(entries.map(([, fields]) => fields)).toEqual([
    ['id', 'a', 'record', '{"id":"a"}'],
    ['id', 'b', 'record', '{"id":"b"}'],
  ])
  const shown = entries.map(([entryId]) => ({ statusCode: 200, text: JSON.stringify({ entryId }) }))
  expect(results).toMatchObject(shown)
})

test('[369] the stream is cut at its length', async () => {
  const sink = sinkAt('stream=short&maxlen=100')
  for (let batch = 0; batch < 3; batch++) {
    await sink.put(records(...Array.from({ length: 500 }, (_, i) => `${batch}-${i}`)), 5_000)
  }
  // Redis cuts whole nodes of 100 entries.
  expect(await redis.xlen('short')).toBeLessThanOrEqual(200)
  expect((await redis.xrevrange('short', '+', '-', 'COUNT', 1))[0]?.[1]).toContain('2-499')
})

test('a refusal is a fault of the settings, and what is over by itself is retried', async () => {
  await redis.set('text', 'no stream')
  const wrong = { kind: 'misconfigured', credential: `redis:${new URL(server.url).host}/text` }
  expect(await sinkAt('stream=text').put(records('a'), 5_000)).toMatchObject([wrong])
  await redis.config('SET', 'maxmemory', '1')
  const full = await sinkAt('stream=orders').put(records('c'), 5_000)
  await redis.config('SET', 'maxmemory', '0')
  expect(full).toMatchObject([{ kind: 'failure', error: 'storage', permanent: false }])
  const nobody = sinkAt('stream=orders', 'redis://127.0.0.1:1')
  const [failed] = await nobody.put(records('a'), 5_000)
  expect(failed).toMatchObject({ kind: 'failure', permanent: false })
})

test('a Redis without an answer fails in time', async () => {
  const sink = sinkAt('stream=orders')
  await sink.put(records('d'), 5_000)
  await server.freeze()
  const [late] = await sink.put(records('e'), 100)
  await server.thaw()
  expect(late).toMatchObject({ kind: 'failure', error: 'timeout', permanent: false })
})
