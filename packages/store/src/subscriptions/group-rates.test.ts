/** The rates of message groups in a subscription reach its lane (group-throttle.test.ts has what they do there). */
import { topicArn } from '@fantail/contracts'
import { skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { shardBase } from '../keys/shards.ts'
import { claimsOf, makeMessage } from '../lanes/lane.fixture.ts'
import { Lanes } from '../lanes/lanes.ts'
import { placeOfSubscription } from '../records/subscriptions-id.ts'
import { Topics } from '../topics/topics.ts'
import { newSubscription } from './subscriptions.fixture.ts'
import { Subscriptions } from './subscriptions.ts'

const { redis } = await useRedis()
const lanes = new Lanes(redis)

test('other rates of message groups, and none, act on what waits', async () => {
  const arn = topicArn('groups')
  await new Topics(redis).create(arn, {})
  const subscriptions = new Subscriptions(redis)
  const groupThrottle = { maxReceivesPerSecond: 0.01 }
  const { subscription } = await subscriptions.create(newSubscription(arn, 1, { groupThrottle }))
  const { id } = subscription
  const shard = placeOfSubscription(id)?.shard ?? -1
  const messages = Array.from({ length: 10 }, () => makeMessage(Date.now() - 1_000, 'hello', 'a'))
  const entries = messages.map(({ id: delivery }, message) => ({
    subscriptionId: id,
    delivery,
    message,
    park: { as: 'fresh' as const },
    standing: 'proven' as const,
  }))
  await lanes.park(shard, { messages, jobs: [{ jobName: '', fence: 0, fields: [], entries }] })
  const request = { lanesMax: 10, deliveriesMax: 100, leaseMs: 20_000, limits: new Map<string, number>() }
  const take = async () => claimsOf(await lanes.take(shard, request)).length
  expect(await take()).toBe(1)
  expect(await take()).toBe(0)
  await subscriptions.update(id, () => ({ groupThrottle: { overrides: { a: 10 } } }))
  // The group begins again, a little ahead.
  expect(await take()).toBe(0)
  await redis.set(skewKey(shardBase(shard)), 500)
  const faster = await take()
  expect(faster).toBeGreaterThanOrEqual(1)
  await subscriptions.update(id, () => ({ groupThrottle: null }))
  let rest = 0
  for (let round = 0; round < 3; round++) rest += await take()
  expect(1 + faster + rest).toBe(messages.length)
})
