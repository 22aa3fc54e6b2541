/** The combined filters of a topic match like each slice by itself, after any additions and removals. */
import { createMessageId, type Message, type Protocol, type SubscriptionRecord } from '@fantail/contracts'
import { inOneGo, MatchWork, TooMuchWork } from '@fantail/policy'
import type { SliceRef } from '@fantail/store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MessageContext } from '../messages/message-context.ts'
import type { TopicSnapshot } from './compiled-slice.ts'
import { FilterCache } from './filter-cache.ts'
import { type FilterReasons, SliceFilters } from './slice-filters.ts'
import { TopicFilters } from './topic-filters.ts'

const refOf = (sliceNumber: number): SliceRef => ({ sliceId: `uid.${sliceNumber}`, shard: 0 })

function snapshotOf(slices: number, since: number): TopicSnapshot {
  const topic = { arn: 'arn', uid: 'uid' } as TopicSnapshot['topic']
  const refs = Array.from({ length: slices }, (_, n) => refOf(n))
  return { topic, revision: String(since), slices: refs, subscriptions: 0, since, hasFilters: true }
}

interface Wanted {
  /** undefined: no filter. */
  values: unknown[] | undefined
  scope: SubscriptionRecord['filterPolicyScope']
  protocol: Protocol
}

let revisions = 0

function filtersOf(sliceNumber: number, wanted: Wanted[]): SliceFilters | null {
  const records = wanted.map(({ values, scope, protocol }, bit) => {
    const filter = values && { filterPolicy: { key: values }, filterPolicyScope: scope }
    return { id: `${sliceNumber}-${bit}`, bit, protocol, ...filter } as SubscriptionRecord
  })
  const slice = { ...refOf(sliceNumber), revision: String(revisions++) }
  return SliceFilters.of(slice, records, (_id, error) => expect.fail(String(error)))
}

const words = ['a', 'b', 'c', 'abc']
const values = fc.array(
  fc.oneof(
    fc.constantFrom<unknown>(...words),
    fc.constantFrom({ prefix: 'a' }, { exists: false }, { numeric: ['>', 1] }, { 'anything-but': 'a' }),
  ),
  { minLength: 1, maxLength: 2 },
)
const wanted: fc.Arbitrary<Wanted> = fc.record({
  values: fc.option(values, { nil: undefined, freq: 8 }),
  scope: fc.constantFrom('MessageAttributes', 'MessageBody'),
  protocol: fc.constantFrom('http', 'sqs'),
})
const slice = fc.array(wanted, { minLength: 1, maxLength: 4 })
const attribute = fc.oneof(
  fc.constantFrom(...words).map((value) => ({ type: 'String', value })),
  fc.constantFrom({ type: 'Number', value: '2' }, { type: 'String.Array', value: 'unreadable' }),
)
const message: fc.Arbitrary<Message> = fc
  .tuple(fc.constantFrom('text', '{"key":"a"}', '{"key":2}', '{}'), fc.option(attribute, { nil: undefined }))
  .map(([text, key]) => ({
    messageId: createMessageId(1),
    topicArn: 'arn',
    publishedAt: 1,
    message: text,
    ...(key && { attributes: { key } }),
  }))

function expectSame(known: Map<number, SliceFilters>, slices: number, given: Message): void {
  const topic = new TopicFilters()
  // Some filters are removed again, and some are replaced.
  for (const [n, filters] of known) topic.set((n + 1) % slices, { ref: refOf(n), filters, checkedAt: 0 })
  for (let n = 0; n < slices; n++) topic.delete(n)
  for (const [n, filters] of known) topic.set(n, { ref: refOf(n), filters, checkedAt: 0 })
  const context = new MessageContext(given)
  const snapshot = snapshotOf(slices, 0)
  const inSteps = topic.matchInSteps(snapshot, context)
  const { toOpen, rejectedSlices } = topic.match(snapshot, context)
  const { value } = inOneGo(inSteps)
  const bySlice = (match: typeof value.toOpen) =>
    match.toSorted((a, b) => (a.ref.sliceId < b.ref.sliceId ? -1 : 1))
  expect([bySlice(value.toOpen), value.rejectedSlices]).toEqual([bySlice(toOpen), rejectedSlices])
  const opened = new Map(toOpen.map(({ ref, found }) => [ref.sliceId, found?.bits.toSorted()]))
  const expected = new Map<string, number[] | undefined>()
  const reasons: FilterReasons = new Map()
  for (let n = 0; n < slices; n++) {
    const filters = known.get(n)
    const bits = filters?.match(context).toSorted()
    if (!filters?.isWhole || (bits && bits.length > 0)) expected.set(`uid.${n}`, bits)
    else filters.countReasons(context, [], reasons)
  }
  expect(opened).toEqual(expected)
  expect(toOpen).toHaveLength(expected.size)
  expect(rejectedSlices?.reasons ?? new Map()).toEqual(reasons)
  const told = (rejectedSlices?.runs ?? []).flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i),
  )
  const rejected = told.filter((n) => !rejectedSlices?.except.includes(n))
  expect(rejected).toEqual([...known.keys()].filter((n) => !expected.has(`uid.${n}`)))
}

