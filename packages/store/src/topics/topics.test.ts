import { FantailError } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { Redis } from 'ioredis'
import { beforeEach, expect, test } from 'vitest'
import {
  laneKey,
  Snapshots,
  Subscriptions,
  shardBase,
  shardOf,
  sliceKey,
  Topics,
  topicKey,
} from '../index.ts'
import { dueKey } from '../keys/keys.ts'
import { cutShort, indexFaults, newSubscription, topicName } from '../subscriptions/subscriptions.fixture.ts'

const { server, redis } = await useRedis()
const topics = new Topics(redis)
const subscriptions = new Subscriptions(redis, { sliceSubscriptionsMax: 3 })
const snapshots = new Snapshots(redis)
beforeEach(() => redis.flushall())

const notFound = expect.objectContaining({ code: 'not_found' })

test('creates a topic with defaults, then sets only what is given', async () => {
  const arn = topicName('orders')
  const first = await topics.put(arn, { displayName: 'Orders' })
  expect(first.created).toBe(true)
  expect(first.topic).toMatchObject({ arn, name: 'orders', displayName: 'Orders', retentionSeconds: 345_600 })
  expect(first.topic.createdAt).toBeGreaterThan(Date.now() - 60_000)
  const second = await topics.put(arn, { retentionSeconds: 60 })
  expect(second).toEqual({ created: false, topic: { ...first.topic, retentionSeconds: 60 } })
  expect(await topics.get(arn)).toEqual(second.topic)
})

test('a single one of many simultaneous creations creates, and the others set', async () => {
  const arn = topicName('race')
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, i) => topics.put(arn, { attributes: { [`a${i}`]: 'x' } })),
  )
  expect(results.filter((result) => result.created)).toHaveLength(1)
  expect(new Set(results.map((result) => result.topic.uid)).size).toBe(1)
})

test('loses none of many simultaneous changes of different members', async () => {
  const arn = topicName('members')
  await topics.put(arn, {})
  const sets = [{ displayName: 'd' }, { retentionSeconds: 77 }, { signing: 'sns' as const }]
  await Promise.all([...sets, ...sets, ...sets].map((set) => topics.patch(arn, set)))
  expect(await topics.get(arn)).toMatchObject({ displayName: 'd', retentionSeconds: 77, signing: 'sns' })
})

test('create makes a topic once and leaves one that exists as it is', async () => {
  const arn = topicName('once')
  const made = await topics.create(arn, { displayName: 'first', tags: { a: '1' } })
  expect(made).toMatchObject({ created: true, topic: { displayName: 'first', tags: { a: '1' } } })
  expect(await topics.create(arn, { displayName: 'second' })).toEqual({ topic: made.topic, created: false })
  const many = await Promise.all(Array.from({ length: 20 }, () => topics.create(topicName('many'), {})))
  expect(many.filter(({ created }) => created)).toHaveLength(1)
})

test('update computes from what the others wrote', async () => {
  const arn = topicName('tagged')
  await topics.put(arn, { tags: {} })
  const keys = Array.from({ length: 20 }, (_, i) => `k${i}`)
  await Promise.all(keys.map((key) => topics.update(arn, ({ tags }) => ({ tags: { ...tags, [key]: 'v' } }))))
  expect(Object.keys((await topics.get(arn))?.tags ?? {}).sort()).toEqual(keys.sort())
})

test('a name that ends in .fifo makes a FIFO topic, with its own settings', async () => {
  const set = { contentBasedDeduplication: true, fifoThroughputScope: 'MessageGroup' as const }
  const { topic } = await topics.put(topicName('ordered.fifo'), set)
  expect(topic).toMatchObject({ fifo: true, ...set })
  expect((await topics.put(topicName('plain'), {})).topic).not.toHaveProperty('fifo')
})

test('counts deleted subscriptions of all shards once, also those that left through their link', async () => {
  const arn = topicName('counted')
  await topics.put(arn, {})
  const made = []
  for (let i = 0; i < 5; i++) made.push((await subscriptions.create(newSubscription(arn, i))).subscription)
  const deleted = async () => (await topics.getWithCounts(arn))?.deleted
  expect(await deleted()).toBe(0)
  const [near = '', left = '', , far = '', broken = ''] = made.map(({ id }) => id)
  for (const id of [near, near, far, far]) await subscriptions.delete(id)
  expect(await deleted()).toBe(2)
  await cutShort(server.url, 'finish-delete-1', (client) =>
    new Subscriptions(client, { sliceSubscriptionsMax: 3 }).delete(broken),
  )
  for (let i = 0; i < 2; i++) await topics.resumeDeletions({ ageMs: 0 })
  expect(await deleted()).toBe(3)
  await subscriptions.update(left, () => ({ unsubscribed: true }))
  expect(await deleted()).toBe(4)
  await subscriptions.update(left, () => ({ unsubscribed: false }))
  expect(await deleted()).toBe(3)
  await topics.delete(arn)
  await topics.put(arn, {})
  expect(await deleted()).toBe(0)
})

