import { ServerMarks } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import type { DispatchPart } from '../dispatch-job.ts'
import { JOBS, textsOf, useConsumers } from './dispatch-consumer.fixture.ts'
import { DispatchParts } from './dispatch-parts.ts'
import type { DispatchRun, RunEnd } from './dispatch-run.ts'
import { PART_BYTES } from './parts-capacity.ts'
import { UnreadableJobs } from './unreadable-jobs.ts'

const { redis, quarantine, publish, quarantined, consume } = await useConsumers()
const reasons = async () => (await quarantined()).map(({ reason }) => reason)

const bySlices = (count: number): DispatchPart[] =>
  Array.from({ length: count }, (_, n) => ({ messages: [0, 1], slices: [n, n + 1] }))

async function cut(run: DispatchRun, parts: DispatchPart[]): Promise<RunEnd> {
  if (await run.handOutAgain()) return 'cut'
  return (await run.handOut(parts)) ? 'cut' : 'lost'
}

/** The keys of jobs and parts in Redis. */
async function left(): Promise<string[]> {
  const keys = await redis.keys(`${JOBS}:*`)
  return keys.filter((key) => /:(\d|wait$|active$|waiting-children$)/.test(key.slice(JOBS.length)))
}

/** Parts that run until the test releases them. */
function holdParts(parts: DispatchPart[]) {
  const runs: DispatchRun[] = []
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const run = async (one: DispatchRun): Promise<RunEnd> => {
    if (!one.part) return cut(one, parts)
    runs.push(one)
    await released
    return 'settled'
  }
  return { run, runs, release }
}

test('parts get the messages that they name, and nothing is left when the last has ended', async () => {
  const seen: string[] = []
  const { completed } = await consume(async (run) => {
    if (run.part) seen.push(`${run.part.slices} ${textsOf(run)}`)
    if (run.part) return 'settled'
    return cut(run, [
      { messages: [0, 2], slices: [0, null] },
      { messages: [2, 3], slices: [0, 7] },
      { messages: [2, 3], slices: [7, null] },
    ])
  })
  await publish('a', 'b', 'c')
  await waitFor(() => completed.length === 4)
  expect(seen.toSorted()).toEqual(['0, a,b', '0,7 c', '7, c'])
  await waitFor(async () => (await left()).length === 0)
})

/** A key's place in Redis's table of keys. The table is twice as large as needed while it grows. */
const KEY_PLACE_BYTES = 16

/** Bytes of all keys. The figure of INFO includes buffers of connections, and lags up to a second behind. */
async function dataBytes(): Promise<number> {
  const keys = await redis.keys('*')
  const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)))
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0) + KEY_PLACE_BYTES, 0)
}

test('a job holds its messages until its last part has ended, and parts take little room', async () => {
  const parts = bySlices(512)
  const { run, runs, release } = holdParts(parts)
  let bytes = 0
  const { completed } = await consume(async (one) => {
    if (one.part) return run(one)
    const before = await dataBytes()
    const end = await run(one)
    bytes ||= (await dataBytes()) - before
    return end
  })
  await publish('a'.repeat(65_536))
  await waitFor(() => bytes > 0 && runs.length > 0)
  expect(runs.every((run) => textsOf(run)[0]?.length === 65_536)).toBe(true)
  expect(bytes / parts.length).toBeLessThan(PART_BYTES)
  expect(completed).toEqual([])
  release()
  await waitFor(() => completed.length === parts.length + 1)
  await waitFor(async () => (await left()).length === 0)
})

test('a part that has ended and is added again, as by a start that was frozen, does nothing', async () => {
  const { run, runs, release } = holdParts(bySlices(2))
  const { completed } = await consume(run)
  await publish('a')
  await waitFor(() => runs.length === 2)
  const part = runs[0]?.jobName.split(':')[1] ?? ''
  const job = await redis.hget(`${JOBS}:${part}`, 'parentKey')
  await redis.hset(`${job}:processed`, `${JOBS}:${part}`, 'null')
  await restart(part)
  await waitFor(async () => (await redis.exists(`${JOBS}:${part}`)) === 0)
  release()
  await waitFor(() => completed.length === 2)
  await waitFor(async () => (await left()).length === 0)
  expect(runs).toHaveLength(2)
})

