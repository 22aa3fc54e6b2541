import { readdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { shardBase, shardOf } from '@fantail/store'
import { freshKey, waitFor } from '@fantail/test-kit'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeSender, createFixture, TOPIC, urlOf } from '../fixtures/worker.fixture.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:copies'
// With `always` each write is in the file before its reply. With `everysec` a busy disk delays it by up to 2 seconds.
const fixture = await createFixture({ appendfsync: 'always' })
const { redis, server, queues } = fixture
redis.on('error', () => undefined)
beforeEach(() => fixture.topics.put(TOPIC, {}))
afterEach(() => fixture.reset())
afterAll(() => fixture.stop())

async function appendOnlyFile(): Promise<string> {
  const [, dir = ''] = (await redis.config('GET', 'dir')) as string[]
  const folder = join(dir, 'appendonlydir')
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.incr.aof')) ?? '')
}

/**
 * Simulates a power loss: cuts the file before the script that wrote `text` last. The file has the text before the
 * worker has the reply. So this waits for `stored` first, because a worker without its reply would send the script
 * again.
 */
async function losePowerBefore(text: string, stored: () => Promise<boolean>): Promise<void> {
  const file = await appendOnlyFile()
  const written = () => readFileSync(file, 'latin1')
  await waitFor(stored, { intervalMs: 1 })
  await server.kill()
  const all = written()
  truncateSync(file, all.lastIndexOf('*1\r\n$5\r\nMULTI', all.lastIndexOf(text)))
  await server.restart()
  await waitFor(() => redis.status === 'ready')
}

/** Dispatches a message to an endpoint that does not answer yet, and to all other subscribers. */
async function dispatch(text: string) {
  const sender = createFakeSender()
  const { promise, resolve } = Promise.withResolvers<number>()
  sender.answer = (url) => (url === urlOf('waits') ? promise : 200)
  await fixture.subscribe('waits')
  const worker = await fixture.startWorker(sender, { attemptTimeoutMs: 20_000 })
  await fixture.publish(text)
  await waitFor(() => sender.sent.length > 0, { intervalMs: 1 })
  return { worker, answer: () => resolve(200), requests: () => sender.sent.length }
}

const jobs = () => redis.keys('ft:{dispatch-0}:dispatch-0:[0-9]*')

test('a park that Redis has lost is made again before its job is completed', async () => {
  const { id } = await fixture.subscribe('paused')
  await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  const lane = freshKey(shardBase(shardOf(TOPIC)), id)
  const { answer } = await dispatch('parked')
  await losePowerBefore(lane, async () => (await redis.zcard(lane)) === 1)
  expect(await redis.zcard(lane)).toBe(0)
  answer()
  await waitFor(async () => (await jobs()).length === 0, { timeoutMs: 15_000 })
  expect(await redis.zcard(lane)).toBe(1)
})

const waiting = async () => (await queues.getWithCounts(QUEUE))?.counts.visible

async function dispatchToQueue(text: string) {
  await queues.put(QUEUE, {})
  await fixture.subscribe('queue', { protocol: 'sqs', endpoint: QUEUE })
  return dispatch(text)
}

test('an append that Redis has lost is made again before its job is completed, and no other request', async () => {
  const { answer, requests } = await dispatchToQueue('appended')
  await losePowerBefore('appended', async () => (await waiting()) === 1)
  expect(await waiting()).toBe(0)
  answer()
  await waitFor(async () => (await jobs()).length === 0, { timeoutMs: 15_000 })
  expect([await waiting(), requests()]).toEqual([1, 1])
})

test('connections that closed without a loss repeat no request, and append nothing twice', async () => {
  const { worker, answer, requests } = await dispatchToQueue('appended once')
  await waitFor(async () => (await waiting()) === 1)
  const reconnected = Promise.withResolvers<void>()
  worker.redis.once('ready', reconnected.resolve)
  await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await reconnected.promise
  answer()
  await waitFor(async () => (await jobs()).length === 0, { timeoutMs: 15_000 })
  expect([await waiting(), requests()]).toEqual([1, 1])
})