test('lists the topics of one account and region', async () => {
  const there = topicName('x').replace('us-east-1', 'eu-west-1')
  await Promise.all([topicName('a'), topicName('b'), there].map((arn) => topics.put(arn, {})))
  const list = async (arnPrefix: string) =>
    (await topics.list({ arnPrefix, limit: 10 })).items.map(({ arn }) => arn)
  expect(await list('arn:aws:sns:us-east-1:000000000000:')).toEqual([topicName('a'), topicName('b')])
  expect(await list('arn:aws:sns:eu-west-1:000000000000:')).toEqual([there])
  expect(await list('arn:aws:sns:eu-west-1:111111111111:')).toEqual([])
})

test('refuses to patch a topic that does not exist', async () => {
  await expect(topics.patch(topicName('none'), { displayName: 'x' })).rejects.toEqual(notFound)
  expect(await topics.get(topicName('none'))).toBeNull()
  expect(await topics.getWithCounts(topicName('none'))).toBeNull()
})

test('lists topics in order', async () => {
  await topics.put(topicName('b'), {})
  expect(await topics.exists([topicName('a'), topicName('b'), topicName('c')])).toEqual([false, true, false])
  expect(await topics.exists([])).toEqual([])
})

test('every change gives another revision and says so', async () => {
  const arn = topicName('told')
  const subscriber = new Redis(server.url)
  const told: string[] = []
  subscriber.on('message', (_, message: string) => told.push(message))
  await subscriber.subscribe('ft:wake:changes')
  await topics.put(arn, {})
  const [first] = await snapshots.topicRevisions([arn])
  await topics.patch(arn, { displayName: 'x' })
  const [second] = await snapshots.topicRevisions([arn])
  await topics.patch(arn, { displayName: 'x' })
  const [unchanged] = await snapshots.topicRevisions([arn])
  await topics.delete(arn)
  await subscriber.ping()
  subscriber.disconnect()
  expect(second).not.toBe(first)
  expect(unchanged).toBe(second)
  expect(told).toEqual([arn, arn, arn])
})

test('a patch reaches every slice before it is acknowledged', async () => {
  const arn = topicName('wide')
  await topics.put(arn, {})
  for (let i = 0; i < 8; i++) await subscriptions.create(newSubscription(arn, i))
  const before = await snapshots.topicSlices(arn)
  expect(before?.slices).toHaveLength(3)
  const set = { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 7 } }, retentionSeconds: 90 }
  const revisions = await snapshots.sliceRevisions(before?.slices ?? [])
  await topics.patch(arn, { ...set, disableSubscriptionOverrides: true })
  const after = await snapshots.sliceRevisions(before?.slices ?? [])
  for (const [i, ref] of (before?.slices ?? []).entries()) {
    expect(after[i]).not.toBe(revisions[i])
    const fields = await redis.hmget(sliceKey(shardBase(ref.shard), ref.sliceId), 'rate', 'ret', 'ovr')
    expect(fields).toEqual(['7', '90', '1'])
    expect((await snapshots.slice(ref))?.topic).toMatchObject(set)
  }
  expect(await indexFaults(redis)).toEqual([])
})

test('a slice opened while the topic is being changed has the newest settings', async () => {
  const arn = topicName('racing')
  await topics.put(arn, {})
  const changes = Array.from({ length: 12 }, (_, i) => [
    topics.patch(arn, { retentionSeconds: 100 + i }),
    subscriptions.create(newSubscription(arn, i)),
  ])
  await Promise.all(changes.flat())
  const topic = await topics.get(arn)
  for (const ref of (await snapshots.topicSlices(arn))?.slices ?? []) {
    expect((await snapshots.slice(ref))?.topic).toEqual(topic)
  }
  expect(await indexFaults(redis)).toEqual([])
})

test('a change that died midway is finished by the sweep, and by its repetition', async () => {
  for (const finish of ['sweep', 'repeat']) {
    const arn = topicName(`half-${finish}`)
    await topics.put(arn, {})
    for (let i = 0; i < 5; i++) await subscriptions.create(newSubscription(arn, i))
    await cutShort(server.url, 'configure-slice-1', (broken) =>
      new Topics(broken).patch(arn, { retentionSeconds: 61 }),
    )
    const second = (await snapshots.topicSlices(arn))?.slices[1]
    if (!second) throw new Error('the topic has two slices')
    expect((await snapshots.slice(second))?.topic.retentionSeconds).toBe(345_600)
    if (finish === 'sweep') expect(await topics.resumeDeletions({ ageMs: 0 })).toBe(1)
    else await topics.patch(arn, { retentionSeconds: 61 })
    expect((await snapshots.slice(second))?.topic.retentionSeconds).toBe(61)
    expect(await indexFaults(redis)).toEqual([])
  }
})

