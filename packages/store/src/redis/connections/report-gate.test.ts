import { useRedis } from '@fantail/test-kit/use-redis'
import { afterEach, expect, test } from 'vitest'
import { Processes } from '../../processes/processes.ts'
import { batch } from '../batch.ts'
import { connect, ping } from './connect.ts'
import { closeGate, openGate } from './report-gate.ts'

const { server, redis } = await useRedis()
const ALWAYS = Number.POSITIVE_INFINITY
afterEach(() => openGate(ALWAYS))

const fixed = { role: 'redrive', mode: 'local', version: '0', commit: 'c', host: 'h', pid: 1 } as const
const report = () =>
  new Processes(redis).report({ id: 'p', ...fixed, startedAt: '', slots: null, load: 0, lagMs: 0 })

test('commands wait for one report, in their order, and pass while it is fresh', async () => {
  const asked = Promise.withResolvers<void>()
  const reported = asked.promise.then(report).then(() => openGate(ALWAYS))
  closeGate(() => reported)
  const transaction = batch(redis).rpush('list', 'b').lrange('list', 0, -1)
  const written = [redis.rpush('list', 'a'), transaction.exec()] as const
  await Promise.all([ping(redis), redis.call('HELLO')])
  const other = connect({ url: server.url, name: 'other' })
  await new Promise((resolve) => other.once('ready', resolve))
  expect(await other.dbsize()).toBe(0)
  other.disconnect()
  asked.resolve()
  expect((await written[1])?.[1]).toEqual([null, ['a', 'b']])
  expect(await redis.llen('list')).toBe(2)
})

test('a process that was silent for too long writes nothing before it has asked', async () => {
  const refusal = new Error('the data are unknown')
  closeGate(() => Promise.reject(refusal))
  openGate(performance.now() + 10_000)
  await redis.set('before', '1')
  openGate(performance.now() - 1)
  await expect(redis.set('after', '1')).rejects.toThrow(refusal)
  const [[error] = []] =
    (await redis
      .multi()
      .set('after', '1')
      .exec()
      .catch((reason) => [[reason]])) ?? []
  expect(error).toBe(refusal)
  openGate(ALWAYS)
  expect(await redis.exists('before', 'after')).toBe(1)
})

/** Reports on the same connection, as a service does. */
const reportOnce = () => {
  let reported: Promise<void> | undefined
  return () => {
    reported ??= report().then(() => openGate(ALWAYS))
    return reported
  }
}

test('a pipeline waits as a whole, although it begins with a command that uses no data', async () => {
  closeGate(reportOnce())
  const replies = await batch(redis).time().set('first', '1').get('first').exec()
  expect(replies?.slice(1)).toEqual([
    [null, 'OK'],
    [null, '1'],
  ])
})

test('a gate that closes while a pipeline is being sent lets all of it through', async () => {
  const count = 20_000
  const pipeline = batch(redis)
  for (let n = 0; n < count; n++) pipeline.incr('counted')
  closeGate(reportOnce())
  openGate(performance.now() + 1)
  const replies = await pipeline.exec()
  const wrong = replies?.findIndex(([error, reply], n) => error !== null || reply !== n + 1)
  expect(wrong).toBe(-1)
})

test('a command that waited and then fails does so for its caller alone', async () => {
  await redis.set('text', 'x')
  closeGate(reportOnce())
  await expect(redis.lpush('text', 'y')).rejects.toThrow('WRONGTYPE')
})
