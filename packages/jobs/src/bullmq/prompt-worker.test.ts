import { once } from 'node:events'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import type { Queue, Worker } from 'bullmq'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWorker, openQueue, queuePrefix } from './bull.ts'

const NAME = 'prompt'
const BEGUN_WITHIN_MS = 4_000
/** Well below the time from which a worker makes a second fetch beside the first. */
const QUICK_MS = 3

const { server, redis } = await useRedis()
const workers: Worker[] = []
const begun: string[] = []
/** Calls of the workers' `fetching`, and when they came, by performance.now(). */
const fetching: number[] = []
const fetchedAt: number[] = []
let queue: Queue
let released: PromiseWithResolvers<void>
beforeEach(async () => {
  released = Promise.withResolvers<void>()
  queue = await openQueue({ name: NAME, connection: redis }, () => undefined)
})
afterEach(async () => {
  released.resolve()
  await Promise.all(workers.splice(0).map((worker) => worker.close()))
  await queue.close()
  await redis.flushall()
  begun.length = 0
  fetching.length = 0
  fetchedAt.length = 0
})

const add = (job: string) => queue.add('j', { job })
const whenBegun = (...jobs: string[]) =>
  waitFor(() => jobs.every((job) => begun.includes(job)), {
    timeoutMs: BEGUN_WITHIN_MS,
    what: `${jobs} to begin`,
  })

/** A worker that waits for a job. */
async function startIdle(): Promise<Worker> {
  const worker = await start(4)
  await whenWaiting(workers.length)
  return worker
}

/** The job `waits` runs until the test resolves it. */
async function start(jobsMax: number): Promise<Worker> {
  const worker = createWorker<{ job: string }>({
    name: NAME,
    url: server.url,
    jobsMax,
    fetching: (change) => {
      fetching.push(change)
      fetchedAt.push(performance.now())
    },
    process: async ({ data }) => {
      begun.push(data.job)
      if (data.job === 'waits') await released.promise
    },
  })
  worker.on('error', () => undefined)
  workers.push(worker)
  await worker.waitUntilReady()
  void worker.run()
  return worker
}

const whenWaiting = (count: number) =>
  waitFor(async () => (await redis.info('clients')).includes(`blocked_clients:${count}\r`))

test('a job that comes to a worker that is closing need not wait until another one asks', async () => {
  const closing = await startIdle()
  await add('waits')
  await whenBegun('waits')
  await whenWaiting(1)
  await startIdle()
  const closed = closing.close()
  await add('next')
  await whenBegun('next')
  released.resolve()
  await closed
})

test('a worker that is resumed fetches beside the job that came while it was paused', async () => {
  const worker = await startIdle()
  await worker.pause(true)
  await add('waits')
  await whenBegun('waits')
  await worker.resume()
  await add('next')
  await whenBegun('next')
})

test('a paused worker that is closed waits for its job', async () => {
  const worker = await startIdle()
  await add('waits')
  await whenBegun('waits')
  await worker.pause(true)
  const closed = worker.close()
  released.resolve()
  await closed
  expect(await redis.exists(`${queuePrefix(NAME)}:${NAME}:1`)).toBe(0)
})

test('each command that may bring a job is announced, and its reply too', async () => {
  const worker = await startIdle()
  const idle = fetching.length
  await Promise.all(['first', 'second', 'third'].map(add))
  await whenBegun('first', 'second', 'third')
  await whenWaiting(1)
  // Each job comes either beside the loop or at the end of the one before.
  expect(fetching.length - idle).toBeGreaterThanOrEqual(2 * 3)
  await worker.close()
  expect(fetching.reduce((sum, change) => sum + change, 0)).toBe(0)
})

test('a job whose end is refused is not announced for ever', async () => {
  const worker = await startIdle()
  await add('waits')
  await whenBegun('waits')
  const [id = ''] = await redis.lrange(`${queuePrefix(NAME)}:${NAME}:active`, 0, -1)
  expect(await redis.del(`${queuePrefix(NAME)}:${NAME}:${id}:lock`)).toBe(1)
  released.resolve()
  await add('after')
  await whenBegun('waits', 'after')
  await worker.close()
  expect(fetching.reduce((sum, change) => sum + change, 0)).toBe(0)
})

test.each([
  ['no other job waits, so it wakes no idle worker', ['waits'], 0],
  ['another job waits, so it wakes an idle worker', ['waits', 'next'], 1],
])('a worker takes a job while %s', async (_, jobs, marked) => {
  const marker = `${queuePrefix(NAME)}:${NAME}:marker`
  for (const job of jobs) await add(job)
  await redis.del(marker)
  await start(1)
  await whenBegun('waits')
  expect(await redis.exists(marker)).toBe(marked)
})

test('a worker that took the only job waits for the next one without another fetch', async () => {
  const worker = await startIdle()
  // A fetch that a busy machine makes slow is rightly followed by one beside it, so a round with a quick one counts.
  let quick: number[] | undefined
  while (!quick) {
    const idle = fetching.length
    begun.length = 0
    await add('waits')
    await whenBegun('waits')
    await whenWaiting(1)
    const [sentAt = 0, repliedAt = 0] = fetchedAt.slice(idle)
    if (repliedAt - sentAt < QUICK_MS) quick = fetching.slice(idle)
    const completed = once(worker, 'completed')
    released.resolve()
    await completed
    await waitFor(() => fetching.reduce((sum, change) => sum + change, 0) === 0)
    released = Promise.withResolvers<void>()
  }
  expect(quick).toEqual([1, -1])
  await add('next')
  await whenBegun('next')
})

test('a delayed job begins in time beside a job that came alone', async () => {
  await startIdle()
  await queue.add('j', { job: 'later' }, { delay: 500 })
  await whenWaiting(1)
  await add('waits')
  await whenBegun('waits', 'later')
})
