/** A worker continues while Redis is out of memory, because deliveries free memory. */
import { dispatchJobKey, isTrouble } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeAll, expect, test } from 'vitest'
import type { RunEntry } from '../consuming/run-entries.ts'
import { RunLocks } from '../consuming/run-locks.ts'
import { TroubleGuard } from './trouble-guard.ts'

const MEMORY_BYTES = 16 * 1_048_576
const JOB = dispatchJobKey(0, '1')
const { redis } = await useRedis({ args: ['--maxmemory', String(MEMORY_BYTES)] })
beforeAll(async () => {
  await redis.hset(JOB, { ats: '2', timestamp: '5' })
  await redis.setrange('ballast', MEMORY_BYTES, 'x')
})

const refusal = () => redis.set('more', '1').catch((error: Error) => error)

test.each([
  ['a lock that ran out is taken again', { starts: 2, addedAt: 5 }, 'token', false],
  ['the lock of a later start is left alone', { starts: 1, addedAt: 5 }, null, true],
  ['the lock of another job with its number is left alone', { starts: 2, addedAt: 4 }, null, true],
])('%s', async (_, of, lock, lost) => {
  await redis.del(`${JOB}:lock`)
  const errors: Error[] = []
  const locks = new RunLocks(0, redis, (error) => errors.push(error))
  const entry = { id: '1', token: 'token', lost: false, ...of } as RunEntry
  expect(isTrouble(await refusal())).toBe(true)
  await locks.retake(entry)
  expect([await redis.get(`${JOB}:lock`), entry.lost, errors]).toEqual([lock, lost, []])
})

test('a worker that was paused for other trouble is resumed', async () => {
  const calls: string[] = []
  const worker = {
    name: 'dispatch-0',
    pause: async () => void calls.push('pause'),
    resume: async () => void calls.push('resume'),
  }
  const guard = new TroubleGuard(worker, redis, { warn: () => undefined, info: () => undefined })
  expect(guard.notice(new Error('LOADING Redis is loading the dataset in memory'))).toBe(true)
  await waitFor(() => calls.length === 2, { what: 'the end of the pause' })
  expect(calls).toEqual(['pause', 'resume'])
})
