import { createMessageId } from '@fantail/contracts'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import type { DispatchEntry } from '../dispatch-entry.ts'
import type { LaneEntry } from '../outcome-entries.ts'
import { OutcomeLog } from '../outcome-log.ts'
import { OutcomeSearch, type SearchRequest } from './outcome-search.ts'

const ORDERS = 'arn:aws:sns:us-east-1:000000000000:orders'
const CLICKS = 'arn:aws:sns:us-east-1:000000000000:clicks'
const SLICE = { shard: 3, sliceId: 'aaaa.0' }
const CRM = '2ed27b75-ed07-88d2-8000-0a4a7289a382'
const NONE = Buffer.alloc(0)
const STREAMS = 3

const { redis } = await useRedis()
const log = new OutcomeLog(
  redis,
  { slice: async () => null, former: async () => [] },
  { deliveryStates: async () => [] },
  {
    queues: STREAMS,
    entriesMax: 100_000,
  },
)
const located: string[] = []
const search = new OutcomeSearch(redis, async (id) => {
  located.push(id)
  return id === CRM || id.startsWith('many') ? ORDERS : null
})

beforeEach(async () => {
  located.length = 0
  await redis.flushall()
})

let published = 1_790_000_000_000

/** The log orders by ms, so each entry of these tests gets one of its own. */
async function append(entries: Parameters<OutcomeLog['append']>[0]): Promise<void> {
  await log.append(entries)
  const storedAt = Date.now()
  await waitFor(() => Date.now() > storedAt, { intervalMs: 1 })
}

/** A message of its own ms. */
const newId = () => createMessageId(published++)

async function dispatched(set: Partial<DispatchEntry> = {}): Promise<string> {
  const messageId = set.messageId ?? newId()
  const bits = { delivered: NONE, parked: NONE, filtered: NONE, failures: [], otherCodes: [] }
  const entry = { messageId, topicArn: ORDERS, sizeBytes: 7, slice: SLICE, ...bits, ...set }
  await append({ dispatch: [entry], lanes: [] })
  return messageId
}

async function ended(messageId: string, set: Partial<LaneEntry> = {}): Promise<void> {
  const entry = { messageId, subscriptionId: CRM, generation: 0, outcome: 'deadLettered' as const }
  const facts = { reason: 'retriesExhausted', attempts: 4, statusCode: 503, error: null }
  await append({ dispatch: [], lanes: [{ ...entry, ...facts, ...set }] })
}

const find = (request: Partial<SearchRequest> = {}) =>
  search.find({ limit: 100, isVisible: () => true, ...request })
const idsOf = async (request: Partial<SearchRequest> = {}) =>
  (await find(request)).messages.map(({ messageId }) => messageId)

/** Follows the cursor to the end. */
async function findAll(request: Partial<SearchRequest>): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor: string | undefined; ; ) {
    const { messages, nextCursor } = await find({ ...request, cursor })
    pages.push(messages.map(({ messageId }) => messageId))
    if (nextCursor === null) return pages
    cursor = nextCursor
  }
}

test('messages of all streams come newest first, each with its counts and ends', async () => {
  const first = await dispatched({ delivered: Buffer.from([0b101]), parked: Buffer.from([0b10]) })
  const second = await dispatched({ topicArn: CLICKS, slice: null })
  await ended(first)
  const { messages, nextCursor, scannedTo } = await find()
  expect(messages).toMatchObject([
    {
      messageId: first,
      topicArn: ORDERS,
      sizeBytes: 7,
      counts: { delivered: 2, parked: 1, deadLettered: 1, filtered: 0 },
      ends: [{ subscriptionId: CRM, outcome: 'deadLettered', statusCode: 503, attempts: 4 }],
    },
    { messageId: second, topicArn: CLICKS, counts: { delivered: 0, parked: 0 }, ends: [] },
  ])
  expect(nextCursor).toBeNull()
  expect(scannedTo).toBeLessThanOrEqual(messages[1]?.at ?? 0)
})

test('pages continue where the page before ended, within bundles of the log and over streams', async () => {
  const ids: string[] = []
  for (let n = 0; n < 5; n++) {
    const some = Array.from({ length: 9 }, newId)
    const bits = { delivered: Buffer.from([1]), parked: NONE, filtered: NONE, failures: [], otherCodes: [] }
    const about = { topicArn: ORDERS, sizeBytes: 1, slice: SLICE, ...bits }
    await log.append({ dispatch: some.map((messageId) => ({ messageId, ...about })), lanes: [] })
    ids.push(...some)
  }
  const pages = await findAll({ limit: 4 })
  expect(pages.slice(0, -1).every(({ length }) => length === 4)).toBe(true)
  expect(pages.flat().toSorted()).toEqual(ids.toSorted())
  const [all] = await findAll({})
  expect(pages.flat()).toEqual(all)
})

