import type { Message } from '@fantail/contracts'
import type { Notice } from '@fantail/contracts/schemas/overview/notice-schemas'
import { OpenAlarms, placeOfSubscription, StatsStore, takeRole } from '@fantail/store'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { z } from 'zod'
import { keyWith, type TestKey } from '../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import type { JudgedLane } from '../lanes/lane-board.ts'
import { laneAlarms } from './alarms.ts'
import { disableEndpoints } from './disable-endpoints.ts'
import { noticesOf } from './notice-texts.ts'
import { NoticeWatch } from './notice-watch.ts'

const ACCOUNT = '000000000000'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MESSAGE = '01a1fbe2-80fa-72ab-bc08-d682f311b524'
const CALM = {
  memory: { usedBytes: 10, limitBytes: 100 },
  watermarkBytes: 75,
  risks: [] as string[],
  failedWrites: [] as string[],
}

let api: TestApi
let admin: TestKey
let alarms: OpenAlarms
let health: typeof CALM
/** Messages that earlier tests have published. */
let seen: Set<string>

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  alarms = new OpenAlarms(api.redis)
  admin = await keyWith(api, ['publish', 'read', 'manage'])
})
afterAll(() => api.stop())

beforeEach(async () => {
  health = CALM
  const { body } = await admin.call('GET', '/v1/topics')
  for (const { name } of body.topics) await admin.call('DELETE', `/v1/topics/${name}`)
  for (const keys of ['{notices}', '{leader}', '{stats}', '{quarantine}']) {
    const found = await api.redis.keys(`ft:${keys}:*`)
    if (found.length > 0) await api.redis.del(...found)
  }
  seen = new Set((await api.published()).map(({ messageId }) => messageId))
})

type Options = ConstructorParameters<typeof NoticeWatch>[1]

/** `aheadMs`: how far its clock is ahead. */
const createWatch = (set: Partial<Options> = {}, aheadMs = 0) =>
  new NoticeWatch(
    { ...api.deps, clock: () => Date.now() + aheadMs },
    {
      alarms,
      stats: new StatsStore(api.redis),
      health: { read: async () => health as never },
      takeRole: (forMs) => takeRole(api.redis, 'notices', forMs),
      account: ACCOUNT,
      publicUrl: 'http://localhost',
      failingMs: 300_000,
      ...set,
    },
  )
const look = () => createWatch().look()

const makeTopic = (name: string, body: object = {}, key = admin) =>
  key.call('PUT', `/v1/topics/${name}`, { body })

async function subscribe(topic: string, endpoint: string, set: object = {}): Promise<string> {
  const path = `/v1/topics/${topic}/subscriptions`
  const { body } = await admin.call('POST', path, { body: { endpoint, name: topic, ...set } })
  return body.id
}

const shardOfLane = (id: string) => placeOfSubscription(id)?.shard ?? -1

function fail(subscriptionId: string, forMs: number): Promise<void> {
  const failed = { ms: 0, statusCode: 503, error: null }
  const ended = { attempts: 6, successes: 0, beganMs: forMs, succeededMs: null }
  const note = { subscriptionId, ...ended, failed, failing: { inARow: 6, ms: forMs } }
  return api.lanes.noteAttempts(shardOfLane(subscriptionId), [note])
}

function succeed(subscriptionId: string): Promise<void> {
  const ended = { attempts: 1, successes: 1, beganMs: 0, succeededMs: 0, failed: null, failing: null }
  return api.lanes.noteAttempts(shardOfLane(subscriptionId), [{ subscriptionId, ...ended }])
}

type ReportedNotice = z.output<typeof Notice> & { eventType: string | undefined; topic: string }

function noticeIn({ message, attributes, topicArn }: Message): ReportedNotice {
  const notice = JSON.parse(JSON.parse(message).default)
  return { ...notice, eventType: attributes?.eventType?.value, topic: topicArn.split(':').at(-1) }
}

/** The notices since the last call, sorted by topic and type. */
async function reported(): Promise<ReportedNotice[]> {
  const messages = (await api.published()).filter(({ messageId }) => !seen.has(messageId))
  for (const { messageId } of messages) seen.add(messageId)
  return messages.map(noticeIn).sort((a, b) => (`${a.topic} ${a.type}` < `${b.topic} ${b.type}` ? -1 : 1))
}

/** Counts dead letters of a minute that ended ten minutes ago, as workers do. */
let flush = 0
async function deadLetter(topic: string, count: number): Promise<void> {
  const name = `arn:aws:sns:us-east-1:${ACCOUNT}:${topic}`
  const minute = Math.floor(Date.now() / 60_000) - 10
  const counted = [{ kind: 't' as const, name, minute, counts: [0, 0, 0, count] }]
  await new StatsStore(api.redis).add({ writer: 'test', flush: ++flush, now: Date.now(), counted })
}

