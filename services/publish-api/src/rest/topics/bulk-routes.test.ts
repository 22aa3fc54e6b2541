import { createMessageId, type DeadLetter, FantailError } from '@fantail/contracts'
import { Archives, deliveryId, placeOfSubscription, shardBase, shardOf } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const MESSAGE = '01a1fbe2-80fa-72ab-bc08-d682f311b524'
let api: TestApi
let admin: TestKey
const ids: Record<string, string> = {}

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'redrive'])
  for (const topic of ['acme-orders', 'other-orders']) await admin.call('PUT', `/v1/topics/${topic}`)
  await subscribe('one', 'https://crm.example.com/1')
  await subscribe('two', 'https://crm.example.com/2', { metadata: { customer: 'acme' } })
  await subscribe('paused', 'https://crm.example.com/3')
  await subscribe('pending', 'https://crm.example.com/4', { confirmation: 'handshake' })
  await subscribe('elsewhere', 'https://erp.example.com/', {}, 'other-orders')
  await admin.call('POST', `/v1/subscriptions/${ids.paused}/pause`)
  for (const name of ['one', 'two', 'elsewhere']) await park(name)
})
afterAll(() => api.stop())

async function subscribe(name: string, endpoint: string, set: object = {}, topic = 'acme-orders') {
  const body = { endpoint, name, ...set }
  ids[name] = (await admin.call('POST', `/v1/topics/${topic}/subscriptions`, { body })).body.id
}

async function park(name: string, redis = api.lanes) {
  const subscriptionId = ids[name] ?? ''
  const { shard } = placeOfSubscription(subscriptionId) ?? { shard: -1 }
  const id = deliveryId(MESSAGE)
  const entry = { subscriptionId, delivery: id, message: 0, park: { as: 'fresh' as const } }
  await redis.park(shard, {
    messages: [{ id, body: '{}' }],
    jobs: [{ jobName: '', fence: 0, fields: [], entries: [entry] }],
  })
}

const plan = (action: string, select: object, key = admin, more: object = {}) =>
  key.call('POST', '/v1/bulk-plans', { body: { action, select, ...more } })

async function ended(id: string, key = admin) {
  const task = await waitFor(
    async () => {
      const { body } = await key.call('GET', `/v1/bulk/${id}`)
      return body.endedAt === null ? undefined : body
    },
    { what: 'the end of the bulk task' },
  )
  return task
}

async function carryOut(action: string, select: object, key = admin) {
  const { id } = (await plan(action, select, key)).body
  expect(await key.status('POST', '/v1/bulk', { plan: id })).toBe(202)
  return ended(id, key)
}

const statusOf = async (name: string) =>
  (await admin.call('GET', `/v1/subscriptions/${ids[name]}`)).body.status
const statuses = async () => Promise.all(['one', 'two', 'paused', 'elsewhere'].map(statusOf))

test('a plan says in words what it would act on and what it leaves out, and changes nothing', async () => {
  const { status, body } = await plan('pause', { hosts: ['crm.example.com'] })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    status: 'planned',
    words: 'pause 3 lanes, 2 deliveries',
    counts: { lanes: 3, deliveries: 2 },
    total: 3,
    refused: { count: 1, first: [{ object: ids.pending, code: 'wrong_state' }] },
  })
  expect(body.sample).toContain('https://crm.example.com/1')
  for (const [host, lanes] of [
    ['CRM.example.com', 3],
    ['crm.example.com:443', 3],
    ['crm.example.com:8443', 0],
    ['example.com', 0],
  ] as const)
    expect((await plan('pause', { hosts: [host] })).body.counts.lanes, host).toBe(lanes)
  expect(await statuses()).toEqual(['active', 'active', 'paused', 'active'])
})

