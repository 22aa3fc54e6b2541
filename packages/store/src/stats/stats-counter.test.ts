import { startCountingProxy, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { Redis } from 'ioredis'
import { beforeEach, expect, test } from 'vitest'
import { bucketOf } from './log-buckets.ts'
import { StatsCounter } from './stats-counter.ts'
import { type Counted, StatsStore } from './stats-store.ts'

const { redis, server } = await useRedis()
const store = new StatsStore(redis)
const ORDERS = 'arn:aws:sns:us-east-1:000000000000:orders'
const DIRECT = 'arn:aws:sns:us-east-1:000000000000:direct-3:direct/sms'
const START = Date.UTC(2026, 10, 21, 9, 30, 59)
beforeEach(() => redis.flushall())

function startCounting(set: { add?: StatsStore['add']; flushMs?: number; weeksMs?: number } = {}) {
  const clock = { now: START }
  const states: string[] = []
  const counter = new StatsCounter({
    store: { add: set.add ?? ((flush) => store.add(flush)) },
    now: () => clock.now,
    onFlush: (state) => states.push(state),
    flushMs: set.flushMs ?? 3_600_000,
    weeksMs: set.weeksMs ?? 3_600_000,
  })
  return { counter, clock, states }
}

const read = (kind: 't' | 's' | 'a', name: string, now: number) =>
  store.read({ kind, names: [name], step: 'minute', steps: 2, now })

test('counts on both sides of a minute stand in their own minutes', async () => {
  const { counter, clock } = startCounting()
  const orders = counter.topic(ORDERS)
  orders.published(clock.now, 3)
  orders.delivered(clock.now, bucketOf(10))
  clock.now += 2_000
  orders.published(clock.now, 4)
  orders.failed(clock.now)
  orders.deadLettered(clock.now)
  counter.subscription('s1').delivered(clock.now, bucketOf(700))
  await counter.stop()
  expect(await read('t', ORDERS, clock.now)).toMatchObject({
    published: [3, 4],
    delivered: [1, 0],
    failed: [0, 1],
    deadLettered: [0, 1],
    p99Ms: [expect.closeTo(10, -0.5), null],
  })
  expect(await read('s', 's1', clock.now)).toMatchObject({ published: [0, 0], delivered: [0, 1] })
  expect(await read('a', '000000000000', clock.now)).toMatchObject({ published: [3, 4], delivered: [1, 0] })
})

test('direct messages count for their account alone', async () => {
  const { counter, clock } = startCounting()
  counter.topic(DIRECT).published(clock.now, 2)
  await counter.stop()
  expect((await read('a', '000000000000', clock.now)).published).toEqual([0, 2])
  expect(await redis.exists('ft:{stats}:seats:t')).toBe(0)
})

test('nothing is sent while nothing was counted, and one script for all that was', async () => {
  const commands: string[][] = []
  const proxy = await startCountingProxy(server.port, (write) => commands.push(...write))
  const counting = new Redis(proxy.url)
  await waitFor(() => counting.status === 'ready')
  commands.length = 0
  const proxied = new StatsStore(counting)
  const { counter, clock, states } = startCounting({ add: (flush) => proxied.add(flush), flushMs: 20 })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(commands).toEqual([])
  for (let n = 0; n < 5_000; n++) {
    counter.topic(ORDERS).delivered(clock.now, bucketOf(n))
    counter.subscription(`s${n % 40}`).delivered(clock.now, bucketOf(n))
  }
  await waitFor(() => states.length === 1)
  expect(commands.map(([name]) => name?.toLowerCase())).toEqual([expect.stringMatching(/^eval/)])
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(commands).toHaveLength(1)
  expect((await read('t', ORDERS, clock.now)).delivered).toEqual([0, 5_000])
  await counter.stop()
  // The weeks follow.
  expect(commands).toHaveLength(2)
  counting.disconnect()
  proxy.stop()
})

test('a flush whose reply is lost is repeated and counted once', async () => {
  let calls = 0
  const add: StatsStore['add'] = async (flush) => {
    const added = await store.add(flush)
    if (++calls < 3) throw new Error('connection is closed')
    return added
  }
  const { counter, clock, states } = startCounting({ add, flushMs: 10 })
  const orders = counter.topic(ORDERS)
  orders.published(clock.now, 1)
  await waitFor(() => states.includes('down'))
  orders.published(clock.now, 1)
  await waitFor(() => states.includes('up'))
  await counter.stop()
  expect((await read('t', ORDERS, clock.now)).published).toEqual([0, 2])
})

test('the total is exact for more topics than have seats', async () => {
  const { counter, clock } = startCounting()
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 700; n++) counter.topic(`${ORDERS}-${n}`).published(clock.now, 1)
    for (let n = 0; n < 1_500; n++) counter.subscription(`s${n}`).failed(clock.now)
    clock.now += 60_000
  }
  await counter.stop()
  const now = clock.now - 60_000
  expect((await read('a', '000000000000', now)).published).toEqual([700, 700])
  const kept = await store.topics()
  expect(kept).toHaveLength(500)
  const sums = await store.read({ kind: 't', names: kept, step: 'minute', steps: 2, now })
  expect(sums.published).toEqual([500, 500])
  expect(await redis.zcard('ft:{stats}:seats:s')).toBe(500)
})

