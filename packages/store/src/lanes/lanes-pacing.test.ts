/** The throttle as an endpoint sees it. Several workers take at odd times, and each sends at its given times. */
import { RANDOM_TIMEOUT_MS, skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { dueKey } from '../keys/keys.ts'
import {
  BASE,
  claimsOf,
  makeMessage,
  parkAll,
  SHARD,
  skew,
  takeFrom,
  writeLane,
  writeSlice,
} from './lane.fixture.ts'
import { Lanes } from './lanes.ts'

const WORKERS = 3
const SPAN_MS = 12_000

const { server, redis } = await useRedis()
const connections = Array.from({ length: WORKERS }, () => new Redis(server.url))
const workers = connections.map((connection) => new Lanes(connection))
afterAll(async () => {
  for (const connection of [redis, ...connections]) connection.disconnect()
})

/** Sets the shard's offset so that its clock shows this epoch ms. */
const SHOW = `
local t = redis.call('TIME')
redis.call('SET', KEYS[1], ARGV[1] - t[1] * 1000 - math.floor(t[2] / 1000))`

/**
 * Runs `ask` when the shard's clock shows this epoch ms. Both commands are sent at once, so a slow machine does not
 * change the time.
 */
async function runAt<T>(round: number, epochMs: number, ask: (worker: Lanes) => Promise<T>): Promise<T> {
  const [connection, worker] = [connections[round % WORKERS], workers[round % WORKERS]]
  if (!connection || !worker) throw new Error('there are workers')
  const [, answer] = await Promise.all([connection.eval(SHOW, 1, skewKey(BASE), epochMs), ask(worker)])
  return answer
}

/** Send times while Redis's clock runs through `spanMs` with the given pauses, repeated. Workers take turns. */
async function sendTimes(rate: number, pausesMs: number[], spanMs = SPAN_MS): Promise<number[]> {
  await redis.flushall()
  await writeSlice(redis)
  const id = await writeLane(redis, { rate, maxInFlight: 256 })
  const [first] = workers
  if (!first) throw new Error('there are workers')
  const messages = Array.from({ length: Math.ceil((rate * spanMs) / 1_000) + 300 }, () => makeMessage())
  for (let i = 0; i < messages.length; i += 500) await parkAll(first, [id], messages.slice(i, i + 500))
  const begun = Date.now()
  const times: number[] = []
  for (let round = 0, at = 0; at < spanMs; round++, at += pausesMs[round % pausesMs.length] ?? 1) {
    const claims = claimsOf(await runAt(round, begun + at, (worker) => takeFrom(worker)))
    times.push(...claims.map(({ sendAt }) => (sendAt ?? Number.NaN) - begun))
    const settled = claims.map((claim) => ({ ...claim, to: { op: 'delivered' } as const }))
    await runAt(round, begun + at, (worker) => worker.settle(SHARD, settled))
  }
  return times
}

function mostInOneSecond(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  let from = 0
  return sorted.reduce((most, time, i) => {
    while (time - (sorted[from] ?? 0) >= 1_000) from++
    return Math.max(most, i - from + 1)
  }, 0)
}

test('no second sees more than the rate allows, and ten seconds see all of it', {
  timeout: RANDOM_TIMEOUT_MS,
}, async () => {
  // The last pause bounds the number of rounds: without it, a series of 1 ms would take 12,000.
  const pauses = fc
    .array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 20 })
    .map((some) => [...some, 60])
  const paced = fc.asyncProperty(fc.constantFrom(1, 3, 20, 150), pauses, async (rate, pausesMs) => {
    const times = await sendTimes(rate, pausesMs)
    expect(mostInOneSecond(times)).toBeLessThanOrEqual(1.1 * rate + 1)
    const inTenSeconds = times.filter((time) => time >= 1_000 && time < 11_000).length
    expect(inTenSeconds).toBeGreaterThanOrEqual(Math.floor(0.97 * 10 * rate))
  })
  await fc.assert(paced, { numRuns: 15, endOnFailure: true })
})

test('a fraction of a request per second is a pause between requests, and all of it is used', async () => {
  const times = await sendTimes(0.2, [90, 240, 700], 61_000)
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(4_999)
  expect(times.length).toBeGreaterThanOrEqual(12)
  expect(times.length).toBeLessThanOrEqual(13)
})

test('a throttle holds while the clock is set back and forth', { timeout: RANDOM_TIMEOUT_MS }, async () => {
  const jumps = fc.array(fc.constantFrom(20, 60, -500, 90, -3_000, 700), { minLength: 30, maxLength: 60 })
  const paced = fc.asyncProperty(jumps, async (steps) => {
    await redis.flushall()
    await writeSlice(redis)
    const id = await writeLane(redis, { rate: 10, maxInFlight: 256 })
    const [worker] = workers
    if (!worker) throw new Error('there are workers')
    await skew(redis, -3_600_000) // due long ago, however far back the clock goes
    await parkAll(
      worker,
      [id],
      Array.from({ length: 300 }, () => makeMessage(Date.now() - 60_000)),
    )
    const begun = Date.now()
    let [at, elapsed, sent] = [0, 0, 0]
    for (const step of steps) {
      at += step
      elapsed += Math.max(step, 0)
      await skew(redis, at)
      await redis.zadd(dueKey(BASE), 0, id)
      sent += claimsOf(await takeFrom(worker)).length
    }
    const passedMs = elapsed + Date.now() - begun
    expect(sent).toBeLessThanOrEqual((passedMs + 250) / 100 + 1)
    expect(sent).toBeGreaterThan(0)
  })
  await fc.assert(paced, { numRuns: 5, endOnFailure: true })
})