test('a pause of a host is undone without resuming what was paused before', async () => {
  const paused = await carryOut('pause', { hosts: ['crm.example.com'] })
  expect(paused).toMatchObject({ status: 'completed', done: 3, failed: 0, canUndo: true })
  expect(paused.results).toEqual({ paused: 2, unchanged: 1 })
  expect(await statuses()).toEqual(['paused', 'paused', 'paused', 'active'])
  const { status, body: undo } = await admin.call('POST', `/v1/bulk/${paused.id}/undo`)
  expect([status, undo.undoes]).toEqual([202, paused.id])
  expect((await ended(undo.id)).results).toEqual({ resumed: 2 })
  expect(await statuses()).toEqual(['active', 'active', 'paused', 'active'])
  expect(await admin.status('POST', `/v1/bulk/${paused.id}/undo`)).toBe(409)
  expect((await admin.call('GET', `/v1/bulk/${paused.id}`)).body).toMatchObject({
    undoneBy: undo.id,
    canUndo: false,
  })
})

test('a run that died in a batch has its pause undone exactly, whatever it had paused', async () => {
  const { id } = (await plan('pause', { hosts: ['crm.example.com'] })).body
  await api.deps.bulk.start(id)
  const claim = await api.deps.bulk.claim()
  if (!claim) throw new Error('nothing to claim')
  const before = { [ids.one ?? '']: 'active', [ids.two ?? '']: 'active', [ids.paused ?? '']: 'paused' }
  await api.deps.bulk.open(claim, before)
  await admin.call('POST', `/v1/subscriptions/${ids.one}/pause`)
  // The process is killed here. Its lease ends, and the next process repeats the batch.
  await api.redis.zadd('ft:{bulk}:running', 0, id)
  api.deps.bulkRunner.wake()
  expect((await ended(id)).results).toEqual({ paused: 2, unchanged: 1 })
  expect(await api.deps.bulk.settle(claim, [ids.one ?? ''], [{ changed: true }])).toBeNull()
  const undo = (await admin.call('POST', `/v1/bulk/${id}/undo`)).body
  await ended(undo.id)
  expect(await statuses()).toEqual(['active', 'active', 'paused', 'active'])
})

test('a canceled task finishes the batch in which a run died, so that an undo knows all it has changed', async () => {
  const { id } = (await plan('pause', { hosts: ['crm.example.com'] })).body
  await api.deps.bulk.start(id)
  const claim = await api.deps.bulk.claim()
  if (!claim) throw new Error('nothing to claim')
  const before = { [ids.one ?? '']: 'active', [ids.two ?? '']: 'active', [ids.paused ?? '']: 'paused' }
  await api.deps.bulk.open(claim, before)
  for (const name of ['one', 'two']) await admin.call('POST', `/v1/subscriptions/${ids[name]}/pause`)
  expect((await admin.call('POST', `/v1/bulk/${id}/cancel`)).body.status).toBe('canceling')
  await api.redis.zadd('ft:{bulk}:running', 0, id)
  api.deps.bulkRunner.wake()
  expect(await ended(id)).toMatchObject({ status: 'canceled', results: { paused: 2, unchanged: 1 } })
  await ended((await admin.call('POST', `/v1/bulk/${id}/undo`)).body.id)
  expect(await statuses()).toEqual(['active', 'active', 'paused', 'active'])
})

test('a redrive moves the letters of a queue part after part, and a cancel starts no further part', async () => {
  const queueArn = (await admin.call('PUT', '/v1/queues/parts')).body.arn
  const parts = ['a', 'b', 'c'].map((name) => JSON.stringify({ queueArn, subscriptions: [name] }))
  const facts = await api.deps.bulk.get((await plan('redrive', { topic: 'acme-orders' })).body.id)
  if (!facts) throw new Error('no plan')
  const { id } = await api.deps.bulk.plan({ ...facts, objects: parts })
  await api.deps.bulk.start(id)
  api.deps.bulkRunner.wake()
  const begun = (name: string) =>
    waitFor(
      async () => {
        const { items } = await api.deps.redrives.list({ source: queueArn, status: 'running', limit: 1 })
        return items.find(({ filter }) => filter?.subscriptions?.includes(name))
      },
      { what: `the redrive of part ${name}` },
    )
  await api.deps.redrives.cancel((await begun('a')).id)
  const second = await begun('b')
  await admin.call('POST', `/v1/bulk/${id}/cancel`)
  const { failures, ...task } = await ended(id)
  expect(task).toMatchObject({ status: 'canceled', done: 3, failed: 2 })
  for (const failure of failures) expect(failure.code).toBe('wrong_state')
  const { items } = await api.deps.redrives.list({ source: queueArn, limit: 10 })
  expect(items.map((item) => item.filter?.subscriptions)).toEqual([['b'], ['a']])
  expect(items[0]?.id).toBe(second.id)
})