const quarantine = (entry: object) =>
  (api.deps.quarantine as unknown as { add(entry: object): Promise<string> }).add(entry)

test('a failing host is reported once, with all its subscriptions, and so is its recovery', async () => {
  await makeTopic('ops', { notices: '' })
  for (const name of ['a', 'b', 'c']) await makeTopic(name)
  const ids = await Promise.all(
    ['a', 'b', 'c'].map((name) => subscribe(name, `https://hooks.example/${name}`)),
  )
  for (const id of ids) await fail(id, 600_000)
  await fail(await subscribe('a', 'https://young.example/'), 200_000)
  await look()
  const [notice, ...others] = await reported()
  expect(others).toEqual([])
  expect(notice).toMatchObject({
    ...{ type: 'endpoint.failing', eventType: 'endpoint.failing', topic: 'ops', host: 'hooks.example' },
    ...{
      count: 3,
      topics: [],
      message: '3 subscriptions at hooks.example have failed for 5 minutes or longer.',
    },
  })
  expect(notice?.subscriptions.map(({ id }) => id).sort()).toEqual(ids.toSorted())
  expect(notice?.subscriptions[0]).toMatchObject({ verdict: 'failing', since: expect.stringMatching(/Z$/) })
  await look()
  expect(await reported()).toEqual([])
  for (const id of ids) await succeed(id)
  await look()
  expect(await reported()).toMatchObject([{ type: 'endpoint.recovered', host: 'hooks.example', count: 3 }])
  await look()
  expect(await reported()).toEqual([])
})

test('a key asks for notices about its own names only', async () => {
  const acme = await keyWith(api, ['manage', 'read'], { prefixes: ['acme-'] })
  const statuses = await Promise.all(
    ['', 'acme', 'hooli-', 'acme-', 'acme-eu-', null].map(async (notices) => {
      return (await makeTopic('acme-notices', { notices }, acme)).status
    }),
  )
  expect(statuses.slice(0, 3)).toEqual([403, 403, 403])
  expect(statuses.slice(3).every((status) => status < 300)).toBe(true)
  expect(await acme.status('PATCH', '/v1/topics/acme-notices', { notices: '' })).toBe(403)
  const { body } = await makeTopic('ops.fifo', { notices: '' })
  expect(body.error).toMatchObject({ code: 'validation_failed', details: [{ path: 'notices' }] })
  expect((await makeTopic('acme-notices', { notices: 'no.name' })).status).toBe(400)
})

