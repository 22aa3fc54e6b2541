import { skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { PROCESSES_BASE } from '../keys/keys.ts'
import { Processes, type ProcessReport } from './processes.ts'

const { redis } = await useRedis()
const processes = new Processes(redis)
beforeEach(() => redis.flushall())

const report = (id: string, set: Partial<ProcessReport> = {}): ProcessReport => ({
  ...{
    id,
    role: 'delivery-worker',
    mode: 'server',
    version: '1.2.3',
    commit: 'c0ffee',
    host: 'worker-1',
    pid: 41,
  },
  ...{ startedAt: '2026-11-21T09:30:00.000Z', slots: { used: 3, max: 512 }, load: 0.5, lagMs: 2 },
  ...set,
})
const ids = async () => (await processes.list()).processes.map(({ id }) => id)

test('processes are listed by role and start with their latest report, until they end', async () => {
  await processes.report(report('b'))
  await processes.report(report('a', { role: 'publish-api', slots: null }))
  await processes.report(report('c', { startedAt: '2026-11-21T09:29:00.000Z' }))
  await processes.report(report('b', { load: 0.25 }))
  const { at, processes: listed } = await processes.list()
  expect(listed.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  expect(listed[1]).toMatchObject({ ...report('b', { load: 0.25 }) })
  expect(at - (listed[1]?.lastSeenAt ?? 0)).toBeLessThan(10_000)
  await processes.end('c')
  expect(await ids()).toEqual(['b', 'a'])
})

test('a process that was killed vanishes, and the next report removes it from Redis', async () => {
  await processes.report(report('killed'))
  await redis.set(skewKey(PROCESSES_BASE), 36_000)
  expect(await ids()).toEqual([])
  expect(await redis.hlen(`${PROCESSES_BASE}records`)).toBe(1)
  await processes.report(report('next'))
  expect(await ids()).toEqual(['next'])
  expect(await redis.hlen(`${PROCESSES_BASE}records`)).toBe(1)
})

test('no more processes are listed than there may be, and listed ones still report', async () => {
  const pipeline = redis.pipeline()
  for (let n = 0; n < 499; n++) pipeline.zadd(`${PROCESSES_BASE}seen`, Date.now(), `p${n}`)
  await pipeline.exec()
  expect(await processes.report(report('last'))).toBe(true)
  expect(await processes.report(report('surplus'))).toBe(false)
  expect(await processes.report(report('last'))).toBe(true)
  expect(await ids()).toEqual(['last'])
})
