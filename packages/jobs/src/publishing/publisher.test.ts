import { createMessageId, type Message } from '@fantail/contracts'
import { startFairTimer, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterEach, expect, test } from 'vitest'
import { createPublisher, type Publisher, type PublisherOptions } from './publisher.ts'

let publisher: Publisher | undefined
const { server, redis } = await useRedis({ appendfsync: 'always' })
redis.on('error', () => undefined)
afterEach(async () => {
  await publisher?.close()
  await redis.config('SET', 'maxmemory', '0')
  await redis.flushall()
})

const weight = { bytes: 300, fanOut: 1 }
const JOBS = 'ft:{dispatch-0}:dispatch-0'

function message(text: string): Message {
  const publishedAt = Date.now()
  const topicArn = 'arn:aws:sns:us-east-1:000000000000:t'
  return { messageId: createMessageId(publishedAt), topicArn, publishedAt, message: text }
}

async function open(options: Partial<PublisherOptions> = {}): Promise<Publisher> {
  const opened = createPublisher({ url: server.url, queues: 1, minReplicas: 0, ...options })
  publisher = opened
  await waitFor(() => opened.ready)
  return opened
}

async function storedTexts(): Promise<string[]> {
  const ids = await redis.lrange(`${JOBS}:wait`, 0, -1)
  const data = await Promise.all(ids.map((id) => redis.hget(`${JOBS}:${id}`, 'data')))
  return data.flatMap((text) => (JSON.parse(text ?? '{"m":[]}') as { m: Message[] }).m.map((m) => m.message))
}

test('a request of several messages is one job', async () => {
  const { publish } = await open()
  await publish([message('a'), message('b')], weight)
  expect(await redis.llen(`${JOBS}:wait`)).toBe(1)
  expect(await storedTexts()).toEqual(['a', 'b'])
})

test('concurrent requests share far fewer writes and none is lost', async () => {
  const { publish } = await open()
  const texts = Array.from({ length: 500 }, (_, i) => `m${i}`)
  await Promise.all(texts.map((text) => publish([message(text)], weight)))
  expect((await storedTexts()).sort()).toEqual([...texts].sort())
  expect(await redis.llen(`${JOBS}:wait`)).toBeLessThan(50)
})

test('several queues are used in turn', async () => {
  const { publish } = await open({ queues: 2 })
  const waiting = () =>
    Promise.all(
      ['ft:{dispatch-0}:dispatch-0:wait', 'ft:{dispatch-1zo}:dispatch-1:wait'].map((key) => redis.llen(key)),
    )
  // A queue is left out until its connection is ready.
  const areBothUsed = async () => {
    await publish([message('first')], weight)
    return (await waiting()).every((jobs) => jobs > 0)
  }
  await waitFor(areBothUsed)
  const before = await waiting()
  await publish([message('a')], weight)
  await publish([message('b')], weight)
  expect(await waiting()).toEqual(before.map((jobs) => jobs + 1))
})

test('a full memory has its own error, and nothing is stored', async () => {
  const { publish } = await open()
  await redis.config('SET', 'maxmemory', '1')
  await expect(publish([message('a')], weight)).rejects.toMatchObject({ code: 'storage_full' })
  expect(await redis.exists(`${JOBS}:wait`)).toBe(0)
})

test('too few replicas is an error that says so', async () => {
  const { publish } = await open({ minReplicas: 1 })
  await expect(publish([message('a')], weight)).rejects.toThrow(/0 of 1 replicas/)
})

test('while Redis cannot be reached, publishes fail within two seconds, and work again after it', async () => {
  const opened = await open()
  await server.kill()
  const took = startFairTimer()
  const failure = await opened.publish([message('lost')], weight).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'storage_unavailable' })
  expect(took()).toBeLessThan(2_500)
  await server.restart()
  await waitFor(() => opened.ready)
  await opened.publish([message('kept')], weight)
  await waitFor(() => redis.status === 'ready')
  expect(await storedTexts()).toEqual(['kept'])
})

test('a Redis that accepts and does not answer is an unknown outcome, stored at most once', async () => {
  const opened = await open()
  await opened.publish([message('before')], weight)
  await server.freeze()
  const failure = await opened.publish([message('frozen')], weight).catch((error: unknown) => error)
  await server.thaw()
  expect(failure).toMatchObject({ code: 'storage_unavailable' })
  expect(String(failure)).toMatch(/may or may not/)
  await waitFor(() => opened.ready)
  await opened.publish([message('after')], weight)
  const stored = await storedTexts()
  expect(stored.filter((text) => text === 'frozen').length).toBeLessThanOrEqual(1)
  expect(stored).toContain('after')
})
