import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import {
  placeOfSubscription,
  Snapshots,
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
  const snapshots = new Snapshots(redis)
  expect(await snapshots.topicSlices(ARN)).toMatchObject({ slices: [], topic: { arn: ARN } })
  const made = []
  for (let i = 0; i < 5; i++) made.push((await subscriptions.create(newSubscription(ARN, i))).subscription)
  const snapshot = await snapshots.topicSlices(ARN)
  expect(snapshot?.revision).toBe((await snapshots.topicRevisions([ARN]))[0])
  const slices = await Promise.all((snapshot?.slices ?? []).map((ref) => snapshots.slice(ref)))
  const loaded = slices.flatMap((slice) => slice?.subscriptions ?? [])
  expect(loaded.sort((a, b) => a.id.localeCompare(b.id))).toEqual(
    made.sort((a, b) => a.id.localeCompare(b.id)),
  )
  expect(slices.map((slice) => slice?.revision)).toEqual(
    await snapshots.sliceRevisions(snapshot?.slices ?? []),
  )
  expect(slices.map((slice) => slice?.topic)).toEqual(slices.map(() => snapshot?.topic))
})

test('a slice that has become empty is not listed', async () => {
  const snapshots = new Snapshots(redis)
  const made = []
  for (let i = 0; i < 3; i++) made.push((await subscriptions.create(newSubscription(ARN, i))).subscription)
  await subscriptions.delete(made[2]?.id ?? '')
  const sliceId = placeOfSubscription(made[0]?.id ?? '')?.sliceId
  expect((await snapshots.topicSlices(ARN))?.slices.map((ref) => ref.sliceId)).toEqual([sliceId])
})

test('answers null for what does not exist', async () => {
  const snapshots = new Snapshots(redis)
  expect(await snapshots.topicRevisions([topicName('none'), ARN])).toEqual([null, expect.any(String)])
  expect(await snapshots.sliceRevisions([{ sliceId: 'x.0', shard: 0 }])).toEqual([null])
  expect(await snapshots.topicSlices(topicName('none'))).toBeNull()
  expect(await snapshots.slice({ sliceId: 'x.0', shard: 0 })).toBeNull()
  expect([await snapshots.topicRevisions([]), await snapshots.sliceRevisions([])]).toEqual([[], []])
})

test('a record that cannot be read is reported and does not keep its neighbours away', async () => {
  const reported: string[] = []
  const snapshots = new Snapshots(redis, { onUnreadable: (error) => reported.push(error.message) })
  const [bad, good] = [0, 1].map((i) => subscriptions.create(newSubscription(ARN, i)))
  const id = (await bad)?.subscription.id ?? ''
  const place = placeOfSubscription(id)
  if (!place) throw new Error('it was made')
  const key = subscriptionsKey(shardBase(place.shard), place.sliceId)
  await redis.hset(key, id, 'x')
  const slice = await snapshots.slice(place)
  expect(slice?.subscriptions).toEqual([(await good)?.subscription])
  expect(reported).toEqual([`unreadable JSON in ${key} ${id}`])
  await redis.hset(sliceKey(shardBase(place.shard), place.sliceId), 'topic', 'x')
  await expect(snapshots.slice(place)).rejects.toThrow(
    `unreadable JSON in ${sliceKey(shardBase(place.shard), place.sliceId)}`,
  )
})
