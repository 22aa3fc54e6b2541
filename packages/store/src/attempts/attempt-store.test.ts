import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test, vi } from 'vitest'
import { testSeals } from '../records/body-seals.fixture.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import { Topics } from '../topics/topics.ts'
import { type AttemptRecord, packAttempt, sealAnswer } from './attempt-record.ts'
import { AttemptRecorder } from './attempt-recorder.ts'
import { AttemptStore } from './attempt-store.ts'

const { redis } = await useRedis()
const store = new AttemptStore(redis)
const NOW = Date.UTC(2026, 10, 21, 9, 30)
const ROOM = 1_000_000
const DAY_MS = 86_400_000
beforeEach(() => redis.flushall())

const record = (n: number, set: Partial<AttemptRecord> = {}): AttemptRecord => ({
  messageId: `m${n}`,
  attempt: 1,
  phase: 'first',
  path: 'lane',
  startedAt: NOW + n,
  durationMs: 3,
  decision: 'retry',
  ...set,
})
const lines = (from: number, count: number, set?: Partial<AttemptRecord>) =>
  Array.from({ length: count }, (_, i) => packAttempt(record(from + i, set)))
const add = (subscription: string, records: string[], { now = NOW, bytesMax = ROOM } = {}) =>
  store.add({ now, bytesMax, shares: [{ subscription, records }] })
const kept = async (subscription: string) =>
  (await store.read(subscription)).map(({ messageId }) => messageId)
const total = async () => Number(await redis.get('ft:{attempts}:total'))

/** Checks that the counted bytes are those of the kept records. */
async function expectTrueSums(): Promise<void> {
  const bytes = await redis.hgetall('ft:{attempts}:bytes')
  let sum = 0
  for (const [id, counted] of Object.entries(bytes)) {
    const list = await redis.lrange(`ft:{attempts}:of:${id}`, 0, -1)
    expect(Number(counted), id).toBe(
      list.reduce<number>((all, line) => all + Buffer.byteLength(line) + 32, 300),
    )
    sum += Number(counted)
  }
  expect(await total()).toBe(sum)
  expect((await redis.zrange('ft:{attempts}:recent', 0, '-1')).toSorted()).toEqual(
    Object.keys(bytes).toSorted(),
  )
}

test('the newest hundred of a subscription are kept, newest first', async () => {
  await add('a', lines(0, 60))
  await add('a', lines(60, 60, { body: 'ünicode \n"quoted"' }))
  const ids = await kept('a')
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([100, 'm119', 'm20'])
  expect((await store.read('a'))[0]).toEqual(record(119, { body: 'ünicode \n"quoted"' }))
  await expectTrueSums()
})

test('a sealed answer opens only in the records of its subscription', async () => {
  const seals = testSeals()
  const line = packAttempt(sealAnswer('a', record(1, { body: 'answer' }), seals))
  await add('a', [line])
  await add('b', [line])
  const opened = new AttemptStore(redis, seals)
  const [[a], [b]] = [await opened.read('a'), await opened.read('b')]
  expect([a, b]).toEqual([record(1, { body: 'answer' }), record(1)])
})

test('past the bound of bytes, the subscription whose last attempt is oldest loses its records', async () => {
  for (const [i, id] of ['a', 'b', 'c'].entries()) await add(id, lines(0, 10), { now: NOW + i })
  await add('a', lines(10, 1), { now: NOW + 10 })
  const before = await total()
  await add('d', lines(0, 10), { now: NOW + 11, bytesMax: before + 100 })
  expect(await Promise.all(['a', 'b', 'c', 'd'].map(async (id) => (await kept(id)).length))).toEqual([
    11, 0, 10, 10,
  ])
  expect(await total()).toBeLessThanOrEqual(before + 100)
  await expectTrueSums()
  // The records of this one subscription are larger than the bound. So nothing is kept, and nothing is counted.
  await add('e', lines(0, 100), { now: NOW + 12, bytesMax: 1_000 })
  expect([await total(), await redis.keys('ft:{attempts}:of:*')]).toEqual([0, []])
})

test('a week after its last attempt the records of a subscription go, and every key expires', async () => {
  await add('old', lines(0, 5))
  await add('new', lines(0, 5), { now: NOW + 8 * DAY_MS })
  expect([await kept('old'), (await kept('new')).length]).toEqual([[], 5])
  await expectTrueSums()
  for (const key of await redis.keys('*')) expect(await redis.ttl(key), key).toBeGreaterThan(600_000)
})