test('filters are by topic, state, status and time', async () => {
  const delivered = await dispatched({ delivered: Buffer.from([1]) })
  const created = await dispatched({
    delivered: Buffer.from([0b11]),
    otherCodes: [[201, Buffer.from([0b10])]],
  })
  const filtered = await dispatched({ topicArn: CLICKS, filtered: Buffer.from([1]) })
  const failing = await dispatched({ parked: Buffer.from([1]), failures: [[0, 503, null]] })
  await ended(failing)
  expect(await idsOf({ states: ['delivered'] })).toEqual([created, delivered])
  expect(await idsOf({ states: ['delivered'], statusCode: 200 })).toEqual([created, delivered])
  expect(await idsOf({ statusCode: 201 })).toEqual([created])
  expect(await idsOf({ statusCode: 503 })).toEqual([failing])
  expect(await idsOf({ states: ['deadLettered'] })).toEqual([failing])
  expect(await idsOf({ states: ['filtered'] })).toEqual([filtered])
  expect(await idsOf({ topicArn: CLICKS })).toEqual([filtered])
  expect(await idsOf({ topicArn: ORDERS, states: ['deadLettered'] })).toEqual([failing])
  const { messages } = await find({})
  const at = messages.find(({ messageId }) => messageId === filtered)?.at ?? 0
  expect(await idsOf({ since: at })).toEqual([failing, filtered])
  expect(await idsOf({ since: at + 60_000 })).toEqual([])
  expect(await idsOf({ until: at })).toEqual([filtered, created, delivered])
  expect(await idsOf({ until: at - 60_000 })).toEqual([])
})

test('a subscription is found by its bit, but not the one that had the bit before', async () => {
  const before = await dispatched({ delivered: Buffer.from([0b10]) })
  const subscription = { id: CRM, sliceId: SLICE.sliceId, bit: 1, departures: 2 }
  await dispatched({ slice: { ...SLICE, departures: 1 }, filtered: Buffer.from([0b10]) })
  const slice = { ...SLICE, departures: 2 }
  const own = await dispatched({ slice, delivered: Buffer.from([0b10]) })
  await dispatched({ slice, delivered: Buffer.from([0b01]) })
  await dispatched({ slice: { ...slice, sliceId: 'bbbb.0' }, delivered: Buffer.from([0b10]) })
  const parked = await dispatched({ slice: { ...SLICE, departures: 7 }, parked: Buffer.from([0b10]) })
  await ended(parked)
  await ended(newId(), { subscriptionId: 'other' })
  expect(await idsOf({ subscription })).toEqual([parked, own])
  expect(await idsOf({ subscription: { ...subscription, departures: 0 } })).toContain(before)
})

test('messages of hidden topics are left out, and those of unknown topics are said to be unknown', async () => {
  const clicks = await dispatched({ topicArn: CLICKS })
  const orders = newId()
  await ended(orders)
  await ended(newId(), { subscriptionId: 'deleted' })
  const seen: (string | null)[] = []
  const isVisible = (arn: string | null) => {
    seen.push(arn)
    return arn === CLICKS
  }
  expect(await idsOf({ isVisible })).toEqual([clicks])
  expect(seen).toEqual([null, ORDERS, CLICKS])
  expect(await idsOf({ isVisible: (arn) => arn === ORDERS })).toEqual([orders])
})

test('one call looks up a bounded number of topics, and the next one goes on', async () => {
  const ids = Array.from({ length: 1_500 }, newId)
  const facts = { generation: 0, outcome: 'expired' as const, reason: 'expired', attempts: 1 }
  const end = { ...facts, statusCode: null, error: null }
  await log.append({
    dispatch: [],
    lanes: ids.map((messageId, n) => ({ messageId, subscriptionId: `many${n}`, ...end })),
  })
  const { nextCursor } = await find({ limit: 1, topicArn: CLICKS })
  expect([located.length, nextCursor]).toEqual([1_000, expect.any(String)])
  const pages = await findAll({ limit: 2_000, topicArn: ORDERS })
  expect(pages.flat().toSorted()).toEqual(ids)
})

test('one call reads a bounded part of the log, and says how far it looked', async () => {
  for (let n = 0; n < 300; n++) await dispatched({ delivered: Buffer.from([1]) })
  const { messages, nextCursor, scannedTo } = await find({ states: ['expired'] })
  expect([messages, nextCursor]).toEqual([[], expect.any(String)])
  expect(scannedTo).toBeLessThanOrEqual(Date.now())
  expect(await findAll({ states: ['expired'] })).toEqual([[], []])
})

test.each(['nonsense', Buffer.from('["a","b","c","d"]').toString('base64url')])(
  'the cursor %s is refused',
  async (cursor) => {
    await dispatched()
    await expect(find({ cursor })).rejects.toMatchObject({ code: 'validation_failed' })
  },
)
