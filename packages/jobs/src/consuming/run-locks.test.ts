import { connect } from '@fantail/store'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { JOBS } from './dispatch-consumer.fixture.ts'
import type { RunCopies } from './run-copies.ts'
import type { RunEntry } from './run-entries.ts'
import { RunLocks } from './run-locks.ts'

const { redis } = await useRedis({ connect })
const locks = new RunLocks(0, redis, fail)

function fail(error: Error): never {
  throw error
}

function entryOf(): RunEntry {
  return {
    id: '1',
    addedAt: 1_000,
    run: { jobName: 'dispatch-0:1', fence: 1 },
    token: 'worker:1',
    starts: 1,
    since: 0,
    begun: true,
    lost: false,
    copies: {} as RunCopies,
    done: Promise.resolve('settled'),
  }
}

test.each([
  ['its lock is its own', 1, 1_000, 'worker:1', false],
  ['its lock has run out', 1, 1_000, null, false],
  // The worker has not yet received the answer to that start.
  ['the same worker has started the job once more', 2, 1_000, 'worker:2', false],
  ['another worker has started the job', 2, 1_000, 'other:1', true],
  ['another worker has started the job, and died', 2, 1_000, null, true],
  ['another worker and then the same one have started the job', 3, 1_000, 'worker:2', true],
  ['the same worker has started another job of that number', 2, 2_000, 'worker:2', true],
] as const)('a run is judged where %s', async (_, ats, timestamp, holder, lost) => {
  await redis.flushall()
  await redis.hset(`${JOBS}:1`, { ats, timestamp })
  if (holder !== null) await redis.set(`${JOBS}:1:lock`, holder)
  const entry = entryOf()
  await locks.retake(entry)
  expect(entry.lost).toBe(lost)
})

test('a start of the same worker that is known late, when its lock has run out, keeps the run', async () => {
  await redis.flushall()
  await redis.hset(`${JOBS}:1`, { ats: 2, timestamp: 1_000 })
  const entry = entryOf()
  const answered = async () => {
    entry.token = 'worker:2'
  }
  await new RunLocks(0, redis, fail, answered).retake(entry)
  expect(entry.lost).toBe(false)
})
