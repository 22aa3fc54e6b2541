/** Which processes may use the data, and when what they know takes effect. */
import { skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { dataFormatKey, PROCESSES_BASE } from '../keys/keys.ts'
import { readDataFormat, refuseUnknownData, UnknownDataError, useData } from './data-format.ts'
import type { OwnFormat } from './own-format.ts'
import { Processes, type ProcessReport } from './processes.ts'

const NOW: OwnFormat = { oldest: 1, newest: 1, capabilities: [] }
const NEXT: OwnFormat = { oldest: 1, newest: 2, capabilities: ['packed'] }
const LATER: OwnFormat = { oldest: 3, newest: 3, capabilities: ['packed'] }
const STEP_MS = 20_000

const { redis } = await useRedis()
beforeEach(() => redis.flushall())

const format = () => readDataFormat(redis)
const OLD = { format: 1, capabilities: [] }
const NEW = { format: 2, capabilities: ['packed'] }

/** A process that runs this build. */
function runs(own: OwnFormat, id = `p${own.newest}`) {
  const processes = new Processes(redis, own)
  const fixed = { role: 'redrive', mode: 'local', version: '0', commit: 'c', host: 'h', pid: 1 } as const
  const report: ProcessReport = { id, ...fixed, startedAt: '', slots: null, load: 0, lagMs: 0 }
  return { report: () => processes.report(report), end: () => processes.end(id) }
}

const pass = (ms: number) => redis.incrby(skewKey(PROCESSES_BASE), ms)

test('the first process stores what it knows, and an older one is refused before it is listed', async () => {
  await runs(NEXT).report()
  expect(await format()).toEqual(NEW)
  const before = await redis.keys('*')
  const refused = await runs(NOW)
    .report()
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(UnknownDataError)
  expect(String(refused)).toContain(
    'the data in this Redis have format 2, and this release reads format 1; it does not know packed, which the data use: start the newer release',
  )
  expect(await redis.keys('*')).toEqual(before)
  expect((await new Processes(redis).list()).processes.map(({ id }) => id)).toEqual(['p2'])
})

test('data that are older than a release can read are refused', async () => {
  await runs(NOW).report()
  await expect(runs(LATER).report()).rejects.toThrow(
    'have format 1, and this release reads format 3: upgrade by way of a release that reads format 1 too',
  )
  expect(await format()).toEqual(OLD)
})

test('nothing takes effect while an older process reports, or until a minute after its last report', async () => {
  const [old, next] = [runs(NOW), runs(NEXT)]
  await old.report()
  for (let round = 0; round < 6; round++) {
    await next.report()
    await old.report()
    await pass(STEP_MS)
  }
  await old.end()
  for (let round = 0; round < 3; round++) {
    await next.report()
    expect(await format()).toEqual(OLD)
    await pass(STEP_MS)
  }
  // It was only started again.
  await old.report()
  for (let round = 0; round < 3; round++) {
    await next.report()
    await pass(STEP_MS)
  }
  expect(await format()).toEqual(OLD)
  await next.report()
  expect(await format()).toEqual(NEW)
  await expect(old.report()).rejects.toThrow(UnknownDataError)
})

test('a capability waits for processes that the full list has no place for', async () => {
  await runs(NOW).report()
  const filler = Array.from({ length: 500 }, (_, n) => [Date.now() + 300_000, `f${n}`]).flat()
  await redis.zadd(`${PROCESSES_BASE}seen`, ...(filler as [number, string]))
  const [unlisted, next] = [runs(NOW, 'unlisted'), runs(NEXT)]
  for (let round = 0; round < 6; round++) {
    expect(await unlisted.report()).toBe(false)
    await next.report()
    await pass(STEP_MS)
  }
  expect(await format()).toEqual(OLD)
})

test.each([3_600_000, -3_600_000])(
  'a clock of Redis that is set by %i ms lets nothing take effect early',
  async (ms) => {
    const [old, next] = [runs(NOW), runs(NEXT)]
    await old.report()
    await next.report()
    await pass(ms)
    await next.report()
    expect(await format()).toEqual(OLD)
    for (let round = 0; round < 4; round++) {
      await pass(STEP_MS)
      await next.report()
    }
    expect(await format()).toEqual(NEW)
  },
)

test.each<[string, () => Promise<unknown>]>([
  ['was emptied', () => redis.flushall()],
  ['has an older backup', () => redis.set(dataFormatKey(), '{"format":1,"capabilities":{},"pending":{}}')],
  ['has lost the format', () => redis.set(dataFormatKey(), 'torn')],
  [
    'has another key there',
    async () => [await redis.del(dataFormatKey()), await redis.lpush(dataFormatKey(), 'x')],
  ],
])('a Redis that %s gets back what a running process acts on', async (_, change) => {
  const next = runs(NEXT)
  await next.report()
  await change()
  await next.report()
  expect(await format()).toEqual(NEW)
})

test.each([
  '{"format":"2","capabilities":{},"pending":{}}',
  '{"format":1e999,"capabilities":{},"pending":{}}',
  '{"format":1.5,"capabilities":{},"pending":{}}',
  '{"format":2,"capabilities":["packed"],"pending":{}}',
  '{"format":2,"capabilities":{"packed":null},"pending":{}}',
  '{"format":1,"capabilities":{},"pending":{"packed":"soon","#2":null}}',
  '{"format":1,"capabilities":{},"pending":{},"at":"now"}',
  '{"format":1,"capabilities":{},"pending":{},"at":null}',
])('a damaged format stops no process and no command: %s', async (damaged) => {
  const next = runs(NEXT)
  await next.report()
  await redis.set(dataFormatKey(), damaged)
  await useData(redis, NEXT)
  await runs(NEXT, 'another').report()
  await next.report()
  expect(await format()).toEqual(NEW)
})

test.each(['seen', 'records'])(
  'a list of processes whose %s have another type is made again',
  async (part) => {
    await redis.set(PROCESSES_BASE + part, 'x')
    const process = runs(NOW)
    expect(await process.report()).toBe(true)
    expect((await new Processes(redis).list()).processes.map(({ id }) => id)).toEqual(['p1'])
    await redis.set(PROCESSES_BASE + part, 'x')
    expect((await new Processes(redis).list()).processes).toEqual([])
  },
)

test('an emptied Redis gets no more than was in effect from a process that has run before', async () => {
  const [old, next] = [runs(NOW), runs(NEXT)]
  await old.report()
  await next.report()
  await redis.flushall()
  await next.report()
  expect(await format()).toEqual(OLD)
  await old.report()
})

test('commands check the data, and give empty ones a format', async () => {
  expect(await refuseUnknownData(redis, NOW)).toBeUndefined()
  await useData(redis, NEXT)
  expect(await format()).toEqual(NEW)
  await useData(redis, NEXT)
  await expect(useData(redis, NOW)).rejects.toThrow(UnknownDataError)
  await expect(refuseUnknownData(redis, NOW)).rejects.toThrow(UnknownDataError)
  await runs(NEXT).report()
})