/** Makes the part look as if its worker has died and another one has started it. */
async function restart(id: string, change: Record<string, string> = {}): Promise<void> {
  await redis
    .multi()
    .hset(`${JOBS}:${id}`, { v: '', ...change })
    .hincrby(`${JOBS}:${id}`, 'ats', 1)
    .del(`${JOBS}:${id}:lock`)
    .lrem(`${JOBS}:active`, 1, id)
    .rpush(`${JOBS}:wait`, id)
    .zadd(`${JOBS}:marker`, 0, '0')
    .exec()
}

test('a start that is not the latest cuts nothing', async () => {
  const ends: boolean[] = []
  const { completed } = await consume(async (run) => {
    if (run.fence > 1) return 'settled'
    await redis.hincrby(`${JOBS}:${run.jobName.split(':')[1]}`, 'ats', 1)
    ends.push(await run.handOut(bySlices(2)))
    return 'lost'
  })
  await publish('a')
  await waitFor(() => completed.length === 1)
  expect([ends, await redis.get(`${JOBS}:id`)]).toEqual([[false], '1'])
})

test('parts are run before what waits, in their order', async () => {
  const order: string[] = []
  const { completed } = await consume(async (run) => {
    if (!run.part && textsOf(run)[0] === 'wide') {
      if (run.fence === 1) await publish('behind')
      return cut(run, bySlices(3))
    }
    order.push(run.part ? `part ${run.part.slices[0]}` : 'behind')
    return 'settled'
  }, 1)
  await publish('wide')
  await waitFor(() => completed.length === 5)
  expect(order).toEqual(['part 0', 'part 1', 'part 2', 'behind'])
})

test('a part whose messages somebody has deleted is quarantined', async () => {
  const { run, runs, release } = holdParts(bySlices(2))
  await consume(run)
  await publish('a')
  await waitFor(() => runs.length === 2)
  const part = runs[0]?.jobName.split(':')[1] ?? ''
  await waitFor(async () => (await redis.zcard(`${JOBS}:waiting-children`)) === 1)
  await redis.del((await redis.hget(`${JOBS}:${part}`, 'parentKey')) ?? '')
  await restart(part)
  await waitFor(async () => (await redis.exists(`${JOBS}:${part}`)) === 0)
  expect(await reasons()).toEqual(['jobWithoutMessages'])
  release()
})

test.each([
  ['whose data is torn', { data: '{"v":1,"part"' }],
  ['whose data Redis has lost', {}],
])(
  'a part %s is made again by its job, and nothing is quarantined',
  async (_, change) => {
    const { run, runs, release } = holdParts(bySlices(2))
    const { completed } = await consume(run)
    await publish('a')
    await waitFor(() => runs.length === 2)
    const first = () => runs.filter((one) => one.part?.slices[0] === 0)
    const part = first()[0]?.jobName.split(':')[1] ?? ''
    if (!('data' in change)) await redis.del(`${JOBS}:${part}`)
    await restart(part, change)
    await waitFor(() => first().length === 2, { timeoutMs: 25_000 })
    release()
    await waitFor(() => completed.length === 3, { timeoutMs: 15_000 })
    expect(first().map(({ fence }) => fence)).toEqual([1, 1])
    expect(await reasons()).toEqual([])
    await waitFor(async () => (await left()).length === 0)
  },
  60_000,
)

test('a worker that dies while it makes a part again leaves that to the next start of its job', async () => {
  const { run, runs, release } = holdParts(bySlices(2))
  const { completed } = await consume(run, 1)
  await publish('a')
  await waitFor(() => runs.length === 1)
  const [part = ''] = await redis.lrange(`${JOBS}:wait`, 0, -1)
  await redis.multi().del(`${JOBS}:${part}`).hset(`${JOBS}:${part}`, { ats: 1 }).exec()
  const parts = new DispatchParts(0, redis)
  const dying = new UnreadableJobs({
    queue: 'dispatch-0',
    redis,
    servers: new ServerMarks([redis]),
    quarantine: (entry) => quarantine.add(entry),
    parts: {
      remove: (id) => parts.remove(id),
      retryFailed: (id) => parts.retryFailed(id),
      handOutAgain: () => Promise.reject(new Error('killed')),
    },
  })
  await expect(dying.check(part)).rejects.toThrow('killed')
  release()
  await waitFor(() => completed.length === 3)
  expect(runs.map((one) => one.part?.slices[0])).toEqual([0, 1])
  expect(await reasons()).toEqual([])
  await parts.close()
})
