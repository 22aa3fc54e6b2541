/**
 * Texts of the outcome log. Reading returns what was written, and texts are small.
 */
import { expect, test } from 'vitest'
import { BitHolders } from '../slices/former-subscriptions.ts'
import { bitFacts } from './bit-facts.ts'
import type { DispatchEntry } from './dispatch-entry.ts'
import { dispatchText, type Found, type LaneEntry, laneText, readEntry } from './outcome-entries.ts'
import type { Subscriber } from './outcome-subscribers.ts'

const ID = '019320aa-0000-7000-8000-000000000000'
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
const NOTHING = Buffer.alloc(0)

const dispatch: DispatchEntry = {
  messageId: ID,
  topicArn: TOPIC,
  sizeBytes: 12,
  slice: { sliceId: 'uid.0', shard: 7 },
  delivered: Buffer.from([0b111]),
  otherCodes: [],
  parked: NOTHING,
  filtered: NOTHING,
  failures: [],
}

const lane: LaneEntry = {
  messageId: ID,
  subscriptionId: 'sub',
  generation: 0,
  outcome: 'delivered',
  reason: null,
  attempts: 2,
  statusCode: 200,
  error: null,
}

function read(...texts: string[]): Found {
  const found: Found = { dispatch: [], lanes: [] }
  for (const text of texts) readEntry({ messageId: ID, text }, found)
  return found
}

const factsIn = (...texts: string[]) => bitFacts(read(...texts).dispatch, () => undefined)
const codesIn = (...texts: string[]) => factsIn(...texts).map(({ statusCode }) => statusCode)

test('a first attempt that was answered 200 costs nothing, another status a few characters', () => {
  const plain = dispatchText(dispatch)
  expect(plain).toBe(`["d","${TOPIC}",12,"7:uid.0","Bw==","",""]`)
  expect(codesIn(plain)).toEqual([200, 200, 200])
  const all = dispatchText({ ...dispatch, otherCodes: [[204, dispatch.delivered]] })
  expect(all.length - plain.length).toBe(',[],[[204]]'.length)
  expect(codesIn(all)).toEqual([204, 204, 204])
  const one = dispatchText({ ...dispatch, otherCodes: [[202, Buffer.from([0b10])]] })
  expect(codesIn(one)).toEqual([200, 202, 200])
})

test('a delivered one keeps its cause in a few characters, and one without a cause has none', () => {
  const why = { cause: 'retryAfter', delayMs: 7_000 } as const
  expect(laneText({ ...lane, why }).length - laneText(lane).length).toBe(',"r5eg"'.length)
  expect(read(laneText({ ...lane, why })).lanes).toEqual([{ ...lane, why }])
  expect(read(laneText(lane)).lanes).toEqual([lane])
  expect(read('["l","sub","delivered",0,2,200,null,null,"z1"]').lanes).toEqual([lane])
})

test('those parked in a pause are kept behind all else, and merged over the starts of a job', () => {
  const parked = { ...dispatch, delivered: NOTHING, parked: Buffer.from([0b11]) }
  const texts = [0b1, 0b10].map((bit) => dispatchText({ ...parked, paused: Buffer.from([bit]) }))
  expect(texts[0]).toBe(`["d","${TOPIC}",12,"7:uid.0","","Aw==","",[],[],"AQ=="]`)
  expect(factsIn(...texts, dispatchText(parked)).map(({ wasPaused }) => wasPaused)).toEqual([true, true])
  const third = dispatchText({ ...parked, parked: Buffer.from([0b100]) })
  expect(factsIn(third).map(({ wasPaused }) => wasPaused)).toEqual([false])
})

test('the departures of a slice cost a few characters, and nothing if there was none', () => {
  const slice = { sliceId: 'uid.0', shard: 7, departures: 300 }
  const text = dispatchText({ ...dispatch, slice })
  expect(text.length - dispatchText(dispatch).length).toBe(':300'.length)
  expect(read(text).dispatch).toMatchObject([{ slice }])
})

test('a bit has another subscription in a later start, and the facts of each are its own', () => {
  const [alice, bob, carol] = ['alice', 'bob', 'carol'].map((id, n) => {
    const place = { bit: n === 1 ? 1 : 0, departures: n === 2 ? 1 : 0 }
    return { id, ...place, name: null, endpoint: null, attemptsMax: null, probeSeconds: 0 }
  }) as [Subscriber, Subscriber, Subscriber]
  const holders = new BitHolders([alice, bob, carol])
  const none = { ...dispatch, delivered: NOTHING }
  const failures: DispatchEntry['failures'] = [[0, 503, null]]
  const later = { sliceId: 'uid.0', shard: 7, departures: 1 }
  const entries = [
    { ...none, parked: Buffer.from([0b01]), filtered: Buffer.from([0b10]), failures },
    { ...none, slice: later, delivered: Buffer.from([0b01]), parked: Buffer.from([0b10]) },
  ]
  const facts = bitFacts(entries, (bit, { slice }) => holders.at(bit, slice?.departures))
  const shown = facts.map(({ subscriber, state, failure }) => [subscriber?.id, state, failure?.statusCode])
  expect(shown).toEqual([
    ['carol', 'delivered', undefined],
    ['alice', 'parked', 503],
    ['bob', 'parked', undefined],
  ])
})
