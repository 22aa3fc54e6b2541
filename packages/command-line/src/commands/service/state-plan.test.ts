import { expect, test } from 'vitest'
import type { Found, State } from './state-file.ts'
import { impossible, planOf } from './state-plan.ts'
import { isStored, storedForm } from './stored-form.ts'

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

test('a setting that every object inherits had no value before', () => {
  const settings = { constructor: 'x', toString: 'x', other: 'x' }
  const [step] = planOf({ ...wanted, queues: [{ name: 'old', settings }] }, found, { prune: false })
  expect(step).toMatchObject({ name: 'old', before: { constructor: null, toString: null, other: null } })
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

const server = { partition: 'aws', region: 'eu-west-1', account: '123456789012' }

test('a setting that null resets is no difference while the server shows the default', () => {
  const given = (settings: object, ofSubscription: object): State => ({
    version: 1,
    queues: [],
    topics: [
      {
        name: 'orders',
        settings: { ...settings },
        subscriptions: [{ endpoint: 'http://a', name: null, settings: { ...ofSubscription } }],
      },
    ],
  })
  const shown = (settings: object, ofSubscription: object): Found => {
    const { topics, ...rest } = given(settings, { protocol: 'http', origin: 'native', ...ofSubscription })
    const withId = ({ subscriptions, ...topic }: State['topics'][number]) => ({
      ...topic,
      subscriptions: subscriptions.map((one) => ({ ...one, id: 's1' })),
    })
    return { ...rest, topics: topics.map(withId) }
  }
  const file = given(
    { displayName: null, recordAttempts: null, archive: null, fifo: null },
    { metadata: null, onGone: null, maxInFlight: null },
  )
  const planned = (present: Found) =>
    planOf(storedForm(file, server), present, { prune: true, isStored }).map(({ settings }) => settings)
  const defaults = { displayName: '', recordAttempts: 'failures', archive: null, fifo: false }
  expect(planned(shown(defaults, { metadata: {}, onGone: 'pause', maxInFlight: 32 }))).toEqual([])
  const others = { metadata: { a: 'b' }, onGone: 'deadLetter', maxInFlight: 8 }
  expect(planned(shown({ ...defaults, displayName: 'x', recordAttempts: 'all' }, others))).toEqual([
    { displayName: null, recordAttempts: null },
    { metadata: null, onGone: null, maxInFlight: null },
  ])
})

test('a queue that a subscription makes belongs to the file', () => {
  const redrivePolicy = { deadLetterTargetArn: 'dead', createQueue: true }
  const subscription = { endpoint: 'http://a', name: null, settings: { redrivePolicy } }
  const topics = [{ name: 'orders', settings: {}, subscriptions: [subscription] }]
  const wanted = storedForm({ version: 1, queues: [], topics }, server)
  const empty: Found = { version: 1, queues: [], topics: [] }
  const steps = planOf(wanted, empty, { prune: true, isStored })
  expect(steps.map(({ act, kind, name }) => [act, kind, name])).toEqual([
    ['create', 'queue', 'dead'],
    ['create', 'topic', 'orders'],
    ['create', 'subscription', 'http://a'],
  ])
  const stored = { redrivePolicy: { deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:123456789012:dead' } }
  expect(steps[2]?.settings).toEqual(stored)
  const present: Found = {
    version: 1,
    queues: [{ name: 'dead', settings: {} }],
    topics: [
      { name: 'orders', settings: {}, subscriptions: [{ ...subscription, id: 's1', settings: stored }] },
    ],
  }
  expect(planOf(wanted, present, { prune: true, isStored })).toEqual([])
})

test('a file that names topics by the server’s own ARNs changes and prunes nothing', () => {
  const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:123456789012:${name}`
  const { topics, queues, ...rest } = structuredClone(found)
  const byArn = {
    ...rest,
    queues: queues.map((queue) => ({ ...queue, name: arn('sqs', queue.name) })),
    topics: topics.map(({ subscriptions, ...topic }) => ({
      ...topic,
      name: arn('sns', topic.name),
      subscriptions: subscriptions.map(({ id: _, ...subscription }) => subscription),
    })),
  }
  expect(planOf(storedForm(byArn, server), found, { prune: true })).toEqual([])
  expect(
    planOf(storedForm(byArn, { ...server, account: '000000000000' }), found, { prune: false }),
  ).toHaveLength(5)
  const twice = { ...byArn, queues: [...byArn.queues, ...queues] }
  expect(() => storedForm(twice, server)).toThrow('the file names jobs twice')
})
