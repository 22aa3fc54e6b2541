import { steadyNow } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { DISPATCH_JOBS } from '../redis/job-locks.ts'
import type { ServiceProcess } from '../services/service-process.ts'
import { KilledWork } from './killed-work.ts'
import { lostAlive } from './lost-alive.ts'

const { redis } = await useRedis()

/** A worker that has these lines in its log. */
function workerWith(...lines: Record<string, unknown>[]): ServiceProcess {
  const worker = {
    signal: () => undefined,
    kill: async () => undefined,
    start: async () => undefined,
    logLines: () => lines,
  }
  return worker as unknown as ServiceProcess
}

test('a kill explains one repeat of each delivery that was under way at it', async () => {
  await redis.rpush(`${DISPATCH_JOBS}:active`, '7')
  await redis.hset(`${DISPATCH_JOBS}:7`, 'data', JSON.stringify({ v: 1, m: [{ message: 'm1' }] }))
  const [killed, worker, before] = [new KilledWork(), workerWith(), steadyNow()]
  await killed.restart(worker, redis)
  const after = steadyNow() + 1
  // So many that one repeat is no large share.
  const others = Array.from({ length: 100 }, (_, n): [string, number[]] => [`/other ${n}`, [before]])
  const check = (key: string, ...times: number[]) =>
    killed.expectExplained([worker], new Map([...others, [key, times]]))

  expect(() => check('/hook m1', before, after)).not.toThrow()
  expect(() => check('/hook m1', before, after, after)).toThrow()
  expect(() => check('/hook m1', after, after)).toThrow()
  expect(() => check('/hook m2', before, after)).toThrow()
})

test('the log of a living worker counts what it lost', () => {
  const time = '2026-01-02T03:04:05.678Z'
  const since = Date.parse(time)
  const delivered = { time, messageId: 'a', subscriptionId: 's', decision: 'delivered' }
  const timedOut = { time, messageId: 'b', subscriptionId: 's', error: 'timeout' }
  const run = { time, msg: 'dispatch.run_ended', job: 'j1', fence: 1, lost: false, delivered: 4 }
  const first = workerWith(delivered, run)

  expect(lostAlive([first], since)).toEqual({ late: 0, taken: 0 })
  expect(lostAlive([first, workerWith(timedOut)], since)).toEqual({ late: 1, taken: 0 })
  expect(lostAlive([first, workerWith(timedOut)], since + 1)).toEqual({ late: 0, taken: 0 })
  const taken = (...workers: ServiceProcess[]) => lostAlive(workers, since).taken
  expect(taken(first, workerWith(delivered))).toBe(1)
  expect(taken(first, workerWith({ ...run, fence: 2, delivered: 1 }))).toBe(4)
  expect(taken(workerWith({ ...run, lost: true }))).toBe(4)
})
