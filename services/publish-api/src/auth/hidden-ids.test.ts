/** Ids of things that a key may not see. Every route gives the same answer as for an unknown id. */
import { createMessageId, type DeadLetter } from '@fantail/contracts'
import { Quarantine } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { endpointsOf } from '../server/app.ts'
import { keyWith, type TestKey } from './keys.fixture.ts'

let api: TestApi
let admin: TestKey
/** Hidden ids and unknown ids, by the path parameter of the routes that take them. */
let hidden: Record<string, string>
let nothing: Record<string, string>

/** Bodies for the routes that need one. */
const BODIES: Record<string, object> = {
  'POST /v1/subscriptions/{id}/confirm': { token: 'a' },
  'POST /v1/subscriptions/{id}/set-aside': { messageId: createMessageId(1) },
  'POST /v1/subscriptions/{id}/webhook-keys': {},
  'PATCH /v1/subscriptions/{id}': { redrivePolicy: { deadLetterTargetArn: 'hidden-dlq' } },
  'POST /v1/messages/{messageId}/resend': { subscription: 'x' },
  'POST /v1/subscriptions/{id}/resend': { since: '2026-11-21T09:00:00.000Z' },
  'PATCH /v1/redrives/{id}': { maxMessagesPerSecond: 5 },
}

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'redrive', 'consume'])
  for (const name of ['hidden', 'mine']) {
    await admin.call('PUT', `/v1/topics/${name}`)
    await admin.call('PUT', `/v1/queues/${name}-dlq`)
  }
  const redrivePolicy = { deadLetterTargetArn: 'hidden-dlq' }
  const body = { endpoint: 'https://example.com/hidden', confirmation: 'handshake', redrivePolicy }
  const subscription = (await admin.call('POST', '/v1/topics/hidden/subscriptions', { body })).body
  const message = { message: 'hello' }
  const { messageId } = (await admin.call('POST', '/v1/topics/hidden/messages', { body: message })).body
  await api.deps.queues.send('arn:aws:sqs:us-east-1:000000000000:hidden-dlq', [
    { id: createMessageId(Date.now()), body: 'dead', attributes: {} },
  ])
  const redrive = { source: 'hidden-dlq', destination: 'mine-dlq' }
  const { id: redriveId } = (await admin.call('POST', '/v1/redrives', { body: redrive })).body
  const planned = { action: 'pause', select: { topic: 'hidden' } }
  const { id: bulk } = (await admin.call('POST', '/v1/bulk-plans', { body: planned })).body
  hidden = {
    subscriptions: subscription.id,
    arns: subscription.arn,
    messages: messageId,
    redrives: redriveId,
    bulk,
  }
  const id = createMessageId(1)
  const arn = subscription.arn.replace(subscription.id, id)
  nothing = { subscriptions: id, arns: arn, messages: id, redrives: id, bulk: id }
})
afterAll(() => api.stop())

const strangers: [who: string, set: object][] = [
  ['a key for other names', { prefixes: ['mine'] }],
  ['a key of another account', { account: '222222222222' }],
]

