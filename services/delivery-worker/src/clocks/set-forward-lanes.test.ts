import { skewKey, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, useFixture } from '../fixtures/worker.fixture.ts'

const RATE = 20
const IN_A_SECOND_MAX = 23
const MESSAGES = 120
const MEASURED = 50
const MINUTE_MS = 60_000

const fixture = await useFixture()

test('a throttle holds while the clock of Redis is set forward again and again', async () => {
  const sender = createFakeSender()
  const { id } = await fixture.subscribe('paced', {
    deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: RATE } },
  })
  for (const _ of [1, 2, 3]) await fixture.startWorker(sender)
  await fixture.publishAll(Array.from({ length: MESSAGES }, (_, n) => `m${n}`))
  const waiting = `fresh:${id}`
  const key = await waitFor(async () => (await fixture.redis.keys(`*${waiting}`))[0])
  for (const minute of [1, 2, 3]) {
    await waitFor(() => sender.sent.length >= minute * 10)
    await fixture.redis.set(skewKey(key.slice(0, -waiting.length)), minute * MINUTE_MS)
  }
  await waitFor(() => sender.sent.length >= MEASURED)
  const times = sender.sent.map(({ at }) => at)
  const inSecondFrom = (from: number) => times.filter((at) => at >= from && at < from + 1_000).length
  expect(Math.max(...times.map(inSecondFrom))).toBeLessThanOrEqual(IN_A_SECOND_MAX)
})