test('a sweep removes the records of deleted subscriptions and topics, and no others', async () => {
  const topics = new Topics(redis)
  const subscriptions = new Subscriptions(redis)
  const ids: string[] = []
  for (const name of ['orders', 'clicks']) {
    const topicArn = `arn:aws:sns:us-east-1:000000000000:${name}`
    await topics.put(topicArn, {})
    for (const path of ['a', 'b']) {
      const endpoint = `https://example.com/${path}`
      const set = { deliveryPolicy: null, redrivePolicy: null, maxInFlight: 32, attributes: {} }
      const given = { topicArn, protocol: 'https', endpoint, rawMessageDelivery: true, ...set } as const
      ids.push((await subscriptions.create({ ...given, confirmation: 'none' })).subscription.id)
    }
  }
  for (const id of ids) await add(id, lines(0, 3))
  expect(await store.sweep(expect.fail)).toBe(0)
  await subscriptions.delete(ids[0] ?? '')
  await topics.delete('arn:aws:sns:us-east-1:000000000000:clicks')
  expect(await store.sweep(expect.fail)).toBe(3)
  expect(await Promise.all(ids.map(async (id) => (await kept(id)).length))).toEqual([0, 3, 0, 0])
  await expectTrueSums()
})

test('a text of another release is left out', async () => {
  await add('a', ['not json', '{"v":2}', packAttempt(record(1))])
  expect(await kept('a')).toEqual(['m1'])
})

function startRecorder(set: { bytesMax?: number; add?: AttemptStore['add'] } = {}) {
  const added = vi.fn(set.add ?? ((write: Parameters<AttemptStore['add']>[0]) => store.add(write)))
  const onWrite = vi.fn()
  const options = { store: { add: added }, bytesMax: ROOM, now: () => NOW, onWrite, everyMs: 5, ...set }
  return { recorder: new AttemptRecorder(options), added, onWrite }
}

test('attempts that end together are written by one script, and nothing is sent without any', async () => {
  const { recorder, added, onWrite } = startRecorder()
  for (let n = 0; n < 20; n++) for (const id of ['a', 'b']) recorder.add(id, () => record(n))
  await expect.poll(() => onWrite).toHaveBeenCalledWith('up')
  expect(added).toHaveBeenCalledTimes(1)
  expect([(await kept('a')).length, (await kept('b'))[0]]).toEqual([20, 'm19'])
  await recorder.stop()
  expect(added).toHaveBeenCalledTimes(1)
})

test('a worker keeps the newest of a subscription, and says how many it left out', async () => {
  const { recorder } = startRecorder()
  const made: number[] = []
  for (let n = 0; n < 250; n++)
    recorder.add('a', () => {
      made.push(n)
      return record(n)
    })
  recorder.add('b', () => record(0))
  await recorder.stop()
  const records = await store.read('a')
  expect(records.map(({ messageId }) => messageId)).toEqual(
    Array.from({ length: 100 }, (_, i) => `m${249 - i}`),
  )
  expect([records.at(-1)?.leftOut, records[0]?.leftOut, await kept('b')]).toEqual([150, undefined, ['m0']])
  // Records that were left out were never made.
  expect([made.length, Math.min(...made)]).toEqual([100, 150])
})

test('successes are taken up to a number for each second, and counted past it', async () => {
  const { recorder } = startRecorder()
  for (let n = 0; n < 50; n++) {
    if (recorder.takesSuccess('a')) recorder.add('a', () => record(n))
    else recorder.leaveOut('a')
  }
  await expect.poll(() => kept('a')).toHaveLength(20)
  // Failures find a place all the same.
  recorder.add('a', () => record(99))
  await recorder.stop()
  const [newest] = await store.read('a')
  expect([newest?.messageId, (await store.read('a')).map(({ leftOut = 0 }) => leftOut)]).toEqual([
    'm99',
    [30, ...Array.from({ length: 20 }, () => 0)],
  ])
})

test('one write has at most 300 attempts, the same number of each subscription', async () => {
  const { recorder, added } = startRecorder()
  for (let id = 0; id < 400; id++) for (let n = 0; n < 3; n++) recorder.add(`s${id}`, () => record(n))
  await recorder.stop()
  const sizes = added.mock.calls.map(([{ shares }]) =>
    shares.reduce((sum, { records }) => sum + records.length, 0),
  )
  expect(sizes).toEqual([300, 300])
  expect([await kept('s0'), await kept('s399')]).toEqual([['m2'], ['m2', 'm1', 'm0']])
})

test('a write that fails is reported, loses its attempts, and the next one goes on', async () => {
  let fails = true
  const { recorder, onWrite } = startRecorder({
    add: async (write) => {
      if (fails) throw new Error('OOM')
      await store.add(write)
    },
  })
  recorder.add('a', () => record(1))
  await expect.poll(() => onWrite).toHaveBeenCalledWith('down', expect.any(Error))
  fails = false
  recorder.add('a', () => record(2))
  await recorder.stop()
  expect(await kept('a')).toEqual(['m2'])
})
