import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ifReadable, jobText, Quarantine, readMessage, ServerMarks } from '@fantail/store'
import { randomRuns, waitFor } from '@fantail/test-kit'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { JOBS, jobOf, message, textsOf, useConsumers } from './dispatch-consumer.fixture.ts'
import type { DispatchRun } from './dispatch-run.ts'
import { RunEntries } from './run-entries.ts'
import { RunLocks } from './run-locks.ts'
import { UnreadableJobs } from './unreadable-jobs.ts'

const { server, redis, quarantine, publish, quarantined, consume } = await useConsumers({
  appendfsync: 'always',
})

test('a published message reaches a run and the job leaves nothing behind', async () => {
  const seen: string[] = []
  const { completed } = await consume(async (run) => void seen.push(...textsOf(run)))
  await publish('hello')
  await waitFor(() => completed.length === 1)
  expect(seen).toEqual(['hello'])
  expect(completed[0]).toMatchObject({ fence: 1 })
  expect(await redis.llen(`${JOBS}:active`)).toBe(0)
  expect(await redis.zcard(`${JOBS}:completed`)).toBe(0)
})

test('a run that throws is tried again with a higher fence, and told of; the job does not grow', async () => {
  const fences: number[] = []
  let kept: unknown[] = []
  const { completed, lines } = await consume(async (run) => {
    fences.push(run.fence)
    if (run.fence < 3) throw new Error('it fails')
    kept = JSON.parse((await redis.hget(`${JOBS}:${jobOf(run)}`, 'stacktrace')) ?? '[]')
  })
  await publish('again')
  await waitFor(() => completed.length === 1)
  expect([fences, lines, kept.length]).toEqual([[1, 2, 3], ['dispatch.consume_failed'], 1])
})

test('a lock that ran out during an outage is taken again and the job runs once', async () => {
  const runs: DispatchRun[] = []
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { completed } = await consume(async (run) => {
    runs.push(run)
    await finished
  })
  await publish('waits')
  await waitFor(() => runs.length === 1)
  const lock = `${JOBS}:${jobOf(runs[0])}:lock`
  await redis.pexpire(lock, 1)
  await server.kill()
  await server.restart()
  await waitFor(async () => redis.status === 'ready' && (await redis.exists(lock)) === 1)
  finish()
  await waitFor(() => completed.length === 1)
  expect(runs.map((run) => run.fence)).toEqual([1])
})

/** Does what BullMQ's stalled check does with a job whose lock has expired, in one step. */
async function handOutAgain(job: string, starts = 0): Promise<void> {
  await redis
    .multi()
    .del(`${JOBS}:${job}:lock`)
    .lrem(`${JOBS}:active`, 1, job)
    .hincrby(`${JOBS}:${job}`, 'ats', starts)
    .rpush(`${JOBS}:wait`, job)
    .zadd(`${JOBS}:marker`, 0, '0')
    .exec()
}

async function consumeWaiting() {
  const runs: DispatchRun[] = []
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const consumed = await consume(async (run) => {
    runs.push(run)
    await finished
  })
  await publish('waits')
  await waitFor(() => runs.length === 1)
  const job = jobOf(runs[0]) ?? ''
  return {
    ...consumed,
    runs,
    finish,
    job,
    starts: async () => Number(await redis.hget(`${JOBS}:${job}`, 'ats')),
  }
}

test('a job that is handed out again to the process that runs it goes on, and runs once', async () => {
  const { runs, finish, job, starts, completed, lines } = await consumeWaiting()
  for (const start of [2, 3]) {
    await handOutAgain(job)
    await waitFor(async () => (await starts()) === start)
  }
  await waitFor(async () => (await redis.exists(`${JOBS}:${job}:lock`)) === 1)
  finish()
  await waitFor(() => completed.length === 1)
  expect(runs.map((run) => [run.fence, run.isLost()])).toEqual([[1, false]])
  await waitFor(async () => (await redis.exists(`${JOBS}:${job}`)) === 0)
  expect(await redis.llen(`${JOBS}:active`)).toBe(0)
  // A start that was followed by another one may have its completion refused, because it does not know of that one yet.
  expect(lines.filter((line) => line !== 'dispatch.consume_failed')).toEqual([])
})

