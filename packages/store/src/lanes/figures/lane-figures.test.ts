import { beforeEach, expect, test } from 'vitest'
import {
  BASE,
  claimsOf,
  keysLeft,
  makeMessage,
  parkAll,
  SHARD,
  takeFrom,
  writeLane,
} from '../lane.fixture.ts'
import { asRetry, failedOnce, useLanes } from '../lanes.fixture.ts'
import type { AttemptNote } from '../records/lane-records.ts'
import { verdictOf } from './verdict.ts'

const WINDOW_MS = 30_000
const { redis, lanes, later } = await useLanes()
const note = (subscriptionId: string, set: Partial<AttemptNote> = {}): AttemptNote => ({
  subscriptionId,
  attempts: 1,
  successes: 0,
  beganMs: 0,
  succeededMs: null,
  failed: null,
  failing: null,
  ...set,
})
const write = (...notes: AttemptNote[]) => lanes.noteAttempts(SHARD, notes)

/** Every test begins five seconds after the start of a window, however long its steps take. */
beforeEach(() => later(WINDOW_MS - (Date.now() % WINDOW_MS) + 5_000))

async function figuresOf(subscriptionId: string) {
  const [figures] = await lanes.figures([{ subscriptionId, shard: SHARD }])
  if (!figures) throw new Error('a lane has figures')
  return figures
}

test('a script reads at most 100 lanes, and the figures come in the order of the lanes', async () => {
  const id = await writeLane(redis)
  await write(note(id, { succeededMs: 500 }))
  const scripts = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
  const places = Array.from({ length: 250 }, (_, n) => ({
    subscriptionId: n === 240 ? id : `none-${n}`,
    shard: SHARD,
  }))
  await lanes.figures(places.slice(0, 1))
  const before = await scripts()
  const figures = await lanes.figures(places)
  expect((await scripts()) - before).toBe(3)
  expect(
    figures.map(({ lastSuccessAt }, n) => (lastSuccessAt === null ? -1 : n)).filter((n) => n >= 0),
  ).toEqual([240])
})

test('a lane shows its last success and its last failure, whichever worker noted them first', async () => {
  const id = await writeLane(redis)
  expect(await figuresOf(id)).toMatchObject({ lastFailure: null, lastSuccessAt: null })
  await write(note(id, { succeededMs: 500, failed: { ms: 400, statusCode: 503, error: null } }))
  const first = await figuresOf(id)
  expect(first.lastFailure).toMatchObject({ statusCode: 503, error: null })
  expect((first.lastFailure?.at ?? 0) - (first.lastSuccessAt ?? 0)).toBe(100)
  await write(note(id, { succeededMs: 60_000, failed: { ms: 60_000, statusCode: 500, error: null } }))
  expect(await figuresOf(id)).toMatchObject({
    lastFailure: first.lastFailure,
    lastSuccessAt: first.lastSuccessAt,
  })
  await later(2 * WINDOW_MS)
  await write(note(id, { succeededMs: 0, failed: { ms: 10, statusCode: null, error: 'timeout' } }))
  const last = await figuresOf(id)
  expect(last.lastFailure).toMatchObject({ statusCode: null, error: 'timeout' })
  expect(last.lastSuccessAt).toBe((last.lastFailure?.at ?? 0) + 10)
})

test('a time before the clock was set back does not hide what came later', async () => {
  const id = await writeLane(redis)
  await write(note(id, { succeededMs: 0 }))
  const ahead = await figuresOf(id)
  // A clock that was ahead leaves a stored time in the future.
  await redis.hincrby(`${BASE}lane:${id}`, 'eo', 3_600_000)
  await write(note(id, { succeededMs: 0 }))
  expect((await figuresOf(id)).lastSuccessAt).toBeLessThan((ahead.lastSuccessAt ?? 0) + 600_000)
})

test('a retry shows its failure and when that was; one without a time is not shown', async () => {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], [makeMessage()], asRetry(failedOnce('tls'), 60_000))
  expect((await figuresOf(id)).lastFailure).toMatchObject({ error: 'tls', statusCode: 500 })
  await redis.hdel(`${BASE}lane:${id}`, 'ea')
  expect((await figuresOf(id)).lastFailure).toBeNull()
})

test('a delivery that becomes too old after its failure is no further failure', async () => {
  const id = await writeLane(redis, { deadLetters: true })
  await parkAll(lanes, [id], [makeMessage()], asRetry())
  const { lastFailure } = await figuresOf(id)
  await later(20_000 * WINDOW_MS)
  expect(claimsOf(await takeFrom(lanes))).toMatchObject([{ state: { kind: 'dead', cause: 'expired' } }])
  expect((await figuresOf(id)).lastFailure).toEqual(lastFailure)
})