/** Every route with an id in its path. */
function routesById() {
  const routes = endpointsOf(api.deps).filter(({ path }) =>
    /^\/v1\/(subscriptions|messages|redrives|bulk)\/\{/.test(path),
  )
  expect(routes.length).toBeGreaterThan(18)
  return routes.map(({ method, path }) => ({ method, path, kind: path.split('/')[2] ?? '' }))
}

test.each(strangers)('%s is answered as for an id of nothing, by every route', async (_who, set) => {
  const key = await keyWith(api, ['publish', 'read', 'manage', 'redrive', 'consume'], set)
  for (const { method, path, kind } of routesById()) {
    for (const ids of kind === 'subscriptions' ? [kind, 'arns'] : [kind]) {
      const call = async (id = '') => {
        const body = BODIES[`${method} ${path}`]
        const answer = await key.call(method, path.replace(/\{\w+\}/, id), {
          headers: { 'X-Request-Id': 'r' },
          ...(body && { body }),
        })
        return { status: answer.status, text: answer.text, headers: [...answer.headers] }
      }
      const [seen, unknown] = [await call(hidden[ids]), await call(nothing[ids])]
      expect({ method, path, ...seen }).toEqual({ method, path, ...unknown })
      expect([204, 404]).toContain(seen.status)
      expect(seen.text).not.toContain('hidden')
    }
  }
  expect(await api.deps.subscriptions.get(hidden.subscriptions ?? '')).toMatchObject({ status: 'pending' })
})

test.each(strangers)('%s sees nothing of a message in quarantine that names no topic', async (_who, set) => {
  const messageId = createMessageId(Date.now())
  const raw = `{"v":1,"m":[{"messageId":"${messageId}","mess`
  await new Quarantine(api.redis).add({ id: messageId, reason: 'jobUnreadable', detail: 'no JSON', raw })
  const path = `/v1/messages/${messageId}/deliveries`
  expect((await admin.call('GET', path)).body.deliveries).toMatchObject([{ state: 'quarantined' }])
  const key = await keyWith(api, ['read', 'manage'], set)
  expect(await key.status('GET', path)).toBe(404)
  expect(await key.status('GET', `/v1/quarantine/${messageId}`)).toBe(403)
})

test.each(strangers)(
  '%s learns no ARN by a filter that names a subscription by its id',
  async (_who, set) => {
    const key = await keyWith(api, ['read', 'redrive', 'manage', 'consume'], set)
    const account = 'account' in set ? String(set.account) : '000000000000'
    const queue = `arn:aws:sqs:us-east-1:${account}:mine-filtered`
    await api.deps.queues.put(queue, {})
    for (const id of [hidden.subscriptions, nothing.subscriptions]) {
      const body = { source: queue, dryRun: true, filter: { subscription: id } }
      const redrive = await key.call('POST', '/v1/redrives', { body })
      expect([redrive.status, redrive.body.error.details]).toEqual([
        400,
        [{ path: 'filter.subscription', message: expect.stringContaining('names no subscription') }],
      ])
      const peek = await key.call('GET', `/v1/queues/${queue}/messages?subscription=${id}`)
      expect([peek.status, peek.body.error.details[0].path]).toEqual([400, 'subscription'])
    }
    const own = { source: queue, dryRun: true, filter: { subscription: hidden.arns } }
    expect(await key.status('POST', '/v1/redrives', own)).toBe(200)
  },
)

test('a queue shows a key only those of its dead-letter sources that it may see', async () => {
  const body = { endpoint: 'https://example.com/source', redrivePolicy: { deadLetterTargetArn: 'mine-dlq' } }
  const arns: string[] = []
  for (const name of ['hidden', 'mine']) {
    arns.push((await admin.call('POST', `/v1/topics/${name}/subscriptions`, { body })).body.arn)
  }
  const key = await keyWith(api, ['read'], { prefixes: ['mine'] })
  const sources = async (who: TestKey, path = '/v1/queues/mine-dlq') =>
    (await who.call('GET', path)).body.deadLetterSources
  expect((await sources(admin)).sort()).toEqual([...arns].sort())
  expect(await sources(key)).toEqual([arns[1]])
  const listed = (await key.call('GET', '/v1/queues')).body.queues
  expect(JSON.stringify(listed)).not.toContain('hidden')
})

test('groups of dead letters name to a key only those subscriptions that it may see', async () => {
  const now = Date.now()
  const messageId = createMessageId(now)
  const topicArn = 'arn:aws:sns:us-east-1:000000000000:hidden'
  const deadLetter: DeadLetter = {
    subscriptionArn: hidden.arns ?? '',
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
  await api.deps.queues.send('arn:aws:sqs:us-east-1:000000000000:mine-dlq', [{ body: 'x', deadLetter }])
  const groupsFor = async (who: TestKey) =>
    (await who.call('GET', '/v1/queues/mine-dlq/dead-letters?groupBy=subscription')).body.groups
  expect(await groupsFor(admin)).toMatchObject([{ subscriptionName: 'https://example.com/hidden' }])
  const key = await keyWith(api, ['read'], { prefixes: ['mine'] })
  expect(await groupsFor(key)).toMatchObject([{ subscription: hidden.arns, subscriptionName: null }])
})

test('a key that may see a thing gets an open refusal, and the audit line says denied', async () => {
  const Statement = [
    { Effect: 'Deny', Principal: '*', Action: 'SNS:SetSubscriptionAttributes', Resource: '*' },
  ]
  const topic = 'arn:aws:sns:us-east-1:000000000000:mine'
  const body = { endpoint: 'https://example.com/mine' }
  const { id } = (await admin.call('POST', '/v1/topics/mine/subscriptions', { body })).body
  await api.deps.topics.patch(topic, { attributes: { Policy: JSON.stringify({ Statement }) } })
  api.deps.topicCache.forget(topic)
  const refused = await admin.call('POST', `/v1/subscriptions/${id}/pause`)
  expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining(topic)])
  const key = await keyWith(api, ['manage'], { prefixes: ['other'] })
  const from = api.events.length
  await key.call('DELETE', `/v1/subscriptions/${id}`)
  await key.call('POST', `/v1/subscriptions/${id}/pause`)
  const lines = api.events.slice(from).filter(({ event }) => event === 'audit')
  expect(lines.map(({ fields }) => fields)).toMatchObject([
    { keyId: key.id, resource: { id }, result: 'denied', status: 204 },
    { keyId: key.id, resource: { id }, result: 'denied', status: 404 },
  ])
})