test('a job that is handed out again just before it is completed goes on, and runs once', async () => {
  onTestFinished(() => void vi.restoreAllMocks())
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const hold = vi.spyOn(RunLocks.prototype, 'hold').mockReturnValue(released)
  const starts = vi.spyOn(RunEntries.prototype, 'adoptedBy')
  const { runs, finish, job, completed } = await consumeWaiting()
  await handOutAgain(job)
  await waitFor(() => starts.mock.calls.length === 2)
  finish()
  await waitFor(() => hold.mock.calls.length === 1)
  await handOutAgain(job)
  await waitFor(() => starts.mock.calls.length === 3)
  release()
  await waitFor(() => completed.length === 1)
  expect(runs.map((run) => run.fence)).toEqual([1])
})

test('a job whose completion was lost is completed at its next start, and not run again', async () => {
  const { runs, finish, job, completed, lines } = await consumeWaiting()
  // The completion is refused, as after an outage that began when the run had just ended.
  await redis.set(`${JOBS}:${job}:lock`, 'nobody')
  finish()
  await waitFor(() => lines.includes('dispatch.consume_failed'))
  await handOutAgain(job)
  await waitFor(() => completed.length === 1)
  expect(runs.map((run) => run.fence)).toEqual([1])
  await waitFor(async () => (await redis.exists(`${JOBS}:${job}`)) === 0)
})

test('a job that somebody else has started in between is started again', async () => {
  const { runs, finish, job, completed } = await consumeWaiting()
  await handOutAgain(job, 1)
  await waitFor(() => runs.length === 2)
  finish()
  await waitFor(() => completed.length === 1)
  expect(runs.map((run) => run.fence)).toEqual([1, 3])
  await waitFor(async () => (await redis.exists(`${JOBS}:${job}`)) === 0)
})

test('a job that got the number of one that Redis lost is started again', async () => {
  const { runs, finish, job, completed, lines } = await consumeWaiting()
  await redis.set(`${JOBS}:${job}:lock`, 'nobody')
  finish()
  await waitFor(() => lines.includes('dispatch.consume_failed'))
  // A failover has lost the job and the counter of jobs. Another worker has started a new job of this number, and has
  // died.
  const data = jobText([message('other')])
  await redis.hset(`${JOBS}:${job}`, { data, timestamp: Date.now() + 1 })
  await handOutAgain(job)
  await waitFor(() => completed.length === 1)
  expect(runs.map((run) => [run.fence, textsOf(run)[0]])).toEqual([
    [1, 'waits'],
    [2, 'other'],
  ])
})

test('a run takes no lock of a job that got the number of its own, which Redis lost', async () => {
  const { runs, finish, job, completed } = await consumeWaiting()
  const data = jobText([message('other')])
  // Another worker has started the new job once, and has died. Its lock is over, and its count of starts is the same.
  await redis
    .multi()
    .hset(`${JOBS}:${job}`, { data, timestamp: Date.now() + 1 })
    .del(`${JOBS}:${job}:lock`)
    .exec()
  await waitFor(() => runs[0]?.isLost())
  finish()
  await waitFor(() => completed.length === 1, { timeoutMs: 15_000 })
  expect(runs.map((run) => textsOf(run)[0])).toEqual(['waits', 'other'])
})

test('a run whose job went to another worker learns that it is lost', async () => {
  const runs: DispatchRun[] = []
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  await consume(async (run) => {
    runs.push(run)
    await finished
  })
  await publish('stolen')
  await waitFor(() => runs.length === 1)
  await redis.set(`${JOBS}:${jobOf(runs[0])}:lock`, 'another worker')
  await waitFor(() => runs[0]?.isLost())
  await redis.del(`${JOBS}:${jobOf(runs[0])}:lock`)
  finish()
})

test('a job that another worker began and left is not completed by the one that had it before', async () => {
  const { runs, finish, job, completed } = await consumeWaiting()
  await redis.multi().hincrby(`${JOBS}:${job}`, 'ats', 1).del(`${JOBS}:${job}:lock`).exec()
  await waitFor(() => runs[0]?.isLost())
  finish()
  await waitFor(() => completed.length === 1, { timeoutMs: 15_000 })
  expect(runs.map((run) => run.fence)).toEqual([1, 3])
})

