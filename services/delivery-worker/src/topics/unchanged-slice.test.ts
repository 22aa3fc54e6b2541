/** A slice is read again after a minute, even if its revision is the same. It is compiled again only if it changed. */
import {
  Snapshots,
  Subscriptions,
  shardBase,
  sliceKey,
  subscriptionsKey,
  sumRecord,
  Topics,
} from '@fantail/store'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CompiledSlice } from './compiled-slice.ts'
import { SnapshotCache } from './snapshot-cache.ts'

const ARN = 'arn:aws:sns:us-east-1:000000000000:orders'
const MINUTE_MS = 60_001
const KEY = { id: '1', algorithm: 'hmac', sealed: 'x', createdAt: 0, expiresAt: null }

const { redis } = await useRedis()
const topics = new Topics(redis)
const subscriptions = new Subscriptions(redis)
let unusable: string[] = []
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  unusable = []
  await redis.flushall()
  await topics.put(ARN, {})
})
afterEach(() => void vi.useRealTimers())

async function subscribe(name: string): Promise<string> {
  const given = { topicArn: ARN, protocol: 'http', endpoint: `http://${name}.example/` } as const
  const settings = { rawMessageDelivery: false, deliveryPolicy: null, redrivePolicy: null, maxInFlight: 32 }
  const made = await subscriptions.create({ ...given, ...settings, confirmation: 'none', attributes: {} })
  return made.subscription.id
}

/** A topic with two subscriptions in one slice, and a worker's cache that holds the slice. */
async function cachedSlice() {
  const ids = [await subscribe('a'), await subscribe('b')] as const
  const snapshots = new Snapshots(redis, { onUnreadable: () => unusable.push('unreadable') })
  const reads = vi.spyOn(snapshots, 'packedSlice')
  const cache = new SnapshotCache(snapshots, (id) => unusable.push(id))
  const [ref] = (await snapshots.topicSlices(ARN))?.slices ?? []
  if (!ref) throw new Error('the topic has no slice')
  const read = async (): Promise<CompiledSlice> => {
    const slice = await cache.slice(ref)
    if (!slice) throw new Error('the slice is gone')
    return slice
  }
  const key = {
    records: subscriptionsKey(shardBase(ref.shard), ref.sliceId),
    slice: sliceKey(shardBase(ref.shard), ref.sliceId),
  }
  return { ids, key, reads, read }
}

/** Replaces members of a stored text, and no revision. */
async function rewrite(key: string, field: string, set: object): Promise<void> {
  const text = (await redis.hget(key, field)) ?? '{}'
  await redis.hset(key, field, sumRecord({ ...JSON.parse(text), ...set, S: undefined }))
}

type Cached = Awaited<ReturnType<typeof cachedSlice>>

test('a slice that was read again and is the same stays as it was compiled', async () => {
  const { read, reads, ids } = await cachedSlice()
  const first = await read()
  const subscription = first.byId.get(ids[0])
  for (let minute = 1; minute <= 3; minute++) {
    if (subscription) subscription.counts = {} as never
    vi.advanceTimersByTime(MINUTE_MS)
    expect(await read()).toBe(first)
    expect(await read()).toBe(first)
    expect(reads).toHaveBeenCalledTimes(1 + minute)
    // A tally may be one that never counts, until its owner asks for another.
    expect(subscription?.counts).toBeUndefined()
  }
})

test.each<
  [string, (cached: Cached) => Promise<unknown>, (slice: CompiledSlice, cached: Cached) => unknown, unknown]
>([
  [
    'a record',
    ({ key, ids }) => rewrite(key.records, ids[1], { e: 'http://c.example/' }),
    ({ byId }, { ids }) => byId.get(ids[1])?.target.url,
    'http://c.example/',
  ],
  [
    'the state of a subscription',
    ({ key, ids }) => rewrite(key.records, ids[0], { s: 'paused' }),
    ({ byId }, { ids }) => byId.get(ids[0])?.goesByLane,
    true,
  ],
  [
    'the topic',
    ({ key }) => rewrite(key.slice, 'topic', { retentionSeconds: 77 }),
    ({ byId }, { ids }) => byId.get(ids[0])?.retentionMs,
    77_000,
  ],
  [
    'the owner of a record',
    async ({ key, ids }) => {
      const [a, b] = await redis.hmget(key.records, ...ids)
      await redis.hset(key.records, { [ids[0]]: b ?? '', [ids[1]]: a ?? '' })
    },
    ({ byId }, { ids }) => byId.get(ids[0])?.target.url,
    'http://b.example/',
  ],
  [
    'the absence of a record',
    ({ key, ids }) => redis.hdel(key.records, ids[0]),
    ({ subscriptions: matched }) => matched.length,
    1,
  ],
])('%s that changed without a revision counts after a minute', async (_, change, found, wanted) => {
  const cached = await cachedSlice()
  const first = await cached.read()
  expect(found(first, cached)).not.toEqual(wanted)
  await change(cached)
  vi.advanceTimersByTime(MINUTE_MS)
  expect(found(await cached.read(), cached)).toEqual(wanted)
})

test('a change of another process counts at the next check, before and after a slice stayed', async () => {
  const { read, ids } = await cachedSlice()
  const first = await read()
  await subscriptions.update(ids[0], () => ({ status: 'paused' }))
  vi.advanceTimersByTime(100)
  const paused = await read()
  expect([first, paused].map(({ byId }) => byId.get(ids[0])?.record.status)).toEqual(['active', 'paused'])
  vi.advanceTimersByTime(MINUTE_MS)
  expect(await read()).toBe(paused)
  await subscriptions.delete(ids[1])
  vi.advanceTimersByTime(100)
  expect([...(await read()).byId.keys()]).toEqual([ids[0]])
})

test('a change and its reversal have a revision of their own', async () => {
  const { read, ids } = await cachedSlice()
  const first = await read()
  await subscriptions.update(ids[0], () => ({ status: 'paused' }))
  await subscriptions.update(ids[0], () => ({ status: 'active' }))
  vi.advanceTimersByTime(MINUTE_MS)
  const second = await read()
  expect(second.revision).not.toBe(first.revision)
  expect(second).not.toBe(first)
})

test.each<[string, object, string[]]>([
  ['outbound settings', { g: { headers: { a: 'b' } } }, []],
  ['sealed secrets', { z: 'sealed' }, []],
  ['keys of webhooks', { i: [KEY] }, []],
  ['a record that cannot be read', { e: 5 }, ['unreadable', 'unreadable']],
])('a slice with %s is compiled at each load', async (_, set, reported) => {
  const { read, key, ids } = await cachedSlice()
  await rewrite(key.records, ids[0], set)
  const first = await read()
  vi.advanceTimersByTime(MINUTE_MS)
  const second = await read()
  expect(second).not.toBe(first)
  expect(second.byId.get(ids[1])).toBeDefined()
  expect(unusable).toEqual(reported)
})
