/** Archives: messages move from the rings of their topics into blocks. */
import { randomBytes } from 'node:crypto'
import { createMessageId, type Message, parseMessageId } from '@fantail/contracts'
import { crashing, skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import type { KeptJob, NewKept } from '../kept/kept-jobs.ts'
import { KeptMessages } from '../kept/kept-messages.ts'
import { KeptUpkeep } from '../kept/kept-upkeep.ts'
import { archiveKey, archivesKey, keptBodiesKey, keptKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { countArchivedTexts, countSealedTexts } from '../move/sealed-counts.ts'
import { jobText, messageBody } from '../records/message-bodies.ts'
import { connect } from '../redis/connections/connect.ts'
import { isOutOfMemory } from '../redis/storage-errors.ts'
import { Topics } from '../topics/topics.ts'
import {
  type ArchivedTopic,
  type BlockStore,
  blockName,
  blockOf,
  packBlock,
  unpackBlock,
} from './archive-blocks.ts'
import { ArchivePages, type ArchiveRange } from './archive-pages.ts'
import { Archives, archiveFigures } from './archives.ts'

const { redis } = await useRedis({ connect })
const ARN = 'arn:aws:sns:us-east-1:000000000000:orders'
const BASE = shardBase(shardOf(ARN))
const DAY_MS = 86_400_000
/** Messages wait for no full block. */
const AT_ONCE = { ageMs: 0 }
const ALL: ArchiveRange = { after: 0, last: Number.MAX_SAFE_INTEGER }
const topics = new Topics(redis)
const kept = new KeptMessages(redis)
const objects = new Map<string, Buffer>()
const blocks: BlockStore = {
  put: async (name, data) => void objects.set(name, data),
  get: async (name) => objects.get(name) ?? null,
  remove: async (name) => void objects.delete(name),
}
const archives = new Archives(redis, blocks)
let jobs = 0

beforeEach(async () => {
  await redis.flushall()
  objects.clear()
})

async function archived(archive: { days: number; bytes?: number } = { days: 1 }): Promise<ArchivedTopic> {
  const { topic } = await topics.put(ARN, { archive })
  return { arn: ARN, uid: topic.uid }
}

function published(message = 'x'): Message {
  const publishedAt = Date.now()
  return { messageId: createMessageId(publishedAt), topicArn: ARN, publishedAt, message }
}

function keptForm({ arn, uid }: ArchivedTopic, message: Message): NewKept {
  const id = parseMessageId(message.messageId) ?? Buffer.alloc(0)
  return { arn, uid, isArchived: true, id, body: messageBody(message) }
}

function messages(topic: ArchivedTopic, count: number, text?: string): NewKept[] {
  return Array.from({ length: count }, () => keptForm(topic, published(text)))
}

/** A job as BullMQ stores it after its first start. */
async function job(topic: ArchivedTopic, count: number): Promise<KeptJob> {
  const all = Array.from({ length: count }, () => published())
  const [addedAt, record] = [Date.now(), `ft:{job}:${++jobs}`]
  await redis.hset(record, { timestamp: addedAt, ats: 1, data: jobText(all) })
  const forms = all.map((message) => keptForm(topic, message))
  return { ...topic, record, name: record, addedAt, copies: true, messages: forms }
}

const idOf = (body: string): string => JSON.parse(body).messageId
const idsOf = (all: readonly { body: string }[]) => all.map(({ body }) => idOf(body))
const idsIn = async (topic: ArchivedTopic, range = ALL) =>
  idsOf((await new ArchivePages(redis, blocks).all(topic, range)).messages)
const inRing = async () => (await kept.page(ARN, { before: null, messagesMax: 1 }))?.total

async function writeAll(topic: ArchivedTopic, by: Pick<Archives, 'writeBlock'> = archives): Promise<number> {
  for (let written = 0; ; ) {
    const messagesOfBlock = await by.writeBlock(topic, AT_ONCE)
    if (messagesOfBlock === 0) return written
    written += messagesOfBlock
  }
}

test('sealed texts in blocks and behind them are counted by their keys', async () => {
  const topic = await archived()
  const sealedBy = (key: string) => ({ ...published(''), sealed: `${key}AAAA` })
  await kept.keep(['AQID', 'AQID', 'AQIE'].map((key) => keptForm(topic, sealedBy(key))))
  await writeAll(topic)
  await kept.keep([keptForm(topic, sealedBy('AQIE')), ...messages(topic, 1)])
  expect(await countArchivedTexts(redis, blocks, (start) => start.slice(0, 4))).toEqual(
    new Map([
      ['AQID', 2],
      ['AQIE', 2],
    ]),
  )
  expect(await countSealedTexts(redis, (start) => start.slice(0, 4))).toEqual(new Map([['AQIE', 1]]))
})

test('messages leave the ring when a block has them, and an archive gives all of them in order', async () => {
  const topic = await archived()
  const [first, second] = [messages(topic, 1_500), messages(topic, 30)]
  const whole = await job(topic, 7)
  await kept.keep(first)
  expect(await kept.keepJobs([whole])).toEqual([])
  expect(await archives.writeBlock(topic)).toBe(1_000)
  // A block that is not full waits for further messages.
  expect([await archives.writeBlock(topic), await inRing()]).toEqual([0, 507])
  expect(await archives.writeBlock(topic, AT_ONCE)).toBe(507)
  expect(await inRing()).toBe(0)
  await kept.keep(second)
  const all = [...first, ...whole.messages, ...second]
  expect(await idsIn(topic)).toEqual(idsOf(all))
  expect(objects.size).toBe(2)
  expect(await archiveFigures(redis, topic)).toMatchObject({
    messages: 1_507,
    bytes: [...objects.values()].reduce((sum, { length }) => sum + length, 0),
  })
})

test('[419] an archiver that dies at any step, or whose place fails, loses no message and writes none twice', async () => {
  let steps = 0
  const dying = (step: number, after: boolean, isAway: 'never' | 'before' | 'after') => {
    let n = 0
    const put: BlockStore['put'] = async (name, data) => {
      if (isAway !== 'before') await blocks.put(name, data)
      if (isAway !== 'never') throw new Error('crashed')
    }
    const client = crashing(redis, () => ++n === step, after)
    return { archives: new Archives(client, { ...blocks, put }), steps: () => n }
  }
  const counting = dying(0, false, 'never')
  const topic = await archived()
  await kept.keep(messages(topic, 300))
  await writeAll(topic, counting.archives)
  steps = counting.steps()
  expect(steps).toBeGreaterThanOrEqual(4)
  const cases = Array.from({ length: steps }, (_, n) => [
    dying(n + 1, false, 'never'),
    dying(n + 1, true, 'never'),
  ]).flat()
  for (const { archives: dies } of [...cases, dying(0, false, 'before'), dying(0, false, 'after')]) {
    await redis.flushall()
    objects.clear()
    const again = await archived()
    const all = messages(again, 300)
    await kept.keep(all)
    await expect(writeAll(again, dies)).rejects.toThrow('crashed')
    const later = messages(again, 5)
    await kept.keep(later)
    expect(await idsIn(again)).toEqual(idsOf([...all, ...later]))
    await writeAll(again)
    expect(await idsIn(again)).toEqual(idsOf([...all, ...later]))
    expect([await inRing(), objects.size]).toEqual([
      0,
      await redis.zcard(`${BASE}archive:blocks:${again.uid}`),
    ])
  }
})

test('two archivers that write the same block add it once', async () => {
  const topic = await archived()
  const all = messages(topic, 20)
  await kept.keep(all)
  const written = await Promise.all([1, 2].map(() => archives.writeBlock(topic, AT_ONCE)))
  expect(written.toSorted()).toEqual([0, 20])
  expect([await idsIn(topic), objects.size]).toEqual([idsOf(all), 1])
})

test('a ring keeps for its archive what other bounds would remove, also when memory is full', async () => {
  const topic = await archived()
  const [first, second, third] = [messages(topic, 30), messages(topic, 30), await job(topic, 9)]
  await kept.keep(first)
  await redis.set(skewKey(BASE), 3_600_000)
  const upkeep = new KeptUpkeep({
    redis,
    share: 0,
    memoryBytes: 1,
    onProblem: (error) => expect.fail(String(error)),
  })
  await upkeep.sweep()
  const { topic: other } = await topics.put(`${ARN}-2`, { keepMessages: { seconds: 60, bytes: 1_048_576 } })
  await redis.config('SET', 'maxmemory', 1)
  try {
    await kept.keep(second)
    expect(await kept.keepJobs([third])).toEqual([])
    const refused = messages(other, 1).map((message) => ({ ...message, isArchived: false }))
    await expect(kept.keep(refused)).rejects.toSatisfy(isOutOfMemory)
    await writeAll(topic)
  } finally {
    await redis.config('SET', 'maxmemory', 0)
  }
  expect(await idsIn(topic)).toEqual(idsOf([...first, ...second, ...third.messages]))
})

test('an archive that drops its oldest messages gives way when memory is short, and counts what is lost', async () => {
  const { topic } = await topics.put(ARN, { archive: { days: 1, whenFull: 'dropOldest' } })
  await kept.keep(messages(topic, 20, 'x'.repeat(1_000)))
  const onProblem = (error: unknown) => expect.fail(String(error))
  await new KeptUpkeep({ redis, share: 0.5, onProblem }).sweep()
  expect(await inRing()).toBe(20)
  // The rings exceed their share, but Redis has memory.
  await new KeptUpkeep({ redis, share: 0.000_01, memoryBytes: 1_000_000_000, onProblem }).sweep()
  expect(await inRing()).toBe(20)
  await new KeptUpkeep({ redis, share: 0.01, memoryBytes: 1_000_000, onProblem }).sweep()
  const left = await inRing()
  expect([left === undefined || left < 10, await archiveFigures(redis, topic)]).toMatchObject([
    true,
    { dropped: 20 - (left ?? 0) },
  ])
  const later = messages(topic, 5)
  await kept.keep(later)
  await writeAll(topic)
  expect((await idsIn(topic)).slice(-5)).toEqual(idsOf(later))
})

test('an archive that drops messages gets new ones when memory is full, and keeps those of the open block', async () => {
  const settings = {
    keepMessages: { seconds: 60, bytes: 1_048_576 },
    archive: { days: 1, whenFull: 'dropOldest' },
  } as const
  const { topic } = await topics.put(ARN, settings)
  const [first, second, third] = [1, 2, 3].map(() => messages(topic, 20, 'x'.repeat(1_000))) as [
    NewKept[],
    NewKept[],
    NewKept[],
  ]
  await kept.keep(first)
  await writeAll(topic)
  await kept.keep(second)
  const away = new Archives(redis, { ...blocks, put: () => Promise.reject(new Error('away')) })
  await expect(away.writeBlock(topic, AT_ONCE)).rejects.toThrow('away')
  await redis.config('SET', 'maxmemory', 1)
  try {
    await kept.keep(third)
  } finally {
    await redis.config('SET', 'maxmemory', 0)
  }
  expect(await inRing()).toBe(60)
  const onProblem = (error: unknown) => expect.fail(String(error))
  await new KeptUpkeep({ redis, share: 0.000_01, memoryBytes: 1_000, onProblem }).sweep()
  // The first ones are in a block, so nothing of them is lost.
  expect(await archiveFigures(redis, topic)).toMatchObject({ messages: 20, dropped: 20 })
  await writeAll(topic)
  expect(await idsIn(topic)).toEqual(idsOf([...first, ...second]))
})

test('a ring that is damaged loses no body of an archive, and a text that is missing is counted', async () => {
  const topic = await archived()
  const all = messages(topic, 5)
  await kept.keep(all)
  await redis.rename(keptKey(BASE), 'aside')
  await redis.set(keptKey(BASE), 'of another kind')
  await expect(kept.keep(all)).rejects.toThrow('WRONGTYPE')
  await redis.rename('aside', keptKey(BASE))
  expect(await idsIn(topic)).toEqual(idsOf(all))
  await redis.hdel(keptBodiesKey(BASE, topic.uid), all[2]?.id ?? '')
  const lost: number[] = []
  const counting = new Archives(redis, blocks, { onLost: (_, count) => lost.push(count) })
  expect(await writeAll(topic, counting)).toBe(4)
  expect([lost, await archiveFigures(redis, topic)]).toMatchObject([[1], { messages: 4, dropped: 1 }])
})

test('few messages wait for a block of more bytes while Redis has memory', async () => {
  const topic = await archived()
  await kept.keep(messages(topic, 5))
  await redis.set(skewKey(BASE), 11_000)
  expect(await archives.writeBlock(topic, { isCalm: true })).toBe(0)
  await kept.keep(messages(topic, 3, 'x'.repeat(100_000)))
  expect(await archives.writeBlock(topic, { isCalm: true })).toBe(8)
  for (const [isCalm, waitMs] of [
    [false, 11_000],
    [true, 601_000],
  ] as const) {
    await kept.keep(messages(topic, 5))
    expect(await archives.writeBlock(topic, { isCalm })).toBe(0)
    await redis.set(skewKey(BASE), Number(await redis.get(skewKey(BASE))) + waitMs)
    expect(await archives.writeBlock(topic, { isCalm })).toBe(5)
  }
})

test('a ring of its own bounds stays beside the archive, and no message is read twice', async () => {
  const { topic } = await topics.put(ARN, {
    keepMessages: { seconds: 60, bytes: 1_048_576 },
    archive: { days: 1 },
  })
  const all = messages(topic, 40)
  await kept.keep(all)
  await writeAll(topic)
  expect([await inRing(), await idsIn(topic)]).toEqual([40, idsOf(all)])
  await redis.set(skewKey(BASE), 61_000)
  await kept.keep(messages(topic, 1))
  expect(await inRing()).toBe(1)
})

test('[420] blocks that are too old or exceed the bytes leave the archive whole, with their objects', async () => {
  const topic = await archived({ days: 2, bytes: 1_048_576 })
  const old = messages(topic, 10)
  await kept.keep(old)
  await writeAll(topic)
  await redis.set(skewKey(BASE), 2 * DAY_MS + 60_000)
  const noise = Buffer.from(Array.from({ length: 900_000 }, () => Math.random() * 256)).toString('base64')
  const large = [messages(topic, 1, noise), messages(topic, 1, noise)] as const
  await kept.keep(large[0])
  await writeAll(topic)
  expect(await archives.sweep(topic)).toBe(1)
  expect(await idsIn(topic)).toEqual(idsOf(large[0]))
  await kept.keep(large[1])
  await writeAll(topic)
  expect(await archives.sweep(topic)).toBe(1)
  expect([await idsIn(topic), objects.size]).toEqual([idsOf(large[1]), 1])
  expect(await archives.sweep(topic)).toBe(0)
})

test.each([
  ['is turned off', () => topics.patch(ARN, { archive: null })],
  ['loses its topic', () => topics.delete(ARN)],
])('an archive that %s is deleted, also where an object cannot be deleted at first', async (_, end) => {
  const topic = await archived()
  await kept.keep(messages(topic, 5))
  await writeAll(topic)
  // This block is being written.
  await kept.keep(messages(topic, 5))
  const away = new Archives(redis, { ...blocks, put: () => Promise.reject(new Error('away')) })
  await expect(away.writeBlock(topic, AT_ONCE)).rejects.toThrow('away')
  await end()
  expect([await idsIn(topic), await archiveFigures(redis, topic)]).toMatchObject([[], null])
  const failing = new Archives(redis, { ...blocks, remove: () => Promise.reject(new Error('away')) })
  await expect(failing.sweep(topic)).rejects.toThrow('away')
  await archives.sweep(topic)
  await archives.sweep(topic)
  expect([objects.size, await redis.smembers(archivesKey(BASE))]).toEqual([0, []])
  expect(await redis.keys('*archive*')).toEqual([])
})

test('an archive that begins again reads no block of the former one, and first what the ring has from before', async () => {
  const keep = { keepMessages: { seconds: 60, bytes: 1_048_576 } }
  const { topic } = await topics.put(ARN, keep)
  const all = [messages(topic, 3), messages(topic, 3), messages(topic, 250), messages(topic, 2)] as const
  await kept.keep(all[0])
  const first = await archived()
  await kept.keep(all[1])
  await writeAll(first)
  await topics.patch(ARN, { archive: null })
  await archives.sweep(first)
  await kept.keep(all[2])
  await archived()
  expect(await idsIn(first)).toEqual(idsOf(all.slice(0, 3).flat()))
  await kept.keep(all[3])
  await writeAll(first)
  expect([await idsIn(first), objects.size]).toEqual([idsOf(all.flat()), 1])
})

test('an ended archive of many blocks leaves Redis by one sweep', async () => {
  const topic = await archived()
  await kept.keep(messages(topic, 1))
  await writeAll(topic)
  const many = Array.from({ length: 2_500 }, (_, n) => [n + 1, `${n} 1 1 1 1`]).flat()
  await redis.zadd(`${BASE}archive:blocks:${topic.uid}`, ...many)
  await topics.patch(ARN, { archive: null })
  expect(await archives.sweep(topic)).toBe(2_501)
  expect([await redis.keys('*archive*'), objects.size]).toEqual([[], 0])
})

test('a block that retention deletes while it is read is left out', async () => {
  const topic = await archived()
  await kept.keep(messages(topic, 3))
  await writeAll(topic)
  const later = messages(topic, 3)
  await redis.set(skewKey(BASE), DAY_MS - 60_000)
  await kept.keep(later)
  await writeAll(topic)
  const get: BlockStore['get'] = async (name) => {
    await redis.set(skewKey(BASE), DAY_MS + 60_000)
    await archives.sweep(topic)
    return blocks.get(name)
  }
  const { messages: found } = await new ArchivePages(redis, { get }).all(topic, ALL)
  expect(idsOf(found)).toEqual(idsOf(later))
})

test('a block whose choice a failover has lost leaves no object', async () => {
  const topic = await archived()
  await kept.keep(messages(topic, 3))
  const put: BlockStore['put'] = async (name, data) => {
    await blocks.put(name, data)
    await redis.hdel(archiveKey(BASE, topic.uid), 'w')
    await kept.keep(messages(topic, 2))
    expect(await archives.writeBlock(topic, AT_ONCE)).toBe(5)
  }
  expect(await new Archives(redis, { ...blocks, put }).writeBlock(topic, AT_ONCE)).toBe(0)
  expect([objects.size, (await idsIn(topic)).length]).toEqual([1, 5])
})

test('a range of publishing leaves out blocks of other times without reading them', async () => {
  const topic = await archived()
  const [first, second] = [messages(topic, 3), messages(topic, 3)]
  await kept.keep(first)
  await writeAll(topic)
  await redis.set(skewKey(BASE), 60_000)
  await kept.keep(second.map((message) => ({ ...message, body: later(message.body, 50_000) })))
  await writeAll(topic)
  const reads: string[] = []
  const pages = new ArchivePages(redis, {
    get: (name) => {
      reads.push(name)
      return blocks.get(name)
    },
  })
  const { messages: found } = await pages.all(topic, { ...ALL, since: Date.now() + 30_000 })
  expect([idsOf(found), reads.length]).toEqual([idsOf(second), 1])
})

const later = (body: string, ms: number) =>
  body.replace(/"publishedAt":(\d+)/, (_, at) => `"publishedAt":${Number(at) + ms}`)

test('a block that is lost or damaged is an error that names it', async () => {
  const topic = await archived()
  await kept.keep(messages(topic, 3))
  await writeAll(topic)
  const [[name, data] = ['', Buffer.alloc(0)]] = [...objects]
  const flipped = Buffer.from(data)
  flipped[data.length - 6] = (data[data.length - 6] ?? 0) ^ 1
  for (const damaged of [data.subarray(0, -9), flipped]) {
    objects.set(name, damaged)
    await expect(idsIn(topic)).rejects.toThrow(`the block ${name} of the archive is damaged`)
  }
  objects.clear()
  await expect(idsIn(topic)).rejects.toThrow(`the archive lacks the block ${name}`)
  expect(name).toBe(blockName(topic, blockOf(name.split('/').at(-1)?.split('-')[0] ?? '', toOf(name))))
})

const toOf = (name: string) => Number(/-(\d+)\.ndjson/.exec(name)?.[1])

test('a changed byte of a block never gives another message', async () => {
  const messages = [{ score: 1, body: randomBytes(300).toString('hex') }]
  const block = await packBlock(messages)
  let damaged = 0
  for (let at = 0; at < block.length; at++) {
    const changed = Buffer.from(block)
    changed[at] = (block[at] ?? 0) ^ 1
    // A few bits of the head mean nothing.
    const found = await unpackBlock(changed).catch(() => null)
    if (found) expect(found).toEqual(messages)
    else damaged++
  }
  expect(damaged).toBeGreaterThan(block.length * 0.9)
})

test('the name of a block is no longer than file systems allow', () => {
  const name = blockName({ arn: `${ARN}-${'x'.repeat(240)}`, uid: '0123456789abcdef' }, { from: 0, to: 1e15 })
  expect(Math.max(...name.split('/').map(({ length }) => length))).toBeLessThan(150)
})

test('a block that cannot be deleted leaves the others to be deleted', async () => {
  const topic = await archived({ days: 1 })
  for (let block = 0; block < 2; block++) {
    await kept.keep(messages(topic, 1))
    await writeAll(topic)
  }
  await redis.set(skewKey(BASE), 2 * DAY_MS)
  const [locked] = objects.keys()
  const remove = async (name: string) => {
    if (name === locked) throw new Error('locked')
    objects.delete(name)
  }
  await expect(new Archives(redis, { ...blocks, remove }).sweep(topic)).rejects.toThrow('locked')
  expect([...objects.keys()]).toEqual([locked])
  expect(await archives.sweep(topic)).toBe(1)
})

test('a message of 1 KB takes at most 300 bytes in a block', async () => {
  const all = Array.from({ length: 1_000 }, (_, n) => ({
    score: n,
    body: messageBody(published(orderOf(n))),
  }))
  const bytes = all.reduce((sum, { body }) => sum + body.length, 0) / all.length
  expect(bytes).toBeGreaterThan(1_000)
  expect((await packBlock(all)).length / all.length).toBeLessThan(300)
})

let seed = 7
/** A number below `max`, the same in each run. */
function random(max: number): number {
  seed = (seed * 48_271) % 2_147_483_647
  return seed % max
}
const oneOf = (words: string) => words.split(' ')[random(words.split(' ').length)]
const hex = (length: number) => Array.from({ length }, () => random(16).toString(16)).join('')

/** An order as shops send them: random ids, names, prices and times among fixed members. */
function orderOf(n: number): string {
  return JSON.stringify({
    event: oneOf('order.created order.paid order.shipped'),
    order: {
      id: hex(24),
      number: 100_000 + n,
      placedAt: new Date(1_764_000_000_000 + random(1e9)).toISOString(),
    },
    customer: {
      id: hex(16),
      name: `${oneOf('Ada Grace Alan Edsger Barbara Donald')} ${oneOf('Lovelace Hopper Turing Dijkstra Liskov Knuth')}`,
      email: `${oneOf('ada grace alan edsger')}.${random(9_999)}@example.${oneOf('com org net')}`,
      address: {
        street: `${oneOf('Main Oak High Park')} Street ${random(300)}`,
        zip: String(10_000 + random(80_000)),
      },
    },
    lines: Array.from({ length: 4 }, () => ({
      sku: `SKU-${random(5_000)}`,
      title: `${oneOf('red blue green')} ${oneOf('shirt shoes hat coat')} ${oneOf('small medium large')}`,
      quantity: 1 + random(4),
      price: { amount: random(20_000) / 100, currency: 'EUR' },
    })),
    total: { amount: random(60_000) / 100, currency: 'EUR' },
    payment: { method: oneOf('card transfer invoice'), reference: hex(20) },
  })
}