test('a run that finds itself lost does not complete its job, though the lock is its own', async () => {
  const { completed } = await consume(async ({ fence }) => (fence === 1 ? 'lost' : 'settled'))
  await publish('lost')
  await waitFor(() => completed.length === 1)
  expect(completed.map(({ fence }) => fence)).toEqual([2])
})

test('jobs that are stored already are started and completed in a full memory', async () => {
  for (const text of ['first', 'second']) await publish(text)
  await redis.config('SET', 'maxmemory', '1')
  await expect(redis.set('x', '1')).rejects.toThrow('OOM')
  const { completed, lines } = await consume(async () => 'settled')
  await waitFor(() => completed.length === 2)
  await redis.config('SET', 'maxmemory', '0')
  expect(lines).not.toContain('redis_writes.down')
})

test('a full memory pauses the worker without a storm of errors, and it resumes by itself', async () => {
  const seen: string[] = []
  const { lines, completed } = await consume(async (run) => void seen.push(...textsOf(run)))
  await publish('before')
  await waitFor(() => completed.length === 1)
  await publish('first')
  await redis.config('SET', 'maxmemory', '1')
  await waitFor(() => lines.includes('redis_writes.down') || completed.length === 2)
  await redis.config('SET', 'maxmemory', '0')
  await publish('after')
  await waitFor(() => seen.includes('after') && seen.includes('first'))
  expect(lines.filter((line) => line === 'redis_writes.down').length).toBeLessThanOrEqual(2)
})

test('a job whose data cannot be parsed is quarantined and its neighbours go on', async () => {
  const seen: string[] = []
  await consume(async (run) => void seen.push(...textsOf(run)))
  await redis.hset(`${JOBS}:bad`, {
    name: 'dispatch',
    data: '{"v":1,"m":[',
    opts: '{}',
    timestamp: '1',
    delay: '0',
    priority: '0',
  })
  await redis.lpush(`${JOBS}:wait`, 'bad')
  await publish('neighbour')
  await waitFor(() => seen.includes('neighbour'))
  await waitFor(async () => (await quarantined()).length === 1, { timeoutMs: 25_000 })
  const [entry] = await quarantined()
  expect(entry).toMatchObject({ id: 'job.dispatch-0.bad.1', reason: 'jobUnreadable' })
  expect(String(await quarantine.raw(entry?.id ?? ''))).toBe('{"v":1,"m":[')
  await waitFor(async () => (await redis.exists(`${JOBS}:bad`)) === 0)
})

test.each([
  ['opts', '{"attempts'],
  ['opts', 'null'],
  ['ats', 'x1'],
  ['atm', 'x1'],
  ['stc', 'x1'],
])('a job with the field %s = %s is dispatched, and its neighbours too', async (field, value) => {
  await publish('damaged')
  const [job] = await redis.lrange(`${JOBS}:wait`, 0, 0)
  await redis.hset(`${JOBS}:${job}`, field, value)
  const seen: string[] = []
  await consume(async (run) => void seen.push(...textsOf(run)))
  await publish('neighbour')
  await waitFor(() => seen.includes('neighbour'))
  await waitFor(() => seen.includes('damaged'), { timeoutMs: 25_000 })
  await waitFor(async () => (await redis.exists(`${JOBS}:${job}`)) === 0)
  expect(await quarantined()).toEqual([])
})

function unreadableJobs(client = redis): UnreadableJobs {
  const unused = () => Promise.reject(new Error('not expected'))
  return new UnreadableJobs({
    queue: 'dispatch-0',
    redis: client,
    servers: new ServerMarks([redis]),
    quarantine: unused,
    parts: { remove: unused, handOutAgain: unused, retryFailed: unused },
  })
}

test('started jobs are checked side by side', async () => {
  const second = Promise.withResolvers<void>()
  let reads = 0
  const hgetall = async (key: string) => {
    reads += 1
    if (reads === 2) second.resolve()
    await second.promise
    return redis.hgetall(key)
  }
  const client = new Proxy(redis, {
    get: (target, name) => (name === 'hgetall' ? hgetall : Reflect.get(target, name).bind(target)),
  })
  for (const id of ['one', 'two']) {
    await redis.hset(`${JOBS}:${id}`, { data: '{}', opts: '{}', ats: 'x1' })
    await redis.lpush(`${JOBS}:active`, id)
  }
  await unreadableJobs(client).checkActive()
  for (const id of ['one', 'two']) expect(await redis.hget(`${JOBS}:${id}`, 'ats')).toBe('1000')
})