test('a subscription without a seat is not counted until seats are tried again', async () => {
  const sent: string[] = []
  const weeks: string[] = []
  const add: StatsStore['add'] = async ({ counted }) => {
    for (const { kind, name } of counted) (kind === 's' ? sent : weeks).push(name)
    return counted.filter(({ name }) => name === 'late' || name === 'last')
  }
  const { counter, clock, states } = startCounting({ add, flushMs: 10, weeksMs: 1 })
  const [early, late] = [counter.subscription('early'), counter.subscription('late')]
  const count = async () => {
    const before = states.length
    const asked = ['later', 'last'].map((id) => counter.subscription(id))
    for (const tally of [early, late, ...asked]) tally.delivered(clock.now, bucketOf(5))
    const isWaiting = late.isDirty
    await waitFor(() => states.length > before)
    return isWaiting
  }
  const all = ['early', 'late', 'later', 'last']
  expect(await count()).toBe(true)
  await waitFor(() => weeks.includes('late'))
  clock.now += 599_999
  expect(await count()).toBe(false)
  expect(sent).toEqual([...all, 'early', 'later'])
  clock.now += 1
  expect(await count()).toBe(true)
  expect(sent).toEqual([...all, 'early', 'later', ...all])
  await counter.stop()
})

test('a process without Redis keeps at most 20,000 statistics', async () => {
  const { counter, clock } = startCounting({ add: () => Promise.reject(new Error('down')) })
  for (let minute = 0; minute < 30; minute++) {
    for (let n = 0; n < 1_000; n++) counter.subscription(`s${n}`).failed(clock.now)
    clock.now += 60_000
  }
  await counter.stop()
  expect(counter.dropped).toBe(10_000)
})

test('the newest statistics are written if there are more than are kept', async () => {
  const written: string[] = []
  const add: StatsStore['add'] = async ({ counted }) => {
    written.push(...counted.map(({ name }) => name))
    return []
  }
  const { counter, clock } = startCounting({ add })
  for (let n = 0; n < 20_003; n++) counter.subscription(`s${n}`).failed(clock.now)
  await counter.stop()
  expect(counter.dropped).toBe(6)
  expect([written.length, written[0], written.at(-1)]).toEqual([40_000, 's3', 's20002'])
})

test('a flush writes at most 200 statistics, and the total before all others', async () => {
  const writes: string[][] = []
  const add: StatsStore['add'] = async ({ counted }) => {
    writes.push(counted.map(({ kind }) => kind))
    return []
  }
  const { counter, clock, states } = startCounting({ add, flushMs: 10 })
  for (let n = 0; n < 300; n++) counter.topic(`${ORDERS}-${n}`).published(clock.now, 1)
  await waitFor(() => states.length === 1)
  expect(writes.map((kinds) => kinds.length)).toEqual([50, 50, 50, 50])
  expect(writes[0]?.[0]).toBe('a')
  await waitFor(() => states.length === 2)
  expect(writes.flat()).toHaveLength(301)
  await counter.stop()
})

test('figures of a week are written once a minute, apart from all others, and by hour', async () => {
  const writes: Counted[][] = []
  const add: StatsStore['add'] = async ({ counted }) => {
    writes.push(counted)
    return []
  }
  const { counter, clock, states } = startCounting({ add, flushMs: 10, weeksMs: 60 })
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 20; n++) counter.subscription(`s${n}`).delivered(clock.now, bucketOf(100))
    const before = states.length
    await waitFor(() => states.length > before)
    clock.now += 60_000
  }
  const weeks = () => writes.flat().filter(({ kind }) => kind === 'w')
  await waitFor(() => weeks().some(({ counts: [delivered] }) => delivered !== undefined))
  await counter.stop()
  const ofFirst = weeks().filter(({ name }) => name === 's0')
  expect(ofFirst.map(({ minute }) => minute % 60)).toEqual(ofFirst.map(() => 0))
  expect(ofFirst.reduce((sum, { counts: [delivered = 0] }) => sum + delivered, 0)).toBe(3)
  expect(writes.filter((counted) => new Set(counted.map(({ kind }) => kind === 'w')).size > 1)).toEqual([])
})

test('a subscription without minutes still has a week', async () => {
  const { counter, clock } = startCounting()
  for (let n = 0; n < 600; n++) counter.subscription(`s${n}`).delivered(clock.now, bucketOf(100))
  await counter.stop()
  clock.now += 60_000
  expect(await redis.zcard('ft:{stats}:seats:s')).toBe(500)
  expect(await redis.zcard('ft:{stats}:seats:w')).toBe(600)
  const { delivered, meanMs, at } = await store.week('s599', clock.now)
  expect([at.length, delivered.at(-1), meanMs.at(-1)]).toEqual([168, 1, expect.closeTo(100, -1.5)])
})
