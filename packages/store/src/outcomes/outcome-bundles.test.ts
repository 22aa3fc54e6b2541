/**
 * Bundles of the outcome log. Reading returns what was written, no bundle is too large, and the log's entries are
 * bounded.
 */
import { createMessageId, parseMessageId } from '@fantail/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { outcomeLogKey } from '../keys/keys.ts'
import { useLanes } from '../lanes/lanes.fixture.ts'
import type { DispatchEntry } from './dispatch-entry.ts'
import { bundlesOf, pack, textsIn } from './outcome-bundles.ts'
import { OutcomeLog } from './outcome-log.ts'

const { redis, lanes } = await useLanes({ retentionSeconds: 60 })
const ids = Array.from({ length: 4 }, (_, i) => createMessageId(1_700_000_000_000 + i))
const idOf = (messageId = '') => parseMessageId(messageId) ?? Buffer.alloc(0)

test('every message finds its texts again, in their order', () => {
  const entry = fc.record({
    message: fc.integer({ min: 0, max: ids.length - 1 }),
    text: fc.string({ unit: 'grapheme', maxLength: 3_000 }),
  })
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 30 }), (entries) => {
      const streams: Buffer[][] = [[]]
      for (const { message, text } of entries) pack(streams, text, ids[message] ?? '')
      const bundles = bundlesOf(streams[0] ?? [])
      expect(bundles.reduce((sum, bundle) => sum + bundle.entries, 0)).toBe(entries.length)
      for (const of of bundles) expect(of.entries === 1 || of.bundle.length <= 4_096).toBe(true)
      for (const [message, id] of ids.entries()) {
        const told = entries.filter((of) => of.message === message).map(({ text }) => text)
        expect(bundles.flatMap(({ bundle }) => textsIn(bundle, idOf(id)))).toEqual(told)
      }
    }),
  )
})

test('an id that only stands in the text of another entry finds nothing', () => {
  const streams: Buffer[][] = [[]]
  const text = 'abcdefghijklmnop'
  pack(streams, text, ids[0] ?? '')
  const [first] = bundlesOf(streams[0] ?? [])
  expect(first && textsIn(first.bundle, Buffer.from(text))).toEqual([])
})

const entryOf = (messageId: string): DispatchEntry => ({
  messageId,
  topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
  sizeBytes: 1,
  slice: null,
  delivered: Buffer.alloc(0),
  parked: Buffer.alloc(0),
  filtered: Buffer.alloc(0),
  otherCodes: [],
  failures: [],
})

/** How many entries all bundles of the stream have. */
async function entryCount(): Promise<number> {
  const [first] = await redis.xrangeBuffer(outcomeLogKey(0), '-', '+', 'COUNT', 1)
  const [last] = await redis.xrevrange(outcomeLogKey(0), '+', '-', 'COUNT', 1)
  const ofFirst = countIn(first?.[1][3] as Buffer)
  return Number(last?.[1][1]) - Number(String(first?.[1][1])) + ofFirst
}

function countIn(bundle: Buffer): number {
  let count = 0
  for (let at = 0; at < bundle.length; at += 20 + bundle.readUInt32BE(at)) count++
  return count
}

test('the log keeps about so many entries, whether they came singly or many at once', async () => {
  const entriesMax = 2_000
  const log = new OutcomeLog(redis, { slice: async () => null, former: async () => [] }, lanes, {
    queues: 1,
    entriesMax,
  })
  const report = (count: number) =>
    log.append({
      dispatch: Array.from({ length: count }, () => entryOf(createMessageId(Date.now()))),
      lanes: [],
    })
  const sizes: number[] = []
  for (const [trips, entries] of [
    [3_000, 1],
    [30, 400],
    [1_000, 1],
  ] as const) {
    for (let trip = 0; trip < trips; trip++) await report(entries)
    sizes.push(await entryCount())
  }
  for (const size of sizes) {
    expect(size).toBeGreaterThanOrEqual(entriesMax)
    // The bound, a node of the stream, and the entries that come between two checks.
    expect(size).toBeLessThanOrEqual(entriesMax * 1.2)
  }
})
