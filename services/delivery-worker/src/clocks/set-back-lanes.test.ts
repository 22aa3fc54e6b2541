/** Throttled lanes while Redis's clock is set back by too little to be corrected. */
import { SHARD_COUNT, shardBase } from '@fantail/store'
import { skewKey, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, urlOf, useFixture } from '../fixtures/worker.fixture.ts'

const fixture = await useFixture()

async function setRedisTime(aheadMs: number): Promise<void> {
  const pipeline = fixture.redis.multi()
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.set(skewKey(shardBase(shard)), aheadMs)
  await pipeline.exec()
}

test('a clock that is set back by a second holds up no throttled lane', async () => {
  await setRedisTime(1_000)
  await fixture.subscribe('throttled', { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 50 } } })
  const sender = createFakeSender()
  await fixture.startWorker(sender)
  const sent = () => sender.sent.filter(({ url }) => url === urlOf('throttled')).length
  await fixture.publishAll(['a', 'b', 'c'])
  await waitFor(() => sent() === 3, { what: 'a send before' })
  await setRedisTime(0)
  await fixture.publishAll(Array.from({ length: 100 }, (_, i) => `m${i}`))
  await waitFor(() => sent() === 103, { what: 'all to be sent' })
  expect(sender.inFlight.get(urlOf('throttled'))).toBe(0)
})
