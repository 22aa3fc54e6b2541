import { expect, test } from 'vitest'
import type { Found, State } from './state-file.ts'
import { impossible, planOf } from './state-plan.ts'
import { storedForm } from './stored-form.ts'

const found: Found = {
  version: 1,
  queues: [
    { name: 'jobs', settings: { retentionSeconds: 60, fifo: false } },
    { name: 'old', settings: {} },
  ],
  topics: [
    {
      name: 'orders',
      settings: { signing: 'none' },
      subscriptions: [
        { id: 's1', endpoint: 'http://a', name: null, settings: { filterPolicy: { a: ['b'] } } },
        { id: 's2', endpoint: 'http://b', name: 'b', settings: {} },
      ],
    },
  ],
}

const wanted: State = {
  version: 1,
  queues: [
    { name: 'jobs', settings: { retentionSeconds: 90 } },
    { name: 'more', settings: { delaySeconds: 1 } },
  ],
  topics: [
    {
      name: 'orders',
      settings: { signing: 'none' },
      subscriptions: [
        { endpoint: 'http://a', name: null, settings: { filterPolicy: { a: ['b'] } } },
        { endpoint: 'http://c', name: 'c', settings: {} },
      ],
    },
  ],
}

test('only differences are steps, queues before what leads to them', () => {
  expect(planOf(wanted, found, { prune: false })).toEqual([
    {
      act: 'change',
      kind: 'queue',
      name: 'jobs',
      settings: { retentionSeconds: 90 },
      before: { retentionSeconds: 60 },
    },
    { act: 'create', kind: 'queue', name: 'more', settings: { delaySeconds: 1 } },
    { act: 'create', kind: 'subscription', name: 'http://c', topic: 'orders', settings: { name: 'c' } },
  ])
  const { topics, ...rest } = structuredClone(found)
  expect(planOf({ ...rest, topics }, found, { prune: true })).toEqual([])
})

test('things that the file does not name are deleted only with prune, queues last', () => {
  const deleted = planOf(wanted, found, { prune: true }).filter(({ act }) => act === 'delete')
  expect(deleted.map(({ kind, name, id }) => [kind, name, id])).toEqual([
    ['subscription', 'http://b', 's2'],
    ['queue', 'old', undefined],
  ])
  const none = { version: 1, queues: [], topics: [] } as const satisfies State
  const all = planOf({ ...none, queues: [], topics: [] }, found, { prune: true })
  expect(all.map(({ kind, name }) => [kind, name])).toEqual([
    ['topic', 'orders'],
    ['queue', 'jobs'],
    ['queue', 'old'],
  ])
})

test('an endpoint with a password is the one that the server shows with asterisks', () => {
  const planned = (shown: string) => {
    const topic = { name: 'orders', settings: {} }
    const at = (endpoint: string) => ({ endpoint, name: null, settings: {} })
    const had = {
      version: 1 as const,
      queues: [],
      topics: [{ ...topic, subscriptions: [{ id: 's1', ...at(shown) }] }],
    }
    const wanted = { ...had, topics: [{ ...topic, subscriptions: [at('https://user:s3cret@b.example/')] }] }
    return planOf(wanted, had, { prune: true }).map(({ act }) => act)
  }
  expect(planned('https://user:****@b.example/')).toEqual([])
  expect(planned('https://other:****@b.example/')).toEqual(['create', 'delete'])
})

test('prune with a prefix deletes only what begins with it', () => {
  const none = { version: 1, queues: [], topics: [] } as const
  const deleted = (prune: string) =>
    planOf({ ...none, queues: [], topics: [] }, found, { prune }).map(({ name }) => name)
  expect([deleted('jo'), deleted('ord'), deleted('x')]).toEqual([['jobs'], ['orders'], []])
})

test('a setting that cannot be changed is named before anything is done', () => {
  const fifo: State = { version: 1, topics: [], queues: [{ name: 'jobs', settings: { fifo: true } }] }
  expect(impossible(planOf(fifo, found, { prune: false }))).toEqual(['fifo of queue jobs cannot be changed'])
})

test('a catalogue is compared type by type, and pruned only if the file has one', () => {
  const type = (name: string, deprecated: boolean) => ({ name, settings: { deprecated } })
  const topic = { name: 'orders', settings: {}, subscriptions: [] }
  const had = {
    version: 1 as const,
    queues: [],
    topics: [{ ...topic, eventTypes: [type('a', false), type('b', false)] }],
  }
  const planned = (eventTypes?: ReturnType<typeof type>[]) =>
    planOf({ ...had, topics: [{ ...topic, ...(eventTypes && { eventTypes }) }] }, had, { prune: true })
  expect(planned([type('a', true), type('c', false)])).toMatchObject([
    { act: 'change', kind: 'eventType', name: 'a', topic: 'orders', before: { deprecated: false } },
    { act: 'create', kind: 'eventType', name: 'c', topic: 'orders' },
    { act: 'delete', kind: 'eventType', name: 'b', topic: 'orders' },
  ])
  expect(planned()).toEqual([])
})

test('a file that names topics by the server’s own ARNs changes and prunes nothing', () => {
  const server = { partition: 'aws', region: 'eu-west-1', account: '123456789012' }
  const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:123456789012:${name}`
  const { topics, queues, ...rest } = structuredClone(found)
  const byArn = {
    ...rest,
    queues: queues.map((queue) => ({ ...queue, name: arn('sqs', queue.name) })),
    topics: topics.map((topic) => ({ ...topic, name: arn('sns', topic.name) })),
  }
  expect(planOf(storedForm(byArn, server), found, { prune: true })).toEqual([])
  expect(
    planOf(storedForm(byArn, { ...server, account: '000000000000' }), found, { prune: false }),
  ).toHaveLength(5)
  const twice = { ...byArn, queues: [...byArn.queues, ...queues] }
  expect(() => storedForm(twice, server)).toThrow('the file names jobs twice')
})