test('conditions of a selection all hold, and one that names nothing is refused', async () => {
  const counted = async (select: object) => (await plan('purge', select)).body.counts?.lanes
  expect(await counted({ topicPrefix: 'acme-' })).toBe(4)
  expect(await counted({ topic: 'other-orders' })).toBe(1)
  expect(await counted({ metadata: { key: 'customer', value: 'acme' } })).toBe(1)
  expect(await counted({ status: 'paused', topicPrefix: 'acme-' })).toBe(1)
  expect(await counted({ q: 'ERP.example' })).toBe(1)
  expect(await counted({ state: 'paused', hosts: ['erp.example.com'] })).toBe(0)
  expect(await counted({ subscriptions: [ids.one, ids.two], q: '/2' })).toBe(1)
  expect((await plan('purge', {})).status).toBe(400)
  const unknown = (await plan('purge', { subscriptions: [MESSAGE] })).body
  expect(unknown.refused.first).toEqual([
    { object: MESSAGE, code: 'not_found', message: 'no such subscription' },
  ])
})

test('tests and purges of many say per object what failed', async () => {
  api.attemptResult = { kind: 'response', statusCode: 500, durationMs: 3 }
  const tested = await carryOut('test', { subscriptions: [ids.one, ids.two] })
  expect(tested).toMatchObject({ status: 'completed', done: 2, failed: 2 })
  expect(tested.failures).toContainEqual({
    object: ids.one,
    code: 'test_failed',
    message: 'the endpoint answered 500',
  })
  const purged = await carryOut('purge', { topic: 'other-orders' })
  expect(purged.results).toEqual({ discarded: 1 })
  expect(purged.canUndo).toBe(false)
})

test('a key with prefixes acts on its own lanes only, and sees only its own tasks', async () => {
  const own = await keyWith(api, ['manage'], { prefixes: ['other-'] })
  const mixed = (await plan('pause', { subscriptions: [ids.one, ids.elsewhere] }, own)).body
  expect(mixed).toMatchObject({ counts: { lanes: 1 }, refused: { count: 1 } })
  expect(mixed.refused.first[0]).toMatchObject({ object: ids.one, code: 'not_found' })
  const task = await carryOut('pause', { q: 'example.com' }, own)
  expect(task.results).toEqual({ paused: 1 })
  await ended((await own.call('POST', `/v1/bulk/${task.id}/undo`)).body.id, own)
  const foreign = await keyWith(api, ['manage'], { prefixes: ['acme-'] })
  expect(await foreign.status('GET', `/v1/bulk/${task.id}`)).toBe(404)
  expect((await foreign.call('GET', '/v1/bulk')).body.tasks).toEqual([])
  expect((await own.call('GET', '/v1/bulk')).body.tasks).toHaveLength(2)
  const redriver = await keyWith(api, ['redrive'])
  expect((await plan('pause', { q: 'x' }, redriver)).status).toBe(403)
  expect((await plan('retry', { q: 'x' }, redriver)).status).toBe(201)
})

test('a key with prefixes erases nothing beyond its names', async () => {
  const own = await keyWith(api, ['manage'], { prefixes: ['acme-'] })
  for (const topicPrefix of ['acme', 'other-']) {
    const { status, body } = await plan('erase', { topicPrefix }, own)
    expect([status, body.error?.message]).toEqual([403, expect.stringContaining('acme-')])
  }
  expect((await plan('erase', { topicPrefix: 'acme-' }, own)).status).toBe(201)
})

