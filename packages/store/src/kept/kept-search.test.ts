/** Searches in rings with messages that are kept one by one and in whole jobs. */
import { createMessageId, FantailError, type Message, parseMessageId } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { dispatchJobKey, keptBodiesKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { KEYLESS } from '../records/body-seals.fixture.ts'
import { jobText, messageBody } from '../records/message-bodies.ts'
import { connect } from '../redis/connections/connect.ts'
import { Topics } from '../topics/topics.ts'
import { KeptMessages } from './kept-messages.ts'
import { KeptSearch, type KeptSearchRequest } from './kept-search.ts'

const { redis } = await useRedis({ connect })
const arnOf = (name: string) => `arn:aws:sns:us-east-1:000000000000:${name}`
const [ORDERS, CLICKS, MAILS] = ['orders', 'clicks', 'mails'].map(arnOf) as [string, string, string]
const topics = new Topics(redis)
const kept = new KeptMessages(redis)
const search = new KeptSearch(redis, KEYLESS)
let lastJob = 0

beforeEach(async () => {
  await redis.flushall()
})

async function topic(arn = ORDERS): Promise<string> {
  return (await topics.put(arn, { keepMessages: { seconds: 60, bytes: 64 * 1_048_576 } })).topic.uid
}

function messageOf(text: string, topicArn = ORDERS): Message {
  const publishedAt = Date.now()
  return { messageId: createMessageId(publishedAt), topicArn, publishedAt, message: text }
}

const newKept = (uid: string, message: Message) => ({
  arn: message.topicArn,
  uid,
  id: parseMessageId(message.messageId) ?? Buffer.alloc(0),
  body: messageBody(message),
})

async function keep(uid: string, texts: string[], arn = ORDERS): Promise<void> {
  for (const text of texts) await kept.keep([newKept(uid, messageOf(text, arn))])
}

async function keepJob(uid: string, texts: string[], arn = ORDERS): Promise<void> {
  const [id, addedAt, messages] = [String(++lastJob), Date.now(), texts.map((text) => messageOf(text, arn))]
  const record = dispatchJobKey(0, id)
  const times = { timestamp: addedAt, processedOn: addedAt, delay: 0, priority: 0, ats: 1 }
  await redis.hset(record, { name: 'dispatch', data: jobText(messages), ...times })
  const name = `dispatch-0:${id}:m0f3k2q1`
  const all = messages.map((message) => newKept(uid, message))
  expect(await kept.keepJobs([{ arn, uid, record, name, addedAt, copies: true, messages: all }])).toEqual([])
}

type Request = Partial<KeptSearchRequest<string>>

const find = (request: Request = {}) =>
  search.search({
    isWanted: () => true,
    mayRead: async () => true,
    find: ({ message }) => (message.includes('find') ? message : undefined),
    limit: 100,
    ...request,
  })

/** Follows the cursor to the end. */
async function findAll(
  request: Request = {},
): Promise<{ texts: string[]; scanned: number; scannedBytes: number }> {
  const texts: string[] = []
  let [scanned, scannedBytes] = [0, 0]
  for (let { cursor } = request; ; ) {
    const answer = await find({ ...request, cursor })
    expect(answer.found.length).toBeLessThanOrEqual(request.limit ?? 100)
    texts.push(...answer.found)
    scanned += answer.scanned
    scannedBytes += answer.scannedBytes
    if (answer.nextCursor === null) return { texts, scanned, scannedBytes }
    cursor = answer.nextCursor
  }
}

test('pages of any size have what single messages and whole jobs say once, the newest first', async () => {
  const uid = await topic()
  await keep(uid, ['find 1', 'other', 'find 2'])
  await keepJob(uid, ['find 3', 'other', 'find 4', 'find 5'])
  await keep(uid, ['find 6'])
  await keepJob(uid, ['other', 'find 7'])
  const all = ['find 7', 'find 6', 'find 5', 'find 4', 'find 3', 'find 2', 'find 1']
  for (let limit = 1; limit <= all.length + 1; limit++) {
    const { texts, scanned } = await findAll({ limit })
    expect([texts, scanned], String(limit)).toEqual([all, 10])
  }
  const { scannedTo, keptBytes, scannedBytes, unreadable } = await find()
  expect({ scannedTo, unreadable }).toEqual({ scannedTo: null, unreadable: 0 })
  expect(keptBytes).toBeGreaterThan(scannedBytes)
})

test('a search over several rings reads each of them once, and none that it must not read', async () => {
  const rings = await Promise.all(
    [ORDERS, CLICKS, MAILS].map(async (arn) => [arn, await topic(arn)] as const),
  )
  for (let n = 0; n < 5; n++)
    for (const [arn, uid] of rings)
      await (n % 2 === 0 ? keep : keepJob)(uid, [`find ${arn} ${n}`, 'other'], arn)
  const whole = (await findAll({ limit: 4 })).texts
  expect(new Set(whole).size).toBe(15)
  expect(whole).toHaveLength(15)
  const own = await findAll({
    limit: 2,
    isWanted: (arn) => arn !== MAILS,
    mayRead: async (arn) => arn !== CLICKS,
  })
  expect(own.texts).toEqual(whole.filter((text) => text.includes(ORDERS)))
  const first = await find({ limit: 4 })
  await topics.delete(CLICKS)
  const rest = await findAll({ cursor: first.nextCursor ?? '' })
  const left = [...first.found, ...rest.texts].filter((text) => !text.includes(CLICKS))
  expect(left.toSorted()).toEqual(whole.filter((text) => !text.includes(CLICKS)).toSorted())
})

test('a search stays within its times, and goes on where it was given up', async () => {
  const uid = await topic()
  await keep(uid, ['find 1'])
  const between = Date.now()
  expect((await findAll({ since: between + 60_000 })).texts).toEqual([])
  expect((await findAll({ until: between - 60_000 })).texts).toEqual([])
  expect((await findAll({ since: between - 60_000, until: between + 60_000 })).texts).toEqual(['find 1'])
  const large = 'x'.repeat(100_000)
  await keep(uid, ['find 2', large, large, large, 'find 3'])
  const signal = AbortSignal.abort()
  const first = await find({ signal })
  expect(first).toMatchObject({ found: ['find 3'], nextCursor: expect.any(String) })
  expect(first.scannedTo).toBeLessThanOrEqual(Date.now())
  // Each call reads a page at least, so a search that is always given up comes to its end too.
  expect((await findAll({ signal })).texts).toEqual(['find 3', 'find 2', 'find 1'])
})

test('a page has at most 128 KiB or one message, so that no script reads much more', async () => {
  const uid = await topic()
  await keep(uid, ['find 1', ...Array.from({ length: 12 }, () => 'y'.repeat(100_000)), 'z'.repeat(700_000)])
  await redis.config('RESETSTAT')
  const { scannedBytes } = await findAll()
  const calls = (await redis.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)
  const scripts = [...calls].reduce((sum, [, count]) => sum + Number(count), 0)
  expect(scannedBytes).toBeGreaterThan(1_900_000)
  expect(scripts).toBeGreaterThanOrEqual(13)
})

test('a message that cannot be decoded is counted, and a made-up cursor is refused', async () => {
  const uid = await topic()
  await keep(uid, ['find 1', 'find 2'])
  const key = keptBodiesKey(shardBase(shardOf(ORDERS)), uid)
  const [id = Buffer.alloc(0)] = await redis.hkeysBuffer(key)
  await redis.hset(key, id, '{"message":"find 3"}')
  expect(await find()).toMatchObject({ found: [expect.any(String)], scanned: 2, unreadable: 1 })
  await expect(find({ cursor: 'nonsense' })).rejects.toThrow(FantailError)
  expect((await find({ isWanted: () => false })).nextCursor).toBeNull()
})
