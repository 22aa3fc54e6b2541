import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { type Counted, type SeriesKind, StatsStore, unpackNumbers } from './stats-store.ts'

const { redis } = await useRedis()
const store = new StatsStore(redis)
const NOW = Date.UTC(2026, 10, 21, 9, 30, 30)
const MINUTE = Math.floor(NOW / 60_000)
const DAY_MS = 86_400_000
let flush = 0
beforeEach(() => redis.flushall())

const counted = (name: string, counts: number[], minute = MINUTE, kind: SeriesKind = 't'): Counted => ({
  kind,
  name,
  minute,
  counts,
})
const add = (given: Counted[], set: { writer?: string; flush?: number; now?: number } = {}) =>
  store.add({ writer: 'w', flush: ++flush, now: NOW, counted: given, ...set })
const read = (names: string[], set: { step?: 'minute' | 'hour'; steps?: number; now?: number } = {}) =>
  store.read({ kind: 't', names, step: 'minute', steps: 3, now: NOW, ...set })

test('counts of several flushes and writers add up, by minute and by hour', async () => {
  await add([counted('orders', [5, 3, 1, 0, 20, 2, 24, 1])])
  await add([counted('orders', [1, 2, 0, 1, 24, 1, 30, 1])], { writer: 'other' })
  await add([counted('orders', [7, 0, 0, 0], MINUTE - 1)])
  expect(await read(['orders'])).toMatchObject({
    stepMs: 60_000,
    at: [-2, -1, 0].map((n) => (MINUTE + n) * 60_000),
    published: [0, 7, 6],
    delivered: [0, 0, 5],
    failed: [0, 0, 1],
    deadLettered: [0, 0, 1],
    p50Ms: [null, null, expect.closeTo(2 ** (23.5 / 4), 1)],
  })
  const hours = await read(['orders'], { step: 'hour', steps: 2 })
  expect(hours).toMatchObject({ stepMs: 3_600_000, published: [0, 13], delivered: [0, 5] })
})

test('a repeated flush adds nothing', async () => {
  for (let n = 0; n < 3; n++) await add([counted('orders', [5, 0, 0, 0])], { flush: 7 })
  expect((await read(['orders'])).published).toEqual([0, 0, 5])
})

test('a day of minutes and a month of hours are read over all their keys', async () => {
  for (const hours of [0, 1, 23]) await add([counted('orders', [1, 0, 0, 0], MINUTE - hours * 60)])
  const day = await read(['orders'], { steps: 1_440 })
  expect(day.published.flatMap((n, i) => (n > 0 ? [i] : []))).toEqual([59, 1_379, 1_439])
  for (const days of [1, 29]) await add([counted('orders', [1, 0, 0, 0], MINUTE - days * 1_440)])
  const month = await read(['orders'], { step: 'hour', steps: 720 })
  expect(month.published.flatMap((n, i) => (n > 0 ? [719 - i] : []))).toEqual([696, 24, 23, 1, 0])
})

test('several names are summed up, and no name gives zeros', async () => {
  await add([counted('a', [1, 1, 0, 0, 3, 1]), counted('b', [2, 0, 0, 0])])
  expect((await read(['a', 'b', 'never'])).published).toEqual([0, 0, 3])
  expect((await read([])).published).toEqual([0, 0, 0])
})

test('the 501st topic gets no seat, until one has been silent for a day', async () => {
  const names = Array.from({ length: 501 }, (_, i) => `topic-${i}`)
  const refused = await add(names.map((name) => counted(name, [1, 0, 0, 0])))
  expect(refused.map(({ name }) => name)).toEqual(['topic-500'])
  expect(await redis.zcard('ft:{stats}:seats:t')).toBe(500)
  expect(await redis.keys('ft:{stats}:*topic-500:*')).toEqual([])
  expect([await store.isKept('t', 'topic-500'), await store.isKept('t', 'topic-0')]).toEqual([false, true])
  // All except the first one are used a day later. The figures of the first one are removed with its seat.
  const later = NOW + DAY_MS + 1
  await add(
    names.slice(1, 500).map((name) => counted(name, [1, 0, 0, 0], MINUTE + 1_440)),
    { now: later },
  )
  expect(await add([counted('topic-500', [1, 0, 0, 0], MINUTE + 1_440)], { now: later })).toEqual([])
  expect(await redis.keys('ft:{stats}:*topic-0:*')).toEqual([])
  expect(await store.isKept('t', 'topic-0')).toBe(false)
  expect((await store.topics()).length).toBe(500)
})