test('an erasure leaves topics that a policy protects, and their dead letters', async () => {
  const Statement = [{ Effect: 'Deny', Principal: '*', Action: 'SNS:DeleteTopic', Resource: '*' }]
  await admin.call('PUT', '/v1/queues/shared-dlq')
  for (const [topic, Policy] of [['leaves-a'], ['leaves-b', JSON.stringify({ Statement })]] as const) {
    await admin.call('PUT', `/v1/topics/${topic}`)
    const arn = `arn:aws:sns:us-east-1:000000000000:${topic}`
    if (Policy) await api.deps.topics.patch(arn, { attributes: { Policy } })
    api.deps.topicCache.forget(arn)
    await api.deps.queues.send(SHARED, [{ body: topic, deadLetter: letterOf(arn) }])
  }
  const { body } = await plan('erase', { topicPrefix: 'leaves-' })
  expect(body).toMatchObject({ counts: { topics: 1, deadLetters: 1 }, refused: { count: 1 } })
  await admin.call('POST', '/v1/bulk', { body: { plan: body.id } })
  expect((await ended(body.id)).results).toMatchObject({ topics: 1, deadLetters: 1 })
  const left = await api.deps.queues.receive(SHARED, { maxMessages: 10 })
  expect(left.map((item) => item.body)).toEqual(['leaves-b'])
}, 30_000)

test('a plan to erase by metadata finds subscriptions that their links have ended', async () => {
  await subscribe('ended', 'https://crm.example.com/6', { metadata: { customer: 'ended' } })
  await api.deps.subscriptions.update(ids.ended ?? '', () => ({ unsubscribed: true }))
  const select = { metadata: { key: 'customer', value: 'ended' } }
  expect((await plan('erase', select)).body.counts.lanes).toBe(1)
  expect((await plan('pause', select)).body.counts.lanes).toBe(0)
})

/** Starts an erasure that stays at the step which waits until deliveries are discarded. */
async function waitingErasure(lanesLeft: () => Promise<number>): Promise<string> {
  vi.spyOn(api.deps.erasure, 'lanesLeft').mockImplementation(lanesLeft)
  const { id } = (await plan('erase', { topicPrefix: 'nobody-' })).body
  await admin.call('POST', '/v1/bulk', { body: { plan: id } })
  return id
}

async function canceled(id: string) {
  await admin.call('POST', `/v1/bulk/${id}/cancel`)
  await api.redis.zadd('ft:{bulk}:running', 'XX', 0, id)
  api.deps.bulkRunner.wake()
  const task = await ended(id)
  vi.restoreAllMocks()
  return task
}

test('an erasure waits while memory is full, and nothing of it fails', async () => {
  const from = api.events.length
  const id = await waitingErasure(() => Promise.reject(new FantailError('storage_full', 'storage is full')))
  await waitFor(() => api.events.slice(from).some(({ event }) => event === 'bulk.postponed'))
  const { body } = await admin.call('GET', `/v1/bulk/${id}`)
  expect(body).toMatchObject({ status: 'running', failures: [] })
  expect((await canceled(id)).status).toBe('canceled')
})

test('an erasure goes no further while deliveries wait, and ends there if it is canceled', async () => {
  let [looks, moved] = [0, 0]
  const now = api.deps.clock
  vi.spyOn(api.deps, 'clock').mockImplementation(() => now() + moved)
  const id = await waitingErasure(async () => {
    moved += 100_000
    looks++
    return 1
  })
  await waitFor(() => looks >= 5)
  const task = await canceled(id)
  expect(task).toMatchObject({ status: 'canceled', results: {} })
  expect(task.failures.map((one: { object: string }) => one.object)).toEqual(['drain', 'rest', 'forget'])
}, 30_000)

