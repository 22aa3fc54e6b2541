/** The gauges of lanes in a scrape. */
import { laneKey, shardBase, sliceKey, subscriptionsKey } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, useFixture } from '../fixtures/worker.fixture.ts'
import { observeLanes } from './lane-gauges.ts'

const fixture = await useFixture()
const observe = () => observeLanes({ redis: fixture.redis, lanes: fixture.lanes, now: Date.now })

test('lanes show by topic how much waits, how long and for how long yet, also where records cannot be read', async () => {
  const throttled = await fixture.subscribe('throttled', {
    deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 1 } },
  })
  const paused = await fixture.subscribe('paused', {
    deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 1 } },
  })
  await fixture.subscriptions.update(paused.id, () => ({ status: 'paused' }))
  const worker = await fixture.startWorker(createFakeSender())
  await fixture.publishAll(Array.from({ length: 30 }, (_, i) => `m${i}`))
  const waiting = async (id: string) =>
    (await observe()).find((lane) => lane.subscription === id)?.waiting ?? 0
  await waitFor(async () => (await waiting(paused.id)) === 30 && (await waiting(throttled.id)) > 0)
  await worker.stop()
  const { sliceId = '', shard = -1 } = (await fixture.subscriptions.locate(paused.id)) ?? {}
  // The first attempts show no more than the throttle, and their rate falls while the test runs.
  await fixture.redis.hdel(laneKey(shardBase(shard), throttled.id), 'en')
  await fixture.redis.hset(subscriptionsKey(shardBase(shard), sliceId), throttled.id, 'no record')
  expect(await fixture.redis.exists(sliceKey(shardBase(shard), sliceId))).toBe(1)
  const lanes = new Map((await observe()).map((lane) => [lane.subscription, lane]))
  expect(lanes.get(paused.id)).toMatchObject({ topic: 'orders', waiting: 30, drainSeconds: null })
  const left = await waiting(throttled.id)
  expect(lanes.get(throttled.id)).toMatchObject({ topic: 'orders', waiting: left, drainSeconds: left })
})
