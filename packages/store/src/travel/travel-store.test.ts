import { skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { CREDENTIALS_BASE, dueKey, TRAVEL_KEY } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { useData } from '../processes/data-format.ts'
import { readNow } from '../redis/clock.ts'
import { connect } from '../redis/connections/connect.ts'
import { checkTravel, moveTime, readWork, TravelledDataError } from './travel-store.ts'

const HOUR_MS = 3_600_000
const DISPATCH = 'ft:{dispatch-0}:dispatch-0'
const ON = { mode: 'local', timeTravel: true } as const

const { redis } = await useRedis({ connect: (options) => connect(options) })
beforeEach(() => redis.flushall())

test('a stack begins on empty data and keeps its id', async () => {
  await redis.hset(`${DISPATCH}:meta`, 'version', '5')
  await useData(redis)
  const id = await checkTravel(redis, ON)
  await redis.set(`${shardBase(3)}data`, 'x')
  expect(await checkTravel(redis, ON)).toBe(id)
  expect(await redis.pttl(TRAVEL_KEY)).toBe(-1)
})

test('data of another stack is refused and not touched', async () => {
  await redis.set(`${shardBase(3)}data`, 'x')
  await expect(checkTravel(redis, ON)).rejects.toThrow('needs an empty Redis of its own')
  expect(await redis.keys('*')).toEqual([`${shardBase(3)}data`])
})

test.each(['local', 'server'] as const)(
  '%s mode without the setting refuses data with such an id',
  async (mode) => {
    const settings = { mode, timeTravel: false }
    expect(await checkTravel(redis, settings)).toBeUndefined()
    await checkTravel(redis, ON)
    await expect(checkTravel(redis, settings)).rejects.toBeInstanceOf(TravelledDataError)
  },
)

test('the time of data without such an id cannot be moved', async () => {
  await expect(moveTime(redis, Date.now() + HOUR_MS)).rejects.toThrow('cannot be moved')
  expect(await redis.keys('*')).toEqual([])
})

test('a move takes all shards to the target at once, and never back', async () => {
  await checkTravel(redis, ON)
  const target = (await readNow(redis, 0)) + HOUR_MS
  const { realMs, offsetMs } = await moveTime(redis, target)
  expect(realMs + offsetMs).toBeGreaterThanOrEqual(target)
  expect(realMs + offsetMs).toBeLessThan(target + 1_000)
  for (const shard of [0, 1, SHARD_COUNT - 1])
    expect(await readNow(redis, shard)).toBeGreaterThanOrEqual(target)
  expect(await redis.get(skewKey(CREDENTIALS_BASE))).toBe(String(offsetMs))
  const skews = await Promise.all(
    Array.from({ length: SHARD_COUNT }, (_, shard) => redis.get(skewKey(shardBase(shard)))),
  )
  expect(new Set(skews)).toEqual(new Set([String(offsetMs)]))
  expect(await moveTime(redis, target - HOUR_MS)).toMatchObject({ offsetMs })
})

test('keys that expire come nearer to their end, but for locks of processes', async () => {
  await checkTravel(redis, ON)
  const [window, longer, lock] = [`${shardBase(1)}idem:a`, 'ft:{stats}:hours:t:a:1', `${DISPATCH}:7:lock`]
  await redis
    .multi()
    .set(window, '1', 'PX', HOUR_MS)
    .set(longer, '1', 'PX', 3 * HOUR_MS)
    .exec()
  await redis.set(lock, '1', 'PX', HOUR_MS)
  await moveTime(redis, (await readNow(redis, 0)) + 2 * HOUR_MS)
  expect(await redis.exists(window, lock)).toBe(1)
  expect(await redis.pttl(longer)).toBeLessThanOrEqual(HOUR_MS)
  expect(await redis.pttl(longer)).toBeGreaterThan(HOUR_MS - 60_000)
  expect(await redis.pttl(lock)).toBeGreaterThan(HOUR_MS - 60_000)
})

test('a delayed job is due at its time, and a waiting worker is woken', async () => {
  await checkTravel(redis, ON)
  const now = await readNow(redis, 0)
  await redis.zadd(`${DISPATCH}:delayed`, (now + HOUR_MS) * 4_096, 'job')
  await redis.zadd(dueKey(shardBase(5)), now + 2 * HOUR_MS, 'log:t')
  const { due, queues } = await readWork(redis, [DISPATCH])
  expect(due.map(({ what }) => what).sort()).toEqual([`delayed job of ${DISPATCH}`, 'log t'])
  expect(Math.min(...due.map(({ at }) => at))).toBe(now + HOUR_MS)
  expect(queues).toMatchObject([{ name: DISPATCH, waiting: 0, active: 0 }])
  const { realMs } = await moveTime(redis, now + HOUR_MS)
  expect(Number(await redis.zscore(`${DISPATCH}:delayed`, 'job')) / 4_096).toBeLessThanOrEqual(realMs)
  expect(await redis.zrange(`${DISPATCH}:marker`, '0', '-1')).toEqual(['0'])
})