test('an erasure waits until no block of a deleted archive is left', async () => {
  const arn = 'arn:aws:sns:us-east-1:000000000000:kept-a'
  const { topic } = await api.deps.topics.put(arn, { archive: { days: 1 } })
  const archives = new Archives(api.redis, { put: never, get: never, remove: async () => undefined })
  await api.redis.zadd(`${shardBase(shardOf(arn))}archive:blocks:${topic.uid}`, 1, '0 1 1 1 1')
  let [looks, moved] = [0, 0]
  const now = api.deps.clock
  vi.spyOn(api.deps, 'clock').mockImplementation(() => now() + moved)
  const left = api.deps.erasure.archivesLeft.bind(api.deps.erasure)
  vi.spyOn(api.deps.erasure, 'archivesLeft').mockImplementation(async (uids) => {
    moved += 100_000
    const count = await left(uids)
    if (++looks === 3) await archives.sweep({ arn, uid: topic.uid })
    return count
  })
  const { id } = (await plan('erase', { topicPrefix: 'kept-' })).body
  await admin.call('POST', '/v1/bulk', { body: { plan: id } })
  expect((await ended(id)).results).toMatchObject({ topics: 1 })
  expect(looks).toBeGreaterThan(3)
  vi.restoreAllMocks()
}, 30_000)

const never = () => Promise.reject(new Error('is not called'))

test('an erasure leaves a topic that was created again after the plan', async () => {
  await admin.call('PUT', '/v1/topics/again-a')
  const { id } = (await plan('erase', { topicPrefix: 'again-' })).body
  await admin.call('DELETE', '/v1/topics/again-a')
  await admin.call('PUT', '/v1/topics/again-a')
  let looks = 0
  vi.spyOn(api.deps.erasure, 'lanesLeft').mockImplementation(async () => ++looks)
  await admin.call('POST', '/v1/bulk', { body: { plan: id } })
  await waitFor(() => looks > 0)
  expect((await canceled(id)).results).toEqual({})
  expect(await admin.status('GET', '/v1/topics/again-a')).toBe(200)
})

test('a plan to erase leaves out lanes and queues whose policies deny it', async () => {
  const denied = (Action: string) =>
    JSON.stringify({ Statement: [{ Effect: 'Deny', Principal: '*', Action, Resource: '*' }] })
  const arn = 'arn:aws:sns:us-east-1:000000000000:denied-a'
  await admin.call('PUT', '/v1/topics/denied-a')
  await subscribe('denied', 'https://crm.example.com/5', {}, 'denied-a')
  await api.deps.queues.send(SHARED, [{ body: 'x', deadLetter: letterOf(arn) }])
  await api.deps.topics.patch(arn, { attributes: { Policy: denied('SNS:Unsubscribe') } })
  await api.deps.queues.patch(SHARED, { attributes: { Policy: denied('SQS:PurgeQueue') } })
  api.deps.topicCache.forget(arn)
  api.deps.queueCache.forget(SHARED)
  const { body } = await plan('erase', { topicPrefix: 'denied-' })
  expect(body.counts).toMatchObject({ topics: 1, lanes: 0, deadLetters: 0 })
  expect(body.refused.first.map((one: { object: string }) => one.object)).toEqual([ids.denied, SHARED])
})

const SHARED = 'arn:aws:sqs:us-east-1:000000000000:shared-dlq'

function letterOf(topicArn: string): DeadLetter {
  const [now, messageId] = [Date.now(), createMessageId(Date.now())]
  return {
    subscriptionArn: `${topicArn}:${createMessageId(now)}`,
    topicArn,
    messageId,
    message: { messageId, topicArn, publishedAt: now, message: 'x' },
    generation: 0,
    attempts: 1,
    publishedAt: now,
    deadLetteredAt: now,
    reason: 'permanent',
    statusCode: 404,
    lastError: null,
  }
}

test('a canceled task ends after its batch, and the audit log has its start and its end', async () => {
  const { id } = (await plan('pause', { topicPrefix: 'acme-' })).body
  // The end of an earlier task wakes the runner at any time, so it must not claim this task before it is canceled.
  const claiming = vi.spyOn(api.deps.bulk, 'claim').mockResolvedValue(null)
  await api.deps.bulk.start(id)
  expect((await admin.call('POST', `/v1/bulk/${id}/cancel`)).body.status).toBe('canceling')
  claiming.mockRestore()
  api.deps.bulkRunner.wake()
  expect(await ended(id)).toMatchObject({ status: 'canceled', done: 0, results: {} })
  expect(await admin.status('POST', `/v1/bulk/${id}/cancel`)).toBe(409)
  const second = await carryOut('retry', { topicPrefix: 'acme-' })
  const lines = await waitFor(
    async () => {
      const { body } = await admin.call('GET', `/v1/audit?resource=${second.id}`)
      return body.entries.length >= 2 ? body.entries : undefined
    },
    { what: 'the audit lines' },
  )
  expect(lines.map((line: { action: string }) => line.action)).toEqual(['bulk ended', 'POST /v1/bulk'])
  expect(lines[1].resource.words).toBe('retry 4 lanes, 3 deliveries')
})

