/** Rings with jobs that are kept whole, beside messages that are kept one by one. */
import { createMessageId, parseMessageId } from '@fantail/contracts'
import { skewKey, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { dispatchJobKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { connect } from '../redis/connections/connect.ts'
import { Topics } from '../topics/topics.ts'
import { isWorthKeepingWhole, type KeptJob, type NewKept } from './kept-jobs.ts'
import { KeptMessages } from './kept-messages.ts'
import { KeptUpkeep, ringsOf } from './kept-upkeep.ts'

const { redis } = await useRedis({ connect })
const ORDERS = 'arn:aws:sns:us-east-1:000000000000:orders'
const MIB = 1_048_576
const topics = new Topics(redis)
const kept = new KeptMessages(redis)
const onProblem = (error: unknown) => expect.fail(String(error))
const upkeep = new KeptUpkeep({ redis, share: 0.5, memoryBytes: 1_000 * MIB, onProblem })
const base = shardBase(shardOf(ORDERS))
let lastJob = 0

beforeEach(async () => {
  await redis.flushall()
})

async function topic(bytes = 10 * MIB): Promise<string> {
  return (await topics.put(ORDERS, { keepMessages: { seconds: 60, bytes } })).topic.uid
}

function messages(uid: string, count: number, text = 'x'): NewKept[] {
  return Array.from({ length: count }, () => {
    const messageId = createMessageId(Date.now())
    const body = JSON.stringify({ messageId, topicArn: ORDERS, message: text })
    return { arn: ORDERS, uid, id: parseMessageId(messageId) ?? Buffer.alloc(0), body }
  })
}

/** A job as BullMQ stores it after its first start. */
async function job(uid: string, count: number, text?: string): Promise<KeptJob> {
  const [id, addedAt, all] = [String(++lastJob), Date.now(), messages(uid, count, text)]
  const record = dispatchJobKey(0, id)
  const data = `{"v":1,"m":[${all.map(({ body }) => body).join()}]}`
  const opts = '{"backoff":{"delay":1000,"type":"fixed"},"attempts":1000000,"removeOnComplete":true}'
  const times = { timestamp: addedAt, processedOn: addedAt, delay: 0, priority: 0, ats: 1 }
  await redis.hset(record, { name: 'dispatch', data, opts, ...times })
  return { arn: ORDERS, uid, record, name: `dispatch-0:${id}:m0f3k2q1`, addedAt, copies: true, messages: all }
}

const idOf = ({ body }: NewKept): string => JSON.parse(body).messageId
const ids = (all: NewKept[]) => all.map(idOf).reverse()
const ringKeys = async () => (await redis.keys('*kept*')).length
const bytesOf = async () => (await ringsOf(redis))[0]?.bytes ?? 0

async function walk(messagesMax: number): Promise<string[]> {
  const found: string[] = []
  for (let before: string | null = null; ; ) {
    const page = await kept.page(ORDERS, { before, messagesMax })
    expect(page?.bodies.length ?? 0).toBeLessThanOrEqual(messagesMax)
    found.push(...(page?.bodies ?? []).map((body) => JSON.parse(String(body)).messageId))
    before = page?.before ?? null
    if (before === null) return found
  }
}

test('pages of any size have the messages of jobs and single ones once, from the newest to the oldest', async () => {
  const uid = await topic()
  const jobs = [await job(uid, 7), await job(uid, 1), await job(uid, 5)]
  const [first, second] = [messages(uid, 3), messages(uid, 1)]
  await kept.keep(first)
  expect(await kept.keepJobs(jobs.slice(0, 2))).toEqual([])
  await kept.keep(second)
  expect(await kept.keepJobs(jobs)).toEqual([])
  const [one, two, three] = jobs.map((each) => each.messages) as [NewKept[], NewKept[], NewKept[]]
  const all = [...first, ...one, ...two, ...second, ...three]
  for (let size = 1; size <= all.length + 1; size++) expect(await walk(size), String(size)).toEqual(ids(all))
  expect((await kept.page(ORDERS, { before: null, messagesMax: 1 }))?.total).toBe(17)
  for (const message of all) {
    expect(String(await kept.read(ORDERS, idOf(message)))).toBe(message.body)
    expect(await kept.topicOf(idOf(message))).toBe(ORDERS)
  }
  expect(await kept.read(ORDERS, createMessageId(Date.now()))).toBe('absent')
})

test('a job that is gone, was started again or is large for its ring is not copied', async () => {
  const uid = await topic(MIB)
  const [gone, restarted, another, large, looked] = [
    await job(uid, 2),
    await job(uid, 2),
    await job(uid, 2),
    await job(uid, 2, 'x'.repeat(MIB / 20)),
    { ...(await job(uid, 2)), copies: false },
  ] as const
  await redis.del(gone.record)
  await redis.hincrby(restarted.record, 'ats', 1)
  await redis.hset(another.record, 'timestamp', another.addedAt + 1)
  const jobs = [gone, restarted, another, large, looked]
  expect(await kept.keepJobs(jobs)).toEqual(jobs)
  expect([await walk(10), await redis.keys('*kept:job:*')]).toEqual([[], []])
})

test('a later start finds that the first one kept its job whole', async () => {
  const uid = await topic()
  const first = await job(uid, 3)
  await kept.keepJobs([first])
  await redis.del(first.record)
  expect(await kept.keepJobs([{ ...first, copies: false }, first])).toEqual([])
  expect(await walk(10)).toEqual(ids(first.messages))
})

test('a ring with jobs stays within its bytes and its age, and counts them down to nothing', async () => {
  const uid = await topic(MIB)
  const text = 'x'.repeat(2_000)
  const all: NewKept[] = []
  for (let n = 0; n < 60; n++) {
    const [whole, single] = [await job(uid, 10, text), messages(uid, 1, text)]
    await kept.keepJobs([whole])
    await kept.keep(single)
    all.push(...whole.messages, ...single)
  }
  const bytes = await bytesOf()
  expect(bytes).toBeLessThanOrEqual(MIB)
  expect(bytes).toBeGreaterThan(MIB - 30_000)
  const left = await walk(50)
  expect(left).toEqual(ids(all).slice(0, left.length))
  expect((await kept.page(ORDERS, { before: null, messagesMax: 1 }))?.total).toBe(left.length)
  expect(await kept.read(ORDERS, idOf(all[0] as NewKept))).toBe('ringFull')
  await redis.set(skewKey(base), 61_000)
  expect(await upkeep.sweep()).toBe(left.length)
  expect([await ringsOf(redis), await walk(10), await redis.keys('*kept:job*')]).toEqual([[], [], []])
})

test('a topic that keeps no messages any more, or is deleted, leaves no job', async () => {
  for (const end of [() => topics.patch(ORDERS, { keepMessages: null }), () => topics.delete(ORDERS)]) {
    const uid = await topic()
    await kept.keepJobs([await job(uid, 3), await job(uid, 3)])
    expect(await ringKeys()).toBe(8)
    await end()
    expect(await ringKeys()).toBe(0)
    await kept.keepJobs([await job(uid, 3)])
    expect(await ringKeys()).toBe(0)
  }
})

const keepJobs = async (uid: string, number: number) => {
  const jobs: KeptJob[] = []
  for (let n = 0; n < number; n++) jobs.push(await job(uid, 2))
  expect(await kept.keepJobs(jobs)).toEqual([])
  return jobs
}

test('a ring that was removed gives its memory back when memory is short', async () => {
  const uid = await topic(100 * MIB)
  await keepJobs(uid, 2_100)
  const other = `${ORDERS}-2`
  const { topic: second } = await topics.put(other, { keepMessages: { seconds: 60, bytes: 10 * MIB } })
  await kept.keep(messages(second.uid, 100).map((message) => ({ ...message, arn: other })))
  await topics.patch(ORDERS, { keepMessages: null })
  expect((await redis.keys('*:kept:dropped:*')).length).toBe(1)
  new KeptUpkeep({ redis, share: 0.5, memoryBytes: MIB, onProblem }).check()
  await waitFor(async () => (await redis.keys('*:kept:dropped:*')).length === 0)
})

test('a large ring is dropped in steps, also twice, and what was dropped is never read again', async () => {
  const on = { keepMessages: { seconds: 60, bytes: 100 * MIB } }
  const uid = await topic(100 * MIB)
  const dropped: KeptJob[] = []
  for (let n = 0; n < 2; n++) {
    dropped.push(...(await keepJobs(uid, 1_100)))
    await topics.patch(ORDERS, { keepMessages: null })
    await topics.patch(ORDERS, on)
  }
  expect((await redis.keys('*:kept:dropped:*')).length).toBe(2)
  const [again, ...others] = dropped.slice(-20).reverse() as [KeptJob, ...KeptJob[]]
  expect(await kept.keepJobs([again])).toEqual([])
  expect(await walk(10)).toEqual(ids(again.messages))
  for (const each of others) {
    const [message] = each.messages as [NewKept, ...NewKept[]]
    expect(await kept.topicOf(idOf(message))).toBeNull()
  }
  await upkeep.sweep()
  expect(await redis.keys('*:kept:dropped:*')).toEqual([])
  expect(await redis.keys('*:kept:job:*')).toEqual([`${base}kept:job:${uid}:${again.name}`])
  expect(await walk(10)).toEqual(ids(again.messages))
  await keepJobs(uid, 1_100)
  await topics.delete(ORDERS)
  expect((await redis.keys('*:kept:job:*')).length).toBe(101)
  await upkeep.sweep()
  expect(await ringKeys()).toBe(0)
})

test('a job whose record is gone or unreadable counts as no messages, and the others are still read', async () => {
  const uid = await topic()
  const jobs = [await job(uid, 3), await job(uid, 3), await job(uid, 3), await job(uid, 3)] as const
  expect(await kept.keepJobs([...jobs])).toEqual([])
  const key = ({ name }: KeptJob) => `${base}kept:job:${uid}:${name}`
  await redis.del(key(jobs[0]), key(jobs[2]))
  await redis.hset(key(jobs[3]), 'data', '{"m":5}')
  for (let size = 1; size <= 8; size++) {
    const found: string[] = []
    for (let before: string | null = null; ; ) {
      const page = await kept.page(ORDERS, { before, messagesMax: size })
      found.push(...(page?.bodies ?? []).filter((body) => body.length > 0).map(String))
      before = page?.before ?? null
      if (before === null) break
    }
    expect(found, String(size)).toEqual(jobs[1].messages.map(({ body }) => body).reverse())
  }
  for (const each of [jobs[0], jobs[2], jobs[3]])
    expect(await kept.read(ORDERS, idOf(each.messages[0] as NewKept))).toBe('absent')
  expect(await kept.topicOf(idOf(jobs[2].messages[0] as NewKept))).toBeNull()
  await redis.set(skewKey(base), 61_000)
  await upkeep.sweep()
  expect([await walk(1), await redis.keys('*:kept:[jpd]*')]).toEqual([[], []])
})

test('a record of another kind is kept one by one, and the jobs beside it whole', async () => {
  const uid = await topic()
  const jobs = [await job(uid, 2), await job(uid, 2), await job(uid, 2)] as const
  await redis.del(jobs[1].record)
  await redis.set(jobs[1].record, 'text')
  expect(await kept.keepJobs([...jobs])).toEqual([jobs[1]])
  expect(await walk(10)).toEqual(ids([...jobs[0].messages, ...jobs[2].messages]))
})

test('a ring counts the bytes that Redis uses for its jobs', async () => {
  const usage = async (name: string) => Number(await redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0'))
  const counted: number[] = []
  for (const [count, length] of [
    [60, 250],
    [20, 1_000],
    [64, 1_000],
    [10, 10_000],
  ] as const) {
    // biome-ignore format: pairs
    await redis.flushall()
    const uid = await topic(100 * MIB)
    for (let n = 0; n < 40; n++) await kept.keepJobs([await job(uid, count, 'x'.repeat(length))])
    const used = (await Promise.all((await redis.keys('*:kept:[jop]*:*')).map(usage))).reduce((a, b) => a + b)
    counted.push((await bytesOf()) / used)
  }
  for (const share of counted) expect(Math.abs(share - 1), String(counted)).toBeLessThan(0.08)
})

test('small jobs, and those whose messages were published at far times, are kept one by one', () => {
  const at = (ms: number) => ({ id: parseMessageId(createMessageId(ms)) ?? Buffer.alloc(0) })
  const near = [at(1_800_000_000_000), at(1_800_000_002_000)]
  expect(isWorthKeepingWhole(near, 8_192)).toBe(true)
  expect(isWorthKeepingWhole(near, 8_191)).toBe(false)
  expect(isWorthKeepingWhole([...near, at(1_800_000_002_001)], 8_192)).toBe(false)
})