test('neighbours of a job with any damaged field go on, and nothing changed is run', async () => {
  const count = randomRuns(12, 0.005)
  const damage = fc.record({ field: fc.nat(), at: fc.nat(), how: fc.constantFrom('bit', 'cut', 'lost') })
  const names = Array.from({ length: 2 * count }, (_, n) => `message ${n}`)
  for (const name of names) await publish(name)
  const jobs = (await redis.lrange(`${JOBS}:wait`, 0, -1)).reverse()
  for (const [n, { field: nth, at, how }] of fc.sample(damage, { numRuns: count, seed: 1 }).entries()) {
    const key = `${JOBS}:${jobs[2 * n]}`
    const fields = (await redis.hkeys(key)).sort()
    const field = fields[nth % fields.length] ?? ''
    const bytes = (await redis.hgetBuffer(key, field)) ?? Buffer.alloc(0)
    const place = at % Math.max(1, bytes.length)
    bytes[place] = (bytes[place] ?? 0) ^ (1 << (at % 8))
    if (how === 'lost') await redis.hdel(key, field)
    else await redis.hset(key, field, how === 'bit' ? bytes : bytes.subarray(0, place))
  }
  const seen = new Set<string>()
  await consume(async ({ messages }) => {
    for (const body of messages)
      for (const { message } of ifReadable(() => readMessage(body))) seen.add(message)
  })
  const neighbours = names.filter((_, n) => n % 2 === 1)
  await waitFor(() => neighbours.every((name) => seen.has(name)), { timeoutMs: 25_000 })
  expect(names).toEqual(expect.arrayContaining([...seen]))
})

