import { closeGate, dataFormatKey, openGate, Processes, UnknownDataError } from '@fantail/store'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createHeartbeat, type Heartbeat } from './heartbeat.ts'

const { redis } = await useRedis()
const ALWAYS = Number.POSITIVE_INFINITY
const build = { version: '1.2.3', commit: 'c0ffee' }
const log = { info: () => undefined, warn: () => undefined }

let failures: unknown[]
let heartbeat: Heartbeat
beforeEach(async () => {
  await redis.flushall()
  failures = []
  const fail = (error: unknown) => void failures.push(error)
  const processes = new Processes(redis)
  heartbeat = createHeartbeat({ processes, role: 'redrive', mode: 'local', build, running: {}, log, fail })
  await heartbeat.join()
})
afterEach(async () => {
  await heartbeat.stop()
  closeGate(() => Promise.resolve())
  openGate(ALWAYS)
})

/** Acts like 35 s without a report. */
const beSilent = () => openGate(performance.now() - 1)

test('a Redis that refuses writes is still read after a long silence, and writes get its own answer', async () => {
  await redis.set('key', 'v')
  await redis.config('SET', 'min-replicas-to-write', '1')
  beSilent()
  expect(await redis.get('key')).toBe('v')
  await expect(redis.set('key', 'w')).rejects.toThrow('NOREPLICAS')
  const replies = (await redis.pipeline().time().get('key').set('key', 'w').exec()) ?? []
  expect(replies.map(([error]) => error?.message.split(' ')[0])).toEqual([undefined, undefined, 'NOREPLICAS'])
  await redis.config('SET', 'min-replicas-to-write', '0')
  await redis.set('key', 'w')
  expect(failures).toEqual([])
})

test('a process that must not use the data sends nothing more, not even while it refuses writes', async () => {
  await redis.set(dataFormatKey(), '{"format":1,"capabilities":{"packed":1},"pending":{}}')
  await redis.config('SET', 'min-replicas-to-write', '1')
  beSilent()
  await expect(redis.get('key')).rejects.toThrow(UnknownDataError)
  await redis.config('SET', 'min-replicas-to-write', '0')
  await expect(redis.set('key', 'w')).rejects.toThrow(UnknownDataError)
  expect(failures).toEqual([expect.any(UnknownDataError)])
})

test('a full Redis takes reports, so that what frees memory runs after a long silence', async () => {
  await redis.set('key', 'v')
  await redis.config('SET', 'maxmemory', '1')
  beSilent()
  expect(await redis.del('key')).toBe(1)
  await expect(redis.set('key', 'w')).rejects.toThrow('OOM')
  await redis.config('SET', 'maxmemory', '0')
})