test('a limited key never sees notices about names of others', async () => {
  const acme = await keyWith(api, ['manage', 'read'], { prefixes: ['acme-'] })
  const foreign = await keyWith(api, ['manage', 'read'], { account: '111111111111' })
  await makeTopic('acme-notices', { notices: 'acme-' }, acme)
  await makeTopic('arn:aws:sns:us-east-1:111111111111:all', { notices: '' }, foreign)
  await makeTopic('ops', { notices: '' })
  for (const name of ['acme-orders', 'hooli-orders', 'acm']) {
    await makeTopic(name)
    const id = await subscribe(name, `https://${name}.example/`)
    await fail(id, 600_000)
    await deadLetter(name, 2)
    const at = { subscriptionId: id, topicArn: `arn:aws:sns:us-east-1:${ACCOUNT}:${name}` }
    await quarantine({ id: `of-${name}`, reason: 'bodyUnreadable', detail: 'x', raw: '?', ...at })
  }
  await quarantine({ id: 'of-nobody', reason: 'bodyUnreadable', detail: 'x', raw: '?' })
  health = { ...CALM, memory: { usedBytes: 66, limitBytes: 100 }, risks: ['disk'], failedWrites: ['aof'] }
  await alarms.write({ began: [], ended: [], reportedUntil: Date.now() - HOUR_MS })
  // A minute is reported after its end.
  await createWatch({}, 120_000).look()
  const notices = await reported()
  const of = (topic: string) =>
    notices.filter((notice) => notice.topic === topic).map(({ type, count }) => [type, count])
  expect(of('acme-notices')).toEqual([
    ['delivery.deadLettered', 2],
    ['endpoint.failing', 1],
    ['quarantine.added', 1],
  ])
  const own = notices.filter(({ topic }) => topic === 'acme-notices')
  expect(JSON.stringify(own)).not.toMatch(/hooli|:acm"|memory|disk/)
  expect(of('all')).toEqual([])
  expect(of('ops')).toEqual([
    ['delivery.deadLettered', 6],
    ['endpoint.failing', 1],
    ['endpoint.failing', 1],
    ['endpoint.failing', 1],
    ['quarantine.added', 4],
    ['server.disk', 1],
    ['server.memory', 1],
  ])
  await createWatch({}, 120_000).look()
  expect(await reported()).toEqual([])
})

test('notices that fail cause no notices, also between two topics of notices', async () => {
  for (const name of ['ops', 'audit']) {
    await makeTopic(name, { notices: '' })
    await fail(await subscribe(name, `https://${name}.example/`), 600_000)
    await deadLetter(name, 3)
  }
  await alarms.write({ began: [], ended: [], reportedUntil: Date.now() - HOUR_MS })
  await look()
  expect(await reported()).toEqual([])
})

test('an endpoint that is gone is reported once, and its resume is not reported', async () => {
  await makeTopic('ops', { notices: 'a' })
  await makeTopic('a')
  const id = await subscribe('a', 'https://gone.example/')
  await fail(id, 1_000)
  await api.deps.subscriptions.update(id, () => ({ status: 'paused', pausedBecause: 'gone' }))
  await look()
  expect(await reported()).toMatchObject([
    { type: 'endpoint.gone', count: 1, subscriptions: [{ id, verdict: 'gone' }] },
  ])
  await succeed(id)
  await look()
  await admin.call('POST', `/v1/subscriptions/${id}/resume`)
  await look()
  expect(await reported()).toEqual([])
})

test('a topic disables endpoints that have failed for its days, and a resume begins again', async () => {
  await makeTopic('ops', { notices: '' })
  await makeTopic('a', { disableAfterDays: 2 })
  await makeTopic('b')
  const ids = await Promise.all([
    subscribe('a', 'https://dead.example/'),
    subscribe('a', 'https://young.example/'),
    subscribe('b', 'https://free.example/'),
  ])
  const [dead = '', young = '', free = ''] = ids
  await fail(dead, 2 * DAY_MS)
  await fail(young, DAY_MS)
  await fail(free, 9 * DAY_MS)
  await look()
  await reported()
  await look()
  expect(await reported()).toMatchObject([{ type: 'endpoint.disabled', host: 'dead.example', count: 1 }])
  const state = async (id: string) => (await admin.call('GET', `/v1/subscriptions/${id}`)).body
  expect(await state(dead)).toMatchObject({
    ...{ status: 'paused', pausedBecause: 'failing' },
    verdict: { code: 'paused', sentence: expect.stringContaining('all attempts of some days had failed') },
  })
  for (const id of [young, free]) expect(await state(id)).toMatchObject({ status: 'active' })
  await admin.call('POST', `/v1/subscriptions/${dead}/resume`)
  await fail(dead, 1_000)
  await look()
  expect(await state(dead)).toMatchObject({ status: 'active', pausedBecause: null })
})

test('an out-of-date board disables no resumed endpoint, and a failed pause stops no other one', async () => {
  await makeTopic('a', { disableAfterDays: 2 })
  const ids = await Promise.all(
    ['broken', 'well', 'dead'].map((name) => subscribe('a', `https://${name}.example/`)),
  )
  const [broken = '', well = '', dead = ''] = ids
  for (const id of ids) await fail(id, 2 * DAY_MS)
  const { lanes } = await api.deps.laneBoard.read()
  await admin.call('POST', `/v1/subscriptions/${well}/pause`)
  await admin.call('POST', `/v1/subscriptions/${well}/resume`)
  const { subscriptions } = api.deps
  const failing = {
    getReadable: (id: string) => subscriptions.getReadable(id),
    update: (...args: Parameters<typeof subscriptions.update>) =>
      args[0] === broken ? Promise.reject(new Error('no memory')) : subscriptions.update(...args),
  }
  const tools = { ...api.deps, subscriptions: failing as typeof subscriptions }
  const of = (id: string) => lanes.filter(({ subscription }) => subscription.id === id)
  const sorted = [...of(broken), ...of(well), ...of(dead)]
  await disableEndpoints(tools, await api.deps.topics.watched(9), { lanes: sorted, now: Date.now() })
  const states = await Promise.all(ids.map((id) => subscriptions.getReadable(id)))
  expect(states.map((record) => record?.status)).toEqual(['active', 'active', 'paused'])
  expect(api.events).toContainEqual({
    event: 'subscription.disable_failed',
    fields: expect.objectContaining({ subscriptionId: broken }),
  })
})

test('a process that dies before it has written makes the next one repeat its notices once', async () => {
  await makeTopic('ops', { notices: '' })
  await makeTopic('a')
  await fail(await subscribe('a', 'https://a.example/'), 600_000)
  const dying = { read: () => alarms.read(), write: () => Promise.reject(new Error('killed')) }
  await expect(createWatch({ alarms: dying }).look()).rejects.toThrow('killed')
  for (let n = 0; n < 3; n++) await look()
  expect((await reported()).map(({ type }) => type)).toEqual(['endpoint.failing', 'endpoint.failing'])
})

test('one process looks in a minute', async () => {
  await makeTopic('ops', { notices: '' })
  await makeTopic('a')
  await fail(await subscribe('a', 'https://a.example/'), 600_000)
  await Promise.all([1, 2, 3].map(() => createWatch().round()))
  expect(await reported()).toHaveLength(1)
})

test('an alarm outlives a quiet day, and ends without a notice when its subscription is deleted', async () => {
  await makeTopic('ops', { notices: '' })
  await makeTopic('a')
  const id = await subscribe('a', 'https://a.example/')
  await fail(id, 600_000)
  await look()
  expect(await reported()).toHaveLength(1)
  // A day without attempts.
  const failing = await api.redis.keys('ft:*:failing')
  await api.redis.del(...failing)
  await look()
  expect((await alarms.read()).open.size).toBe(1)
  await admin.call('DELETE', `/v1/subscriptions/${id}`)
  await look()
  expect((await alarms.read()).open.size).toBe(0)
  expect(await reported()).toEqual([])
})

test('memory and disk are reported when they begin and end, and nothing while publishing is refused', async () => {
  await makeTopic('ops', { notices: '' })
  const at = (usedBytes: number) => ({ ...CALM, memory: { usedBytes, limitBytes: 100 } })
  const types: (string | undefined)[][] = []
  for (const state of [at(64), at(80), { ...at(65), risks: ['disk'] }, at(62), at(59)]) {
    health = state
    await look()
    types.push((await reported()).map(({ type, message }) => (type === 'server.recovered' ? message : type)))
  }
  expect(types).toEqual([
    [],
    [],
    ['server.disk', 'server.memory'],
    ['The alarm server.disk has ended.'],
    ['The alarm server.memory has ended.'],
  ])
})

test('a topic of notices takes mail addresses only with a confirmation', async () => {
  await makeTopic('ops', { notices: '' })
  const body = { endpoint: 'ops@example.com', protocol: 'email', confirmation: 'none' }
  const { body: answer } = await admin.call('POST', '/v1/topics/ops/subscriptions', { body })
  expect(answer.error.details).toContainEqual(expect.objectContaining({ path: 'confirmation' }))
})

test('hosts past those that are reported one by one become one notice for each type', () => {
  const news = Array.from({ length: 200 }, (_, n) => ({
    ...{ type: 'endpoint.failing' as const, host: `h${n}.example`, topicArn: 'arn:aws:sns:x:1:t', count: 1 },
  }))
  const notices = noticesOf(news, { now: 0, failingMs: 60_000 })
  expect(notices).toHaveLength(81)
  expect(JSON.parse(JSON.parse(notices.at(-1)?.message ?? '').default)).toMatchObject({
    ...{ host: null, count: 120 },
    message: '120 subscriptions at 120 hosts have failed for 1 minute or longer.',
  })
})

const rules = { now: 10_000_000, failingMs: 300_000, isOpen: () => false }
const LATELY = { attempts: 10, successes: 10, spanMs: 10_000 }

test.each([
  ['endpoint.circuitOpen', 'an open circuit', { code: 'circuitOpen' }, {}, {}],
  ['endpoint.failing', 'five minutes without an answer', { code: 'hung', since: 9_700_000 }, {}, {}],
  ['', 'less than five minutes', { code: 'failing', since: 9_700_001 }, {}, {}],
  ['endpoint.failing', 'a missing queue', { code: 'dlqMissing' }, { oldestPublishedAt: 1 }, {}],
  [
    'endpoint.failing',
    'one with quarantined entries',
    { code: 'quarantined' },
    { failing: { inARow: 3, since: 1 } },
    {},
  ],
  [
    'endpoint.behind',
    'more than an hour to drain',
    { code: 'throttled' },
    { waiting: 3_601, lately: LATELY },
    {},
  ],
  ['', 'less than an hour to drain', { code: 'throttled' }, { waiting: 3_599, lately: LATELY }, {}],
  ['', 'a pause by somebody', { code: 'paused' }, { waiting: 9_999 }, { status: 'paused' }],
  ['', 'a pending one', { code: 'pending', since: 1 }, {}, { status: 'pending' }],
])('the alarm is "%s": %s', async (type, _what, verdict, figures, subscription) => {
  const [none] = await api.lanes.figures([{ subscriptionId: MESSAGE, shard: 0 }])
  const lane = {
    subscription: {
      id: 'x',
      topicArn: 't',
      endpoint: 'https://e.example',
      protocol: 'https',
      status: 'active',
      ...subscription,
    },
    figures: { ...none, ...figures },
    verdict: { since: null, sentence: '', facts: {}, ...verdict },
  } as unknown as JudgedLane
  expect([...laneAlarms([lane], rules).values()].map((alarm) => alarm.type).join()).toBe(type)
})