test('calls during a check of started jobs share it, also after one has failed', async () => {
  const unreadable = unreadableJobs()
  const checks = () => Promise.allSettled(Array.from({ length: 5 }, () => unreadable.checkActive()))
  const reads = async () =>
    Number(/cmdstat_lrange:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
  const before = await reads()
  await redis.set(`${JOBS}:active`, 'no list')
  expect((await checks()).map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
  await redis.del(`${JOBS}:active`)
  for (const id of ['one', 'two']) {
    await redis.hset(`${JOBS}:${id}`, { data: '{}', opts: '{"attempts', ats: 'x1' })
    await redis.lpush(`${JOBS}:active`, id)
    expect((await checks()).map(({ status }) => status)).toEqual(Array(5).fill('fulfilled'))
    expect(await redis.hget(`${JOBS}:${id}`, 'ats')).toBe('1000')
  }
  expect((await reads()) - before).toBe(3)
})

test('a job whose data are something else is reported, and quarantined after many starts', async () => {
  const { lines } = await consume(async () => 'settled')
  const fields = {
    name: 'dispatch',
    opts: '{"attempts":9,"backoff":{"type":"fixed","delay":10}}',
    timestamp: '1',
    delay: '0',
    priority: '0',
  }
  await redis.hset(`${JOBS}:strange`, { ...fields, data: '{"v":0}', ats: 58 })
  await redis.multi().lpush(`${JOBS}:wait`, 'strange').zadd(`${JOBS}:marker`, 0, '0').exec()
  await waitFor(async () => (await quarantined()).length === 1)
  expect(lines).toEqual(['dispatch.consume_failed'])
  await waitFor(async () => (await redis.exists(`${JOBS}:strange`)) === 0)
})

/** Collects all garbage at once. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

test('no messages are kept of jobs that could not be completed', async () => {
  const messages: WeakRef<string[]>[] = []
  const { lines, completed } = await consume(async (run) => {
    messages.push(new WeakRef(run.messages))
    if (messages.length === 1) await redis.set(`${JOBS}:${jobOf(run)}:lock`, 'nobody')
  })
  await publish('refused')
  await waitFor(() => lines.includes('dispatch.consume_failed'))
  // BullMQ itself releases a finished job when it gets the next one.
  await publish('next')
  await waitFor(() => completed.length === 1)
  await waitFor(() => {
    collectGarbage()
    return messages[0]?.deref() === undefined
  })
})

test.each([
  ['an idle worker checked meanwhile', 60_000],
  ['the clock of Redis was set back by an hour', 3_600_000],
])('searches for jobs of dead workers go on where %s', async (_why, lastsMs) => {
  const { consumer, finish } = await consumeWaiting()
  await consumer.watch()
  await redis.set(`${JOBS}:stalled-check`, '1', 'PX', lastsMs)
  await consumer.watch()
  await waitFor(async () => (await redis.pttl(`${JOBS}:stalled-check`)) <= 1_000)
  finish()
})

const waiting = { name: 'dispatch', opts: '{}', timestamp: '1', delay: '0', priority: '0' }

test('a job whose data Redis has lost is quarantined at its first start, and none stays failed', async () => {
  await redis.zadd(`${JOBS}:failed`, 1, 'failed-before')
  await redis.hset(`${JOBS}:failed-before`, { ats: 1, failedReason: 'no data' })
  const { consumer } = await consume(async () => 'settled')
  await redis.hset(`${JOBS}:cut`, { ats: 0 })
  await redis.multi().lpush(`${JOBS}:wait`, 'cut').zadd(`${JOBS}:marker`, 0, '0').exec()
  await waitFor(async () => (await quarantined()).length === 1)
  await waitFor(async () => (await redis.exists(`${JOBS}:cut`)) === 0)
  await consumer.watch()
  const reasons = (await quarantined()).map(({ id, reason }) => [id, reason])
  expect(reasons).toEqual([
    ['job.dispatch-0.cut.0', 'jobDataLost'],
    ['job.dispatch-0.failed-before.0', 'jobDataLost'],
  ])
  expect(await redis.exists(`${JOBS}:failed`, `${JOBS}:failed-before`, `${JOBS}:wait`)).toBe(0)
})

test('a failed job that can be read is run again', async () => {
  const { consumer, completed } = await consume(async () => 'settled')
  const data = jobText([message('failed')])
  await redis.hset(`${JOBS}:7`, { ...waiting, data, atm: 1, failedReason: 'out of tries', finishedOn: 1 })
  await redis.zadd(`${JOBS}:failed`, 1, '7')
  await consumer.watch()
  await waitFor(() => completed.length === 1)
  expect(await quarantined()).toEqual([])
})

test('a failed job that cannot be checked holds up neither others nor the search for jobs of dead workers', async () => {
  const { consumer, finish } = await consumeWaiting()
  await redis.zadd(`${JOBS}:failed`, 1, 'broken', 2, 'lost')
  await redis.set(`${JOBS}:broken`, 'no hash')
  await redis.hset(`${JOBS}:lost`, { ats: 1 })
  await redis.set(`${JOBS}:stalled-check`, '1', 'PX', 3_600_000)
  await consumer.watch()
  expect((await quarantined()).map(({ reason }) => reason)).toEqual(['jobDataLost'])
  await waitFor(async () => (await redis.pttl(`${JOBS}:stalled-check`)) <= 1_000)
  finish()
})

test('a job that a full quarantine refuses stays, and waits for capacity', async () => {
  const refuse = Object.assign(quarantine, { add: async () => 'full' as const })
  await consume(async () => 'settled')
  await redis.hset(`${JOBS}:strange`, { ...waiting, data: '{"v":0}', ats: 60 })
  await redis.multi().lpush(`${JOBS}:wait`, 'strange').zadd(`${JOBS}:marker`, 0, '0').exec()
  await waitFor(async () => (await redis.zcard(`${JOBS}:delayed`)) === 1)
  expect(await redis.hget(`${JOBS}:strange`, 'data')).toBe('{"v":0}')
  Object.assign(refuse, { add: Quarantine.prototype.add })
})

test('a postponed job is started again after its delay, with a higher fence', async () => {
  const fences: number[] = []
  const { completed } = await consume(async ({ fence }) => {
    fences.push(fence)
    return fence === 1 ? { postponedMs: 50 } : 'settled'
  })
  await publish('later')
  await waitFor(() => completed.length === 1)
  expect(fences).toEqual([1, 2])
})