test('deleting a topic removes its subscriptions and closes their lanes', async () => {
  const arn = topicName('gone')
  await topics.put(arn, {})
  const made = []
  for (let i = 0; i < 7; i++) made.push((await subscriptions.create(newSubscription(arn, i))).subscription)
  const waiting = made[5]
  const place = await subscriptions.locate(waiting?.id ?? '')
  if (!waiting || !place) throw new Error('seven were made')
  const base = shardBase(place.shard)
  await redis.zadd(`${base}fresh:${waiting.id}`, 1, Buffer.alloc(16))
  await topics.delete(arn)
  await topics.delete(arn)
  expect(await topics.get(arn)).toBeNull()
  expect((await subscriptions.list({ limit: 100 })).items).toEqual([])
  expect(await Promise.all(made.map(({ id }) => subscriptions.get(id)))).toEqual(made.map(() => null))
  expect(await redis.hget(laneKey(base, waiting.id), 'g')).toBe('1')
  expect(await redis.zscore(dueKey(base), waiting.id)).not.toBeNull()
  await redis.del(laneKey(base, waiting.id), `${base}fresh:${waiting.id}`, dueKey(base))
  // Only what the names of deleted subscriptions need stays.
  expect((await redis.keys('*')).filter((key) => !/}:(tombstone:|departed:)/.test(key))).toEqual([])
})

test('a deletion that died midway is resumed, while the topic made again stays', async () => {
  const arn = topicName('phoenix')
  await topics.put(arn, {})
  for (let i = 0; i < 7; i++) await subscriptions.create(newSubscription(arn, i))
  await cutShort(server.url, 'drop-slice-1', (broken) => new Topics(broken).delete(arn))
  expect(await topics.get(arn)).toBeNull()
  await topics.put(arn, {})
  await subscriptions.create(newSubscription(arn, 0))
  expect(await topics.resumeDeletions()).toBe(0)
  expect(await topics.resumeDeletions({ ageMs: 0 })).toBe(1)
  expect(await topics.resumeDeletions({ ageMs: 0 })).toBe(0)
  expect((await topics.getWithCounts(arn))?.subscriptions).toEqual({ active: 1, pending: 0, paused: 0 })
  expect(await indexFaults(redis)).toEqual([])
})

test('lists topics by ARN, page by page, while others come and go', async () => {
  const names = Array.from({ length: 130 }, (_, i) => topicName(`t${String(i).padStart(3, '0')}`))
  await Promise.all(names.map((arn) => topics.put(arn, {})))
  const seen: string[] = []
  let cursor: string | undefined
  for (let page = 0; cursor !== undefined || page === 0; page++) {
    const { items, nextCursor } = await topics.list({ limit: 7, cursor })
    seen.push(...items.map((topic) => topic.arn))
    await topics.put(topicName(`a${page}`), {})
    await topics.put(topicName(`zz${page % 3}`), {})
    await topics.delete(topicName(`zz${page % 3}`))
    cursor = nextCursor ?? undefined
  }
  expect(seen.filter((arn) => names.includes(arn))).toEqual(names)
  expect(new Set(seen).size).toBe(seen.length)
})

test('lists by the prefix of a name in the default account', async () => {
  for (const name of ['pay', 'pay-in', 'pay-out', 'play', 'pa']) await topics.put(topicName(name), {})
  await topics.put('arn:aws:sns:eu-west-1:111111111111:pay-far', {})
  const found = await topics.list({ prefix: 'pay', limit: 2 })
  expect(found.items.map((topic) => topic.name)).toEqual(['pay', 'pay-in'])
  const rest = await topics.list({ prefix: 'pay', limit: 2, cursor: found.nextCursor ?? undefined })
  expect(rest).toMatchObject({ items: [{ name: 'pay-out' }], nextCursor: null })
  expect((await topics.list({ limit: 100 })).items).toHaveLength(6)
})

test('refuses a cursor that no list gave', async () => {
  for (const cursor of ['x', 'W10', Buffer.from('[1]').toString('base64url')]) {
    const error = await topics.list({ cursor, limit: 1 }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(FantailError)
    expect(error).toMatchObject({ code: 'validation_failed', details: [{ path: 'cursor' }] })
  }
})

test('names the key of a record that cannot be read', async () => {
  const arn = topicName('corrupt')
  await topics.put(arn, {})
  await redis.hset(topicKey(arn), 'record', '{nope')
  await expect(topics.get(arn)).rejects.toThrow(`unreadable JSON in ${topicKey(arn)}`)
})

test('can be changed and deleted when memory is full', async () => {
  const arn = topicName('full')
  await topics.put(arn, {})
  for (let i = 0; i < 5; i++) await subscriptions.create(newSubscription(arn, i))
  await redis.config('SET', 'maxmemory', '1mb')
  try {
    await expect(redis.set('x', 'y')).rejects.toThrow('OOM')
    await topics.patch(arn, { retentionSeconds: 62 })
    await topics.delete(arn)
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
  expect(await redis.exists(topicKey(arn), `${shardBase(shardOf(arn))}topics`)).toBe(0)
  expect(await indexFaults(redis)).toEqual([])
})