test('every key expires or is a list of seats', async () => {
  await add([counted('orders', [1, 0, 0, 0]), counted('sub', [0, 1, 0, 0, 4, 1], MINUTE, 's')])
  const keys = await redis.keys('*')
  const lives = await Promise.all(keys.map(async (key) => [key, await redis.ttl(key)] as const))
  for (const [key, ttl] of lives.filter(([key]) => !key.includes(':seats:'))) {
    expect(ttl, key).toBeGreaterThan(80_000)
    expect(ttl, key).toBeLessThanOrEqual(31 * 86_400)
  }
  expect(keys.every((key) => key.startsWith('ft:{stats}:'))).toBe(true)
})

test('an hour of a topic with many different times stays below 12 KB', async () => {
  for (let minute = 0; minute < 60; minute++) {
    const pairs = Array.from({ length: 20 }, (_, i) => [20 + i, 500]).flat()
    await add([counted('orders', [60_000, 60_000, 10, 1, ...pairs], MINUTE - (MINUTE % 60) + minute)])
  }
  const [key = ''] = await redis.keys('ft:{stats}:minutes:*')
  expect(Number(await redis.memory('USAGE', key, 'SAMPLES', 0))).toBeLessThan(12_000)
})

test('packed numbers of every size are read', async () => {
  const numbers = [0, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, 2 ** 50]
  for (const list of [numbers, [...numbers, ...numbers, ...numbers]]) {
    const packed = await redis.callBuffer(
      'EVAL',
      'return cmsgpack.pack(cjson.decode(ARGV[1]))',
      0,
      JSON.stringify(list),
    )
    expect(unpackNumbers(packed as Buffer)).toEqual(list)
  }
  expect(() => unpackNumbers(Buffer.from([0x80]))).toThrow('array')
  expect(() => unpackNumbers(Buffer.from([0x91, 0xc0]))).toThrow('kind c0')
})

const HOUR_MS = 3_600_000
const week = (name: string, hoursAgo: number, counts: number[], now = NOW) =>
  add([counted(name, counts, Math.floor(now / HOUR_MS - hoursAgo) * 60, 'w')], { now })

test('a week adds up by hour, in any order, and drops what is older', async () => {
  await week('s', 0, [1, 2, 3, 400])
  await week('s', 3, [5, 0, 0, 50])
  await week('s', 0, [1, 0, 0, 200])
  await week('s', 167, [9, 0, 0, 9])
  const { at, delivered, failed, deadLettered, meanMs } = await store.week('s', NOW)
  expect(at.at(-1)).toBe(Math.floor(NOW / HOUR_MS) * HOUR_MS)
  expect([delivered[0], delivered.at(-4), delivered.at(-1)]).toEqual([9, 5, 2])
  expect([failed.at(-1), deadLettered.at(-1), meanMs.at(-1), meanMs.at(-2)]).toEqual([2, 3, 300, null])
  const later = NOW + HOUR_MS
  await week('s', 0, [7, 0, 0, 7], later)
  const next = await store.week('s', later)
  expect([next.delivered[0], next.delivered.at(-2), next.delivered.at(-1)]).toEqual([0, 2, 7])
  expect((await store.week('s', NOW + 400 * HOUR_MS)).delivered.every((count) => count === 0)).toBe(true)
})

test('weeks of ten thousand busy endpoints take less than 40 MB, and none takes more than 6 KB', async () => {
  const usage = async (key: string) => Number(await redis.memory('USAGE', key, 'SAMPLES', 0))
  const bytesOf = async (counts: number[], name: string) => {
    for (let hour = 0; hour < 400; hour++) await week(name, 0, counts, NOW + hour * HOUR_MS)
    return usage(`ft:{stats}:week:${name}`)
  }
  // All keys, and not the memory of the server, which has buffers of its own.
  const used = async () => {
    const bytes = await Promise.all((await redis.keys('*')).map(usage))
    return bytes.reduce((sum, one) => sum + one, 0)
  }
  const before = await used()
  const busy = await bytesOf([3_600, 60, 6, 360_000], 'busy-00000000-0000-8000-8000-000000000000')
  expect((await used()) - before).toBeLessThan(4_000)
  expect(busy * 10_000).toBeLessThan(40_000_000)
  const most = await bytesOf([4e9, 4e9, 4e9, 4e15], 'most-00000000-0000-8000-8000-000000000000')
  expect(most).toBeLessThan(6_144)
})

test('past ten thousand endpoints the week of the one that is silent longest makes place', async () => {
  const names = Array.from({ length: 10_000 }, (_, n) => `s${n}`)
  const now = NOW - 2 * DAY_MS
  const seats = redis.pipeline()
  for (const name of names) seats.zadd('ft:{stats}:seats:w', now, name)
  await seats.exec()
  await week('s0', 0, [1, 0, 0, 1])
  await week('s1', 0, [1, 0, 0, 1], now)
  expect(await week('new', 0, [1, 0, 0, 1])).toEqual([])
  expect(await redis.zcard('ft:{stats}:seats:w')).toBe(10_000)
  expect([await store.isKept('w', 'new'), await store.isKept('w', 's0')]).toEqual([true, true])
})