test('a key that only reads sees a task as the list shows it, and acts on none', async () => {
  const { id } = await carryOut('retry', { topic: 'acme-orders' })
  const reader = await keyWith(api, ['read'])
  const { tasks } = (await reader.call('GET', '/v1/bulk')).body
  expect(tasks.map((task: { id: string }) => task.id)).toContain(id)
  expect((await reader.call('GET', `/v1/bulk/${id}`)).body).toMatchObject({ id, status: 'completed' })
  const redriver = await keyWith(api, ['redrive'])
  const other = (await plan('pause', { topic: 'acme-orders' })).body.id
  expect(await redriver.status('POST', '/v1/bulk', { plan: other })).toBe(403)
})

test('a plan of redrives finds letters by their counts, and reads no queue', async () => {
  const deadLetterTargetArn = (await admin.call('PUT', '/v1/queues/letters')).body.arn
  await subscribe('failing', 'https://crm.example.com/5', { redrivePolicy: { deadLetterTargetArn } })
  const record = await api.deps.subscriptions.get(ids.failing ?? '')
  const { arn: subscriptionArn = '', topicArn = '' } = record ?? {}
  const now = Date.now()
  const deadLetter = {
    ...{ reason: 'permanent' as const, statusCode: 404, lastError: null, attempts: 1, generation: 0 },
    ...{ subscriptionArn, topicArn, messageId: MESSAGE, publishedAt: now, deadLetteredAt: now },
    message: {} as never,
  }
  await api.deps.queues.send(deadLetterTargetArn, [{ body: 'letter', deadLetter }, { body: 'no letter' }])
  const scan = vi.spyOn(api.deps.redrives, 'dryRun')
  const { body } = await plan('redrive', { topic: 'acme-orders' })
  expect(body).toMatchObject({ counts: { lanes: 1, deadLetters: 1 }, total: 1 })
  expect(scan).not.toHaveBeenCalled()
  scan.mockRestore()
})

test('plans are made one after the other, and too many that wait are refused', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const create = api.deps.bulk.plan.bind(api.deps.bulk)
  const creating = vi.spyOn(api.deps.bulk, 'plan').mockImplementation(async (task) => {
    await promise
    return create(task)
  })
  const asked = Array.from({ length: 21 }, () => plan('retry', { topic: 'acme-orders' }))
  expect((await Promise.race(asked)).body.error?.code).toBe('rate_limited')
  await waitFor(() => creating.mock.calls.length > 0, { what: 'the first plan' })
  expect(creating).toHaveBeenCalledTimes(1)
  resolve()
  const made = (await Promise.all(asked)).filter(({ status }) => status === 201)
  expect(made).toHaveLength(20)
  creating.mockRestore()
})

test('a key that makes many plans drops its own, and no plan of another key', async () => {
  const { id: other } = (await plan('retry', { topic: 'acme-orders' })).body
  const facts = await api.deps.bulk.get(other)
  if (!facts) throw new Error('no plan')
  const key = { id: 'busy', account: facts.key?.account ?? '', prefixes: [] }
  const own: string[] = []
  for (let n = 0; n < 100; n++) own.push((await api.deps.bulk.plan({ ...facts, key, objects: ['a'] })).id)
  expect(await admin.status('GET', `/v1/bulk/${other}`)).toBe(200)
  const kept = await Promise.all(own.map((id) => api.deps.bulk.get(id)))
  expect([kept[0], kept.at(-1)?.id]).toEqual([null, own.at(-1)])
})