test('attempts count for half a minute to a minute', async () => {
  const id = await writeLane(redis)
  const lately = async () => (await figuresOf(id)).lately
  expect(await lately()).toEqual({ attempts: 0, successes: 0, spanMs: 0 })
  await write(note(id, { attempts: 8, successes: 2, beganMs: 1_000 }))
  await write(note(id, { attempts: 2, successes: 2 }))
  const first = await lately()
  expect(first).toMatchObject({ attempts: 10, successes: 4 })
  expect(first.spanMs).toBeGreaterThanOrEqual(1_000)
  await later(WINDOW_MS)
  expect(await lately()).toMatchObject({ attempts: 10, successes: 4 })
  await write(note(id, { attempts: 5, successes: 5 }))
  const both = await lately()
  expect(both).toMatchObject({ attempts: 15, successes: 9 })
  expect(both.spanMs).toBeGreaterThanOrEqual(WINDOW_MS + 1_000)
  await later(WINDOW_MS)
  const second = await lately()
  expect(second).toMatchObject({ attempts: 5, successes: 5 })
  expect(second.spanMs).toBeLessThan(2 * WINDOW_MS)
  await later(WINDOW_MS)
  expect(await lately()).toEqual({ attempts: 0, successes: 0, spanMs: 0 })
})

test('attempts at an endpoint that the subscription has left are not noted', async () => {
  const id = await writeLane(redis)
  await write(note(id, { succeededMs: 0 }))
  const { lastSuccessAt } = await figuresOf(id)
  await redis.hset(`${BASE}lane:${id}`, 'em', lastSuccessAt ?? 0)
  await redis.hdel(`${BASE}lane:${id}`, 'eo', 'en')
  await write(note(id, { beganMs: 20_000, succeededMs: 20_000 }))
  expect(await figuresOf(id)).toMatchObject({ lastSuccessAt: null, lately: { attempts: 0 } })
  await later(1_000)
  await write(note(id, { succeededMs: 0 }))
  expect(await figuresOf(id)).toMatchObject({ lastSuccessAt: expect.any(Number), lately: { attempts: 1 } })
})

test('failures in a row count over notes and workers until a success', async () => {
  const id = await writeLane(redis)
  const failing = async () => (await figuresOf(id)).failing
  const failed = { ms: 0, statusCode: 503, error: null }
  await write(
    note(id, { attempts: 5, successes: 2, succeededMs: 4_000, failed, failing: { inARow: 3, ms: 3_000 } }),
  )
  const first = await failing()
  expect(first?.inARow).toBe(3)
  await write(note(id, { attempts: 2, failed, failing: { inARow: 2, ms: 500 } }))
  expect(await failing()).toEqual({ inARow: 5, since: first?.since })
  expect(await redis.zrange(`${BASE}failing`, '0', '-1')).toEqual([id])
  await write(note(id, { attempts: 1, successes: 1, succeededMs: 0 }))
  expect(await failing()).toBeNull()
  expect(await redis.exists(`${BASE}failing`)).toBe(0)
})

test('arrivals of the last minute are known once older deliveries wait', async () => {
  const id = await writeLane(redis)
  await parkAll(lanes, [id], [makeMessage()])
  expect((await figuresOf(id)).arrivalsLastMinute).toBeNull()
  await later(2 * WINDOW_MS)
  await parkAll(lanes, [id], [makeMessage(), makeMessage()])
  expect(await figuresOf(id)).toMatchObject({
    arrivalsLastMinute: 2,
    isPaused: false,
    retentionSeconds: 345_600,
  })
})

test('a throttle below what came in the last minute is too slow, and a higher one is not', async () => {
  const id = await writeLane(redis, { rate: 2 })
  const verdict = async () => {
    const subscription = { status: 'active', createdAt: 0 } as const
    const now = Date.now() + 2 * WINDOW_MS
    return verdictOf({ figures: await figuresOf(id), subscription, now, attemptTimeoutMs: 15_000 }).code
  }
  await parkAll(lanes, [id], [makeMessage()])
  await later(2 * WINDOW_MS)
  const messages = Array.from({ length: 121 }, () => makeMessage())
  await parkAll(lanes, [id], messages)
  expect(await verdict()).toBe('tooSlowIn')
  await writeLane(redis, { rate: 3 }, id)
  expect(await verdict()).toBe('throttled')
})

test('a lane that is gone is not made again', async () => {
  await write(note('01a1fbe2-80fa-72ab-bc08-d682f311b524'))
  expect(await keysLeft(redis)).toEqual([])
})
