import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import {
  Plans,
  placeOfSubscription,
  Subscriptions,
  shardBase,
  sliceKey,
  subscriptionsKey,
  Topics,
} from '../index.ts'
import { newSubscription, topicName } from '../subscriptions/subscriptions.fixture.ts'

const ARN = topicName('planned')

const { redis } = await useRedis()
const topics = new Topics(redis)
const subscriptions = new Subscriptions(redis, { sliceSubscriptionsMax: 2 })
beforeEach(async () => {
  await redis.flushall()
  await topics.put(ARN, {})
})

test('loads a topic slice by slice, with every record as it is', async () => {
  const plans = new Plans(redis)
  expect(await plans.topicSlices(ARN)).toMatchObject({ slices: [], topic: { arn: ARN } })
  const made = []
  for (let i = 0; i < 5; i++) made.push((await subscriptions.create(newSubscription(ARN, i))).subscription)
  const plan = await plans.topicSlices(ARN)
  expect(plan?.revision).toBe((await plans.topicRevisions([ARN]))[0])
  const slices = await Promise.all((plan?.slices ?? []).map((ref) => plans.slice(ref)))
  const loaded = slices.flatMap((slice) => slice?.subscriptions ?? [])
  expect(loaded.sort((a, b) => a.id.localeCompare(b.id))).toEqual(
    made.sort((a, b) => a.id.localeCompare(b.id)),
  )
  expect(slices.map((slice) => slice?.revision)).toEqual(await plans.sliceRevisions(plan?.slices ?? []))
  expect(slices.map((slice) => slice?.topic)).toEqual(slices.map(() => plan?.topic))
})

test('a slice that has become empty is not listed', async () => {
  const plans = new Plans(redis)
  const made = []
  for (let i = 0; i < 3; i++) made.push((await subscriptions.create(newSubscription(ARN, i))).subscription)
  await subscriptions.delete(made[2]?.id ?? '')
  const sliceId = placeOfSubscription(made[0]?.id ?? '')?.sliceId
  expect((await plans.topicSlices(ARN))?.slices.map((ref) => ref.sliceId)).toEqual([sliceId])
})

test('answers null for what does not exist', async () => {
  const plans = new Plans(redis)
  expect(await plans.topicRevisions([topicName('none'), ARN])).toEqual([null, expect.any(String)])
  expect(await plans.sliceRevisions([{ sliceId: 'x.0', shard: 0 }])).toEqual([null])
  expect(await plans.topicSlices(topicName('none'))).toBeNull()
  expect(await plans.slice({ sliceId: 'x.0', shard: 0 })).toBeNull()
  expect([await plans.topicRevisions([]), await plans.sliceRevisions([])]).toEqual([[], []])
})

test('a record that cannot be read is reported and does not keep its neighbours away', async () => {
  const reported: string[] = []
  const plans = new Plans(redis, { onCorrupt: (error) => reported.push(error.message) })
  const [bad, good] = [0, 1].map((i) => subscriptions.create(newSubscription(ARN, i)))
  const id = (await bad)?.subscription.id ?? ''
  const place = placeOfSubscription(id)
  if (!place) throw new Error('it was made')
  const key = subscriptionsKey(shardBase(place.shard), place.sliceId)
  await redis.hset(key, id, 'x')
  const slice = await plans.slice(place)
  expect(slice?.subscriptions).toEqual([(await good)?.subscription])
  expect(reported).toEqual([`corrupt JSON in ${key} ${id}`])
  await redis.hset(sliceKey(shardBase(place.shard), place.sliceId), 'topic', 'x')
  await expect(plans.slice(place)).rejects.toThrow(
    `corrupt JSON in ${sliceKey(shardBase(place.shard), place.sliceId)}`,
  )
})
