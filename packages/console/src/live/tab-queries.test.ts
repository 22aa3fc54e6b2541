import type { DeliveryEvent } from '@fantail/client/api'
import { expect, test } from 'vitest'
import { commonQuery, isWanted, type TailQuery } from './tab-queries.ts'

const locksOf = (...queries: TailQuery[]) => {
  const held = queries.map((query, tab) => ({ name: `fantail tail ${JSON.stringify({ query, tab })}` }))
  return { query: async () => ({ held: [...held, { name: 'fantail events' }] }) } as unknown as LockManager
}

test.each<[TailQuery[], TailQuery]>([
  [[{ topic: 'orders' }], { topic: 'orders' }],
  [[{ topic: 'orders', type: 'attempt' }, { topic: 'orders' }], { topic: 'orders' }],
  [[{ topic: 'orders' }, { topic: 'clicks' }], {}],
  [
    [
      { statusCode: '5xx', type: 'attempt' },
      { type: 'attempt', statusCode: '5xx' },
    ],
    { statusCode: '5xx', type: 'attempt' },
  ],
  [[{}, { topic: 'orders' }], {}],
])('tabs with %j share the stream of %j', async (queries, common) => {
  const [own = {}] = queries
  expect(await commonQuery(locksOf(...queries), own)).toEqual(common)
})

const EVENT = {
  type: 'attempt',
  at: '2026-11-21T09:30:00.000Z',
  topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
  subscriptionId: '5f0c',
  statusCode: 503,
} as DeliveryEvent

test.each<[TailQuery, Partial<DeliveryEvent>, boolean]>([
  [{}, {}, true],
  [{ topic: 'orders' }, {}, true],
  [{ topic: 'arn:aws:sns:us-east-1:000000000000:orders' }, {}, true],
  [{ topic: 'clicks' }, {}, false],
  [{ topic: 'orders' }, { topicArn: null }, false],
  [{ subscription: 'arn:aws:sns:us-east-1:000000000000:orders:5f0c' }, {}, true],
  [{ subscription: '5f0d' }, {}, false],
  [{ type: 'delivered' }, {}, false],
  [{ statusCode: '404,5xx' }, {}, true],
  [{ statusCode: '404' }, {}, false],
  [{ statusCode: 'none' }, { statusCode: null }, true],
  [{ statusCode: 'none' }, { statusCode: undefined }, false],
])('a tab with %j takes an event with %j: %s', (query, set, isTaken) => {
  expect(isWanted(query, { ...EVENT, ...set } as DeliveryEvent)).toBe(isTaken)
})