test('slices are opened and rejected as each by itself says', () => {
  const property = fc.property(fc.array(fc.option(slice), { maxLength: 6 }), message, (given, published) => {
    const known = new Map<number, SliceFilters>()
    for (const [n, subscriptions] of given.entries()) {
      const filters = subscriptions && filtersOf(n, subscriptions)
      if (filters) known.set(n, filters)
    }
    expectSame(known, given.length, published)
  })
  fc.assert(property, { numRuns: 1_000 })
})

const red: Wanted = { values: ['red'], scope: 'MessageAttributes', protocol: 'http' }
const known = (sliceNumber: number) => filtersOf(sliceNumber, [red]) as SliceFilters

/** A cache that reads the revisions of slices from `now`. */
function createCache(now: Map<string, string>) {
  const asked: string[] = []
  const cache = new FilterCache(async ({ sliceId }) => {
    asked.push(sliceId)
    return now.get(sliceId) ?? null
  })
  return { cache, asked }
}

test('a later snapshot has the filters whose slices are still the same, and no others', async () => {
  const filters = [known(0), known(1), known(2)] as const
  const { cache, asked } = createCache(
    new Map([
      ['uid.0', filters[0].revision],
      ['uid.1', 'another'],
    ]),
  )
  const [first, second] = [snapshotOf(3, 10), snapshotOf(3, 20)]
  for (const [n, each] of filters.entries()) cache.keep(refOf(n), each, 11)
  await cache.check(first)
  expect([...(cache.of(first)?.known ?? [])]).toHaveLength(3)
  expect([cache.of(second), asked]).toEqual([undefined, []])
  await Promise.all([cache.check(second), cache.check(second)])
  expect([...(cache.of(second)?.known ?? [])].map(({ ref }) => ref.sliceId)).toEqual(['uid.0'])
  expect(asked).toEqual(['uid.0', 'uid.1', 'uid.2'])
})

test('filters that were checked before the snapshot they would come to are not taken', async () => {
  const { cache } = createCache(new Map())
  const snapshot = snapshotOf(2, 20)
  await cache.check(snapshot)
  cache.keep(refOf(0), known(0), 19)
  cache.keep(refOf(1), known(1), 20)
  expect([...(cache.of(snapshot)?.known ?? [])].map(({ ref }) => ref.sliceId)).toEqual(['uid.1'])
})

test('a check that fails is made again', async () => {
  const filters = known(0)
  let isAway = true
  const cache = new FilterCache(async () => {
    if (isAway) throw new Error('away')
    return filters.revision
  })
  const snapshot = snapshotOf(1, 20)
  cache.keep(refOf(0), filters, 10)
  await expect(cache.check(snapshot)).rejects.toThrow('away')
  expect(cache.of(snapshot)).toBeUndefined()
  isAway = false
  await cache.check(snapshot)
  expect([...(cache.of(snapshot)?.known ?? [])]).toHaveLength(1)
})

test('reasons that each filter has for itself are counted slice by slice', () => {
  const [slices, size] = [20, 100]
  const topic = new TopicFilters()
  for (let n = 0; n < slices; n++) {
    const wanted = Array.from({ length: size }, (_, i) => ({ ...red, values: [`red-${n}-${i}`] }))
    topic.set(n, { ref: refOf(n), filters: filtersOf(n, wanted) as SliceFilters, checkedAt: 0 })
  }
  const unreadable = { key: { type: 'String.Array', value: 'no list' } }
  const given = { messageId: createMessageId(1), topicArn: 'arn', publishedAt: 1, message: 'x' }
  const context = new MessageContext({ ...given, attributes: unreadable })
  const snapshot = snapshotOf(slices, 0)
  const steps: number[] = []
  const matching = topic.matchInSteps(snapshot, context)
  let next = matching.next()
  for (; !next.done; next = matching.next()) steps.push(next.value)
  expect([...(next.value.rejectedSlices?.reasons ?? [])]).toEqual([['InvalidAttributes', slices * size]])
  expect(steps.filter((each) => each === size)).toHaveLength(slices)
  expect(() => topic.match(snapshot, context, new MatchWork(slices * size))).not.toThrow()
  expect(() => topic.match(snapshot, context, new MatchWork(slices * size - 1))).toThrow(TooMuchWork)
})
