/** Tests which attempts a worker records, and the content of the records. */
import type { AnswerStart, AttemptResult } from '@fantail/contracts'
import { AttemptStore } from '@fantail/store'
import { startCountingProxy, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, TOPIC, urlOf, useFixture } from '../fixtures/worker.fixture.ts'

const fixture = await useFixture()
const local = { attemptRecordBytes: 1_000_000, mode: 'local' } as const
const server = { attemptRecordBytes: 1_000_000, mode: 'server' } as const
const store = new AttemptStore(fixture.redis)

const answered = (statusCode: number, body: string): AttemptResult => {
  const headers = { 'content-type': 'text/plain', 'set-cookie': ['a=secret'], 'x-api-key': 'secret' }
  const answer: AnswerStart = { headers, isPublic: true, body: () => body }
  return { kind: 'response', statusCode, durationMs: 1, answer }
}

async function run(sender: ReturnType<typeof createFakeSender>, options: object, requests: number) {
  const worker = await fixture.startWorker(sender, options)
  const messageId = await fixture.publish('hello')
  await waitFor(() => sender.sent.length === requests)
  await worker.stop()
  return messageId
}

test('failures are recorded, each with its answer, its cause and what follows', async () => {
  const retry = { numRetries: 3, numNoDelayRetries: 1, minDelayTarget: 1, maxDelayTarget: 1 }
  const subscription = await fixture.subscribe('shaky', { deliveryPolicy: { healthyRetryPolicy: retry } })
  const sender = createFakeSender()
  sender.answer = (_, n) => {
    if (n === 1) return answered(503, 'db down')
    if (n > 2) return answered(200, 'thanks')
    const failed = { kind: 'failure', error: 'timeout', detail: 'no answer within 15000 ms' } as const
    return { ...failed, durationMs: 1, permanent: false, stage: 'answer' }
  }
  const messageId = await run(sender, local, 3)
  const [second, first, ...others] = await store.read(subscription.id)
  expect(others).toEqual([])
  expect(first).toMatchObject({
    messageId,
    attempt: 1,
    phase: 'first',
    path: 'first',
    dueAt: expect.any(Number),
    statusCode: 503,
    headers: { 'content-type': 'text/plain' },
    body: 'db down',
    decision: 'retry',
    nextCause: 'immediate',
  })
  expect(second).toMatchObject({
    attempt: 2,
    phase: 'immediate',
    path: 'lane',
    error: 'timeout',
    detail: 'no answer within 15000 ms',
    stage: 'answer',
    cause: 'immediate',
    decision: 'retry',
  })
  expect(second?.nextAt).toBeGreaterThan((second?.startedAt ?? 0) + 500)
  expect(JSON.stringify([first, second])).not.toContain('secret')
})

test('a topic that asks for all attempts gets successes, straight from the job and from the lane', async () => {
  await fixture.topics.put(TOPIC, { recordAttempts: 'all' })
  const quick = await fixture.subscribe('quick')
  const slow = await fixture.subscribe('slow', {
    deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 50 } },
  })
  const sender = createFakeSender()
  sender.answer = () => answered(200, 'ok')
  await run(sender, server, 2)
  const [first] = await store.read(quick.id)
  expect(first).toMatchObject({ statusCode: 200, path: 'first', decision: 'delivered', body: 'ok' })
  const [fromLane] = await store.read(slow.id)
  expect(fromLane).toMatchObject({
    statusCode: 200,
    path: 'lane',
    decision: 'delivered',
    waitedFor: 'throttle',
  })
})

test('server mode records failures by itself, and a bound of 0 bytes nothing at all', async () => {
  const subscription = await fixture.subscribe('gone')
  const well = await fixture.subscribe('well')
  const sender = createFakeSender()
  sender.answer = (url) => (url.includes('gone') ? 404 : 200)
  await run(sender, server, 2)
  expect(await store.read(subscription.id)).toMatchObject([{ statusCode: 404 }])
  expect(await store.read(well.id)).toEqual([])
  await fixture.redis.del(...(await fixture.redis.keys('ft:{attempts}:*')))
  await fixture.topics.patch(TOPIC, { recordAttempts: 'all' })
  await run(sender, { ...local, attemptRecordBytes: 0 }, 4)
  expect(await store.read(subscription.id)).toEqual([])
  expect(await fixture.redis.keys('ft:{attempts}:*')).toEqual([])
})

test('many recorded deliveries take few scripts, and none without recording', async () => {
  await fixture.topics.put(TOPIC, { recordAttempts: 'all' })
  const subscription = await fixture.subscribe('ok')
  const scripts: string[][] = []
  const proxy = await startCountingProxy(fixture.server.port, (commands) => {
    scripts.push(...commands.filter((command) => command.includes('ft:{attempts}:')))
  })
  const sender = createFakeSender()
  const startedAt = performance.now()
  const worker = await fixture.startWorker(sender, { redisUrl: proxy.url, ...server })
  for (let n = 0; n < 30; n++) await fixture.publishAll(Array.from({ length: 10 }, (_, i) => `${n} ${i}`))
  await waitFor(() => sender.sent.length === 300)
  await fixture.topics.put(TOPIC, { recordAttempts: 'none' })
  await worker.stop()
  const seconds = (performance.now() - startedAt) / 1_000
  // The expected number of scripts: one a second, and one at the stop. The first may be sent once more as EVAL.
  expect(scripts.length).toBeGreaterThan(0)
  expect(scripts.length).toBeLessThanOrEqual(Math.ceil(seconds) + 3)
  const records = await store.read(subscription.id)
  expect(records.length).toBeGreaterThanOrEqual(20)
  expect(records.every(({ statusCode }) => statusCode === 200)).toBe(true)
  const after = scripts.length
  const again = await fixture.startWorker(sender, { redisUrl: proxy.url, ...server })
  await fixture.publishAll(['one', 'two'])
  await waitFor(() => sender.sent.length === 302)
  await again.stop()
  proxy.stop()
  expect(scripts.length).toBe(after)
  expect(sender.sent.every(({ url }) => url === urlOf('ok'))).toBe(true)
})
