import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { dueKey, laneKey } from '../keys/keys.ts'
import { countDueDeliveries } from './due-deliveries.ts'
import { BASE, changeLane, deleteLane, makeMessage, parkAll, takeFrom, writeLane } from './lane.fixture.ts'
import { asRetry, failedOnce, useLanes } from './lanes.fixture.ts'

const { redis, lanes, later } = await useLanes()
const due = (lanesMax?: number) => countDueDeliveries(redis, lanesMax)
const messages = (count: number) => Array.from({ length: count }, () => makeMessage())

async function laneWith(count: number, settings: Parameters<typeof writeLane>[1] = {}) {
  const id = await writeLane(redis, settings)
  await parkAll(lanes, [id], messages(count))
  return id
}

test('due deliveries count until they are claimed, and again when their leases have ended', async () => {
  expect(await due()).toBe(0)
  const id = await laneWith(3)
  await parkAll(lanes, [id], messages(2), asRetry(failedOnce(), 60_000))
  expect(await due()).toBe(3)
  const { lanes: claimed } = await takeFrom(lanes, { deliveriesMax: 2 })
  expect(claimed[0]?.claims).toHaveLength(2)
  expect(await due()).toBe(1)
  await later(60_000)
  expect(await due()).toBe(5)
})

test('lanes that are paused, blocked, without quota or deleted count nothing', async () => {
  const paused = await laneWith(3)
  await changeLane(redis, paused, 'p', '1')
  const blocked = await laneWith(3, { mode: '-' })
  await changeLane(redis, blocked, 'mu', String(Date.now() + 60_000))
  const quota = await writeLane(redis, { mode: 's' })
  await parkAll(lanes, [quota], messages(3), asRetry())
  await deleteLane(redis, await laneWith(3))
  // The next token is never far ahead, so it is written again until a count is in time for it.
  const without = async () => {
    await redis.hset(laneKey(BASE, quota), { mq: '0', mn: String(Date.now() + 1_000) })
    return (await due()) === 0
  }
  await waitFor(without, { what: 'a count without the lanes' })
  await changeLane(redis, paused, 'p', '')
  await later(60_000)
  expect(await due()).toBe(3 + 1 + 3)
})

test('a throttled lane counts what its rate would have let go since the lane became due', async () => {
  await laneWith(100, { rate: 10 })
  expect(await due()).toBeLessThanOrEqual(2)
  await later(2_000)
  const counted = await due()
  expect(counted).toBeGreaterThanOrEqual(20)
  expect(counted).toBeLessThan(40)
  await takeFrom(lanes)
  expect(await due()).toBe(0)
  await later(60_000)
  expect(await due()).toBeGreaterThan(90)
})

test('a lane of an unproven endpoint and a FIFO log without a reader count as one', async () => {
  await laneWith(50, { proven: false })
  await redis.zadd(dueKey(BASE), '0', 'log:some-topic')
  expect(await due()).toBe(2)
})

test('lanes past the bound count as one, and unreadable lanes as none', async () => {
  for (let i = 0; i < 4; i++) await laneWith(5)
  expect([await due(), await due(3)]).toEqual([20, 16])
  const [first = ''] = await redis.zrange(dueKey(BASE), '0', '0')
  await redis.set(`${laneKey(BASE, first)}-x`, 'x')
  await redis.rename(`${laneKey(BASE, first)}-x`, laneKey(BASE, first))
  expect(await due()).toBe(15)
  await redis.set(dueKey(BASE), 'x')
  expect(await due()).toBe(0)
})
