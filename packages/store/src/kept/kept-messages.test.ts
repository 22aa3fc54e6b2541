import { createMessageId, parseMessageId } from '@fantail/contracts'
import { beforeFirst, skewKey, waitFor, waitingFirst } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { keptBodiesKey, keptKey, roleKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { connect } from '../redis/connections/connect.ts'
import { isOutOfMemory } from '../redis/storage-errors.ts'
import { Topics } from '../topics/topics.ts'
import type { NewKept } from './kept-jobs.ts'
import { KeptMessages } from './kept-messages.ts'
import { KeptUpkeep, ringsOf } from './kept-upkeep.ts'

const { redis } = await useRedis({ connect })
const ORDERS = 'arn:aws:sns:us-east-1:000000000000:orders'
const MIB = 1_048_576
const topics = new Topics(redis)
const kept = new KeptMessages(redis)
const failing = (error: unknown) => expect.fail(String(error))
const upkeepOf = (share: number, memoryBytes = 1_000 * MIB) =>
  new KeptUpkeep({ redis, share, memoryBytes, onProblem: failing })

beforeEach(async () => {
  await redis.flushall()
})

async function topic(arn = ORDERS, bytes = 10 * MIB): Promise<string> {
  return (await topics.put(arn, { keepMessages: { seconds: 60, bytes } })).topic.uid
}

function messages(uid: string, count: number, text = 'x', arn = ORDERS): NewKept[] {
  return Array.from({ length: count }, () => {
    const messageId = createMessageId(Date.now())
    return {
      arn,
      uid,
      id: parseMessageId(messageId) ?? Buffer.alloc(0),
      body: JSON.stringify({ messageId, text }),
    }
  })
}

const idOf = ({ body }: NewKept): string => JSON.parse(body).messageId
const ringKeys = async () => (await redis.keys('*kept*')).length
const textsIn = (bodies: Buffer[]) => bodies.map((body) => JSON.parse(String(body)).messageId)

test('a ring has each message once, in the order of keeping, and pages lead from the newest to the oldest', async () => {
  const uid = await topic()
  const all = messages(uid, 7)
  await kept.keep(all.slice(0, 5))
  await kept.keep([...all, ...all])
  const first = await kept.page(ORDERS, { before: null, messagesMax: 4 })
  const second = await kept.page(ORDERS, { before: first?.before ?? null, messagesMax: 4 })
  expect([first?.total, ...textsIn([...(first?.bodies ?? []), ...(second?.bodies ?? [])])]).toEqual([
    7,
    ...all.map(idOf).reverse(),
  ])
  expect((await kept.page(ORDERS, { before: second?.before ?? null, messagesMax: 4 }))?.bodies).toEqual([])
  expect(String(await kept.read(ORDERS, idOf(all[0] as NewKept)))).toBe(all[0]?.body)
  expect(await kept.topicOf(idOf(all[6] as NewKept))).toBe(ORDERS)
})

test('a topic without the setting, a deleted one and a recreated one keep nothing and leave no key', async () => {
  const { topic: plain } = await topics.put(ORDERS, {})
  const [message] = messages(plain.uid, 1)
  await kept.keep([message as NewKept])
  expect([await ringKeys(), await kept.read(ORDERS, idOf(message as NewKept))]).toEqual([0, 'off'])
  for (const end of [() => topics.patch(ORDERS, { keepMessages: null }), () => topics.delete(ORDERS)]) {
    const uid = await topic()
    await kept.keep(messages(uid, 3))
    expect(await ringKeys()).toBe(4)
    await end()
    expect(await ringKeys()).toBe(0)
    await kept.keep(messages(uid, 1))
    expect(await ringKeys()).toBe(0)
  }
  await topic()
  await kept.keep(messages(plain.uid, 1))
  expect([await ringKeys(), await kept.topicOf(idOf(message as NewKept))]).toEqual([0, null])
})

test('a ring stays within its bytes, and says of the messages that it lost that it was full', async () => {
  const uid = await topic(ORDERS, MIB)
  const all = messages(uid, 30, 'x'.repeat(100_000))
  for (const message of all) await kept.keep([message])
  const [ring] = await ringsOf(redis)
  expect(ring?.bytes).toBeLessThanOrEqual(MIB)
  expect(ring?.bytes).toBeGreaterThan(MIB - 101_000)
  expect(await kept.read(ORDERS, idOf(all[0] as NewKept))).toBe('ringFull')
  expect(Buffer.isBuffer(await kept.read(ORDERS, idOf(all[29] as NewKept)))).toBe(true)
  expect(await kept.read(ORDERS, createMessageId(Date.now() + 1_000))).toBe('absent')
  await kept.keep(messages(uid, 1, 'x'.repeat(2 * MIB)))
  expect((await ringsOf(redis))[0]?.bytes).toBe(ring?.bytes)
  const page = await kept.page(ORDERS, { before: null, messagesMax: 1 })
  expect(await redis.hlen(keptBodiesKey(shardBase(shardOf(ORDERS)), uid))).toBe(page?.total)
})

test('a ring counts a message once, also when a server has forgotten the script or the keeper repeats', async () => {
  const uid = await topic()
  const [first, second] = [messages(uid, 3), messages(uid, 4, 'y'.repeat(900))]
  await kept.keep(first)
  const before = (await ringsOf(redis))[0]?.bytes ?? 0
  await redis.script('FLUSH')
  await kept.keep(second)
  const after = (await ringsOf(redis))[0]?.bytes ?? 0
  await kept.keep([...first, ...second, ...messages(uid, 3)])
  expect((await ringsOf(redis))[0]?.bytes).toBe(before + after)
  expect((await kept.page(ORDERS, { before: null, messagesMax: 100 }))?.total).toBe(10)
})

test('a ring whose notes cannot be read gets no bodies', async () => {
  const uid = await topic()
  await redis.set(keptKey(shardBase(shardOf(ORDERS))), 'of another kind')
  await expect(kept.keep(messages(uid, 2))).rejects.toThrow('WRONGTYPE')
  expect(await redis.exists(keptBodiesKey(shardBase(shardOf(ORDERS)), uid))).toBe(0)
})

test('memory that is full refuses bodies and their places together', async () => {
  const uid = await topic()
  await kept.keep(messages(uid, 1))
  const [ring] = await ringsOf(redis)
  await redis.config('SET', 'maxmemory', 1)
  try {
    await expect(kept.keep(messages(uid, 2))).rejects.toSatisfy(isOutOfMemory)
  } finally {
    await redis.config('SET', 'maxmemory', 0)
  }
  expect(await ringsOf(redis)).toEqual([ring])
  expect(await redis.hlen(keptBodiesKey(shardBase(shardOf(ORDERS)), uid))).toBe(1)
})

test('a ring counts the bytes that Redis uses for it, whatever the size of its messages', async () => {
  const usage = async (name: string) => Number(await redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0'))
  const counted: number[] = []
  for (const length of [50, 250, 1_050, 3_000, 40_000]) {
    await redis.flushall()
    const uid = await topic()
    const all = messages(uid, 1_000 / Math.ceil(length / 5_000), 'x'.repeat(length))
    for (let n = 0; n < all.length; n += 50) await kept.keep(all.slice(n, n + 50))
    const keys = await redis.keys('*:kept:[ob]*:*')
    // MEMORY USAGE leaves out 16 bytes of each message, by which used_memory grows too.
    const used = (await Promise.all(keys.map(usage))).reduce((sum, bytes) => sum + bytes, 16 * all.length)
    counted.push(((await ringsOf(redis))[0]?.bytes ?? 0) / used)
  }
  for (const share of counted) expect(Math.abs(share - 1), String(counted)).toBeLessThan(0.08)
})

test('the sweep removes what is too old, also from a ring to which nothing is added', async () => {
  const uid = await topic()
  const all = messages(uid, 2_500)
  await kept.keep(all)
  await redis.set(skewKey(shardBase(shardOf(ORDERS))), 61_000)
  expect(await kept.read(ORDERS, createMessageId(Date.now()))).toBe('tooOld')
  expect(await upkeepOf(0.5).sweep()).toBe(2_500)
  expect([await ringsOf(redis), (await kept.page(ORDERS, { before: null, messagesMax: 1 }))?.total]).toEqual([
    [],
    0,
  ])
})

test('past their share of the memory the largest ring gives way, and past 70 % all of them do', async () => {
  const clicks = ORDERS.replace('orders', 'clicks')
  const [small, large] = [await topic(ORDERS), await topic(clicks)]
  const body = 'x'.repeat(10_000)
  await kept.keep(messages(small, 20, body))
  await kept.keep(messages(large, 200, body, clicks))
  const bytes = async () => Object.fromEntries((await ringsOf(redis)).map((ring) => [ring.arn, ring.bytes]))
  const before = await bytes()
  await upkeepOf(0.001).sweep()
  const after = await bytes()
  expect(after[ORDERS]).toBe(before[ORDERS])
  expect((after[ORDERS] ?? 0) + (after[clicks] ?? 0)).toBeLessThanOrEqual(0.001 * 1_000 * MIB)
  const upkeep = upkeepOf(0.5, 100_000)
  upkeep.check()
  await upkeep.whenIdle()
  expect(await ringsOf(redis)).toEqual([])
})

test('two processes that check at the same time remove no more than one', async () => {
  await kept.keep(messages(await topic(), 200, 'x'.repeat(10_000)))
  const client = waitingFirst(redis, 'trim-kept-1')
  const upkeeps = [1, 2].map(
    () => new KeptUpkeep({ redis: client, share: 0.001, memoryBytes: 1_000 * MIB, onProblem: failing }),
  )
  for (const upkeep of upkeeps) {
    upkeep.check()
    await waitFor(() => redis.del(roleKey('kept-messages')))
  }
  await Promise.all(upkeeps.map((upkeep) => upkeep.whenIdle()))
  const [ring] = await ringsOf(redis)
  expect(ring?.bytes).toBeGreaterThan(0.0009 * 1_000 * MIB)
  expect(ring?.bytes).toBeLessThanOrEqual(0.001 * 1_000 * MIB)
})

test('a ring that grows faster than one script trims is still trimmed to its share', async () => {
  const uid = await topic()
  await kept.keep(messages(uid, 1_000))
  const [{ bytes } = { bytes: 0 }] = await ringsOf(redis)
  const client = beforeFirst(redis, 'trim-kept-1', () => kept.keep(messages(uid, 1_500)))
  const upkeep = new KeptUpkeep({
    redis: client,
    share: bytes / 2_000 / MIB,
    memoryBytes: 1_000 * MIB,
    onProblem: failing,
  })
  upkeep.check()
  await upkeep.whenIdle()
  expect((await ringsOf(redis))[0]?.bytes).toBeLessThanOrEqual(bytes / 2)
})

test('a sweep trims several rings side by side', async () => {
  for (const arn of [ORDERS, `${ORDERS}-2`]) await kept.keep(messages(await topic(arn), 1, 'x', arn))
  const client = waitingFirst(redis, 'trim-kept-1')
  expect(await new KeptUpkeep({ redis: client, share: 0.5, onProblem: failing }).sweep()).toBe(0)
})
