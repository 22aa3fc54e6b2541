import { expect, test } from 'vitest'
import { type Arrival, arrivalOf, compareArrivals, isEqual } from './compare-arrivals.ts'

const PUBLISHED_AT = Date.UTC(2026, 10, 22)
const envelope = (set: object = {}) =>
  JSON.stringify({
    Type: 'Notification',
    MessageId: 'a',
    Message: 'hello',
    Timestamp: new Date(PUBLISHED_AT).toISOString(),
    Signature: 'x',
    ...set,
  })
const arrivals = (...all: (Arrival | undefined)[]) =>
  new Map(all.flatMap((one) => (one ? [[one.messageId, one] as const] : [])))
const received = (body: string, headers?: Record<string, unknown>) =>
  arrivalOf({ body, at: PUBLISHED_AT + 20, ...(headers && { headers }) })
const compare = (aws: Map<string, Arrival>, fantail: Map<string, Arrival>) =>
  compareArrivals(aws, fantail, PUBLISHED_AT - 1, PUBLISHED_AT + 1)

test('signatures, times and links of the two sides may differ, and nothing else', () => {
  const aws = arrivals(received(envelope()))
  const same = compare(aws, arrivals(received(envelope({ Signature: 'y', SigningCertURL: 'z' }))))
  expect(same).toEqual({
    same: 1,
    onlyAws: [],
    onlyFantail: [],
    differ: {},
    delayMs: { aws: 20, fantail: 20 },
  })
  const [one, turned] = [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ].map((MessageAttributes) => arrivals(received(envelope({ MessageAttributes })))) as [
    Map<string, Arrival>,
    Map<string, Arrival>,
  ]
  expect(isEqual(compare(one, turned))).toBe(true)
  const other = compare(aws, arrivals(received(envelope({ Message: 'hallo', Subject: 'Hi' }))))
  expect([other.differ, isEqual(other)]).toEqual([{ Message: 1, Subject: 1 }, false])
})

test('raw requests are compared by the id in their header, with their headers', () => {
  const raw = (type: string) =>
    received('hello', { 'x-amz-sns-message-id': 'a', 'content-type': type, host: type })
  const { differ } = compare(arrivals(raw('text/plain')), arrivals(raw('application/json')))
  expect(differ).toEqual({ 'header content-type': 1 })
  expect(received('hello')).toBeUndefined()
})

test('a message that one side lacks counts if it was published between the two times', () => {
  const early = new Date(PUBLISHED_AT - 5_000).toISOString()
  const aws = arrivals(received(envelope()), received(envelope({ MessageId: 'early', Timestamp: early })))
  const found = compare(aws, arrivals(received(envelope({ MessageId: 'b' }))))
  expect([found.onlyAws, found.onlyFantail]).toEqual([['a'], ['b']])
})

test('a copy of a message from before the comparison is not missing at AWS', () => {
  const at = (ms: number) => ({ Timestamp: new Date(PUBLISHED_AT + ms).toISOString() })
  const aws = arrivals(received(envelope({ MessageId: 'late', ...at(0) })))
  const copies = ['early', 'late'].map((MessageId, i) => received(envelope({ MessageId, ...at(10 * i + 5) })))
  const lost = received(envelope({ MessageId: 'lost', ...at(90) }))
  const found = compareArrivals(aws, arrivals(...copies, lost), PUBLISHED_AT, PUBLISHED_AT + 100)
  expect(found.onlyFantail).toEqual(['lost'])
})
