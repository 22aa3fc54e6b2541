import { deliveryId, dispatchJobKey, LaneSurvey, placeOfSubscription } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const MESSAGE = '01a1fbe2-80fa-72ab-bc08-d682f311b524'
let api: TestApi
let admin: TestKey
const ids: Record<string, string> = {}

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage'])
  for (const topic of ['orders', 'clicks']) await admin.call('PUT', `/v1/topics/${topic}`)
  await subscribe('failing', 'https://crm.example.com/in')
  await subscribe('waiting', 'https://crm.example.com/out')
  await subscribe('paused', 'https://erp.example.com/hook')
  await subscribe('pending', 'https://new.example.com/', { confirmation: 'handshake' })
  await subscribe('quiet', 'https://quiet.example.com/')
  await subscribe('broken', 'https://bi.example.com/events', {}, 'clicks')
  await admin.call('POST', `/v1/subscriptions/${ids.paused}/pause`)
  for (const name of ['waiting', 'paused']) await park(name)
  await fail('failing', 6)
  const entry = { id: 'q1', reason: 'bodyUnreadable' as const, detail: 'x', raw: Buffer.from('?') }
  await quarantine().add({ ...entry, subscriptionId: ids.broken, messageId: MESSAGE })
})
afterAll(() => api.stop())

const quarantine = () => api.deps.quarantine as unknown as { add(entry: object): Promise<string> }

async function subscribe(name: string, endpoint: string, set: object = {}, topic = 'orders') {
  const body = { endpoint, name, ...set }
  ids[name] = (await admin.call('POST', `/v1/topics/${topic}/subscriptions`, { body })).body.id
}

async function park(name: string) {
  const subscriptionId = ids[name] ?? ''
  const { shard } = placeOfSubscription(subscriptionId) ?? { shard: -1 }
  const id = deliveryId(MESSAGE)
  const entry = { subscriptionId, delivery: id, message: 0, park: { as: 'fresh' as const } }
  const jobs = [{ jobName: '', fence: 0, fields: [], entries: [entry] }]
  await api.lanes.park(shard, { messages: [{ id, body: '{}' }], jobs })
}

async function fail(name: string, times: number) {
  const subscriptionId = ids[name] ?? ''
  const { shard } = placeOfSubscription(subscriptionId) ?? { shard: -1 }
  const failed = { ms: 0, statusCode: 503, error: null }
  const failing = { inARow: times, ms: 1_000 }
  const ended = { attempts: times, successes: 0, beganMs: 1_000, succeededMs: null }
  await api.lanes.noteAttempts(shard, [{ subscriptionId, ...ended, failed, failing }])
}

const list = async (query = '', key = admin) => (await key.call('GET', `/v1/lanes${query}`)).body
const named = (body: { lanes: { name: string; verdict: { code: string } }[] }) =>
  body.lanes.map(({ name, verdict }) => [name, verdict.code])

test('lanes of all topics stand worst first, and those where nothing is to see are left out', async () => {
  const body = await list()
  expect(named(body)).toEqual([
    ['failing', 'failing'],
    ['broken', 'quarantined'],
    ['paused', 'paused'],
    ['pending', 'pending'],
    ['waiting', 'catchingUp'],
  ])
  expect(body).toMatchObject({ complete: true, looked: 5, matched: 5, waiting: 3, hosts: null })
  expect(body.verdicts).toEqual({ quarantined: 1, failing: 1, paused: 1, pending: 1, catchingUp: 1 })
})

test('a lane in the list and its subscription say the same', async () => {
  const [lane] = (await list('?state=failing')).lanes
  const { body } = await admin.call('GET', `/v1/subscriptions/${ids.failing}`)
  expect(lane.verdict).toMatchObject({ code: 'failing', facts: { lastStatusCode: 503, failedInARow: 6 } })
  const { code, since, sentence } = lane.verdict
  expect(body.verdict).toMatchObject({ code, since, sentence })
  expect(Object.keys(body.lane)).toEqual(Object.keys(lane.lane))
})

test.each([
  ['?state=inNeed', ['broken', 'failing', 'paused', 'pending']],
  ['?topic=clicks', ['broken']],
  ['?topicPrefix=click', ['broken']],
  ['?topicPrefix=licks', []],
  ['?topicPrefix=order&q=CRM.example', ['failing', 'waiting']],
  ['?q=CRM.example', ['failing', 'waiting']],
  ['?host=crm.example.com', ['failing', 'waiting']],
  ['?host=example.com', []],
  ['?q=erp&topic=clicks', []],
  ['?sort=waiting&limit=2', ['paused', 'waiting']],
])('%s', async (query, names) => {
  const found = (await list(query)).lanes.map(({ name }: { name: string }) => name)
  expect(found.sort()).toEqual(names)
})

test('pages follow one another', async () => {
  const first = await list('?limit=3')
  const second = await list(`?limit=3&cursor=${first.nextCursor}`)
  expect([...named(first), ...named(second)]).toEqual(named(await list()))
  expect(second.nextCursor).toBeNull()
  expect((await admin.call('GET', '/v1/lanes?cursor=no')).body.error.details).toMatchObject([
    { path: 'cursor' },
  ])
})

test('lanes are grouped by host, the worst host first', async () => {
  const { hosts, lanes } = await list('?groupBy=host')
  expect(lanes).toEqual([])
  expect(hosts.map(({ host }: { host: string }) => host)).toEqual([
    'crm.example.com',
    'bi.example.com',
    'erp.example.com',
    'new.example.com',
  ])
  expect(hosts[0]).toMatchObject({ lanes: 2, inNeed: 1, waiting: 1, subscriptionId: ids.failing })
})

test('a bound key sees its own lanes alone, in sums too', async () => {
  const bound = await keyWith(api, ['read'], { prefixes: ['clicks'] })
  const body = await list('', bound)
  expect(named(body)).toEqual([['broken', 'quarantined']])
  expect(body).toMatchObject({ looked: 1, matched: 1, waiting: 0, verdicts: { quarantined: 1 } })
  expect(await bound.status('GET', '/v1/lanes?topic=orders')).toBe(403)
  expect((await list('', await keyWith(api, ['read'], { account: '111111111111' }))).looked).toBe(0)
})

test('a survey that leaves lanes out says so', async () => {
  const survey = new LaneSurvey(api.redis, { perShardMax: 2 })
  const { lanes, isComplete } = await survey.read()
  expect([lanes.length, isComplete]).toEqual([2, false])
})

test('a change of a subscription shows at the next look', async () => {
  await admin.call('PATCH', `/v1/subscriptions/${ids.waiting}`, { body: { name: 'other' } })
  expect((await list('?q=out')).lanes).toMatchObject([{ name: 'other' }])
  await admin.call('DELETE', `/v1/subscriptions/${ids.waiting}`)
  expect((await list('?q=out')).lanes).toEqual([])
})

test('a lane says that published messages wait for a worker, and not that nothing is wrong', async () => {
  const job = dispatchJobKey(0, 'late')
  const data = JSON.stringify({ v: 1, m: [{ messageId: MESSAGE, publishedAt: Date.now() - 60_000 }] })
  await api.redis.hset(job, { data, timestamp: Date.now() })
  await api.redis.lpush(dispatchJobKey(0, 'wait'), 'late')
  const code = async () => (await admin.call('GET', `/v1/subscriptions/${ids.quiet}`)).body.verdict.code
  await waitFor(async () => (await code()) === 'undispatched', { what: 'the verdict' })
  await api.redis.del(job, dispatchJobKey(0, 'wait'))
  await waitFor(async () => (await code()) === 'fine', { what: 'the verdict to end' })
})
