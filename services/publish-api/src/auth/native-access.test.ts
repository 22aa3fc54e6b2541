import { KEY_COMMAND, type KeyScope } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp, endpointsOf } from '../server/app.ts'
import { keyWith, type TestKey } from './keys.fixture.ts'

let api: TestApi
let admin: TestKey

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'redrive'])
  for (const name of ['orders', 'orders-eu', 'bills']) {
    await admin.call('PUT', `/v1/topics/${name}`)
    await admin.call('PUT', `/v1/queues/${name}`)
  }
})
afterAll(() => api.stop())

const hello = { message: 'hello' }

test('without a key nothing but the public pages is served, and the answer says how to get one', async () => {
  const open = new Set(['/healthz', '/openapi.json', '/docs', '/_assets/docs.js', '/_assets/scalar.js'])
  // These routes are open to everybody who has a link with a token. The requests here have no token.
  const byToken = new Set(['/confirmation.html', '/unsubscribe.html'])
  const samePage = new Set(['/v1/session', '/v1/portal/session'])
  for (const { method, path, where } of endpointsOf(api.deps)) {
    if (where || path === '/') continue
    const { status, body, headers } = await api.call(method, path.replace(/\{\w+\}/g, 'orders'))
    // A machine without free time may be late with the checks of `/readyz`, whose 503 is served to everybody too.
    if (path === '/readyz') expect(body.checks).toEqual(expect.any(Object))
    else if (open.has(path)) expect([path, status]).toEqual([path, 200])
    // A request that no page of this server sends is refused before its key is read.
    else if (method === 'POST' && samePage.has(path)) expect(status).toBe(403)
    else if (byToken.has(path)) expect([path, status]).toEqual([path, 400])
    else {
      expect([method, path, status]).toEqual([method, path, 401])
      expect(body.error).toMatchObject({
        code: 'unauthorized',
        message: expect.stringContaining(KEY_COMMAND),
      })
      expect(headers.get('www-authenticate')).toBe('Bearer')
    }
  }
})

test('callers that may read or manage can test a filter', async () => {
  const body = { filterPolicy: { color: ['red'] }, message: hello }
  const statuses = (['publish', 'consume', 'redrive', 'read', 'manage'] as const).map(async (scope) => {
    const key = await keyWith(api, [scope])
    return [scope, (await key.call('POST', '/v1/filter-policies/test', { body })).status]
  })
  expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
    publish: 403,
    consume: 403,
    redrive: 403,
    read: 200,
    manage: 200,
  })
})

test('metrics that are open to all open nothing else', async () => {
  const settings = { ...api.deps.settings, openMetrics: true }
  const app = createApp({ ...api.deps, settings })
  const status = async (path: string) => (await app.request(path)).status
  expect([await status('/metrics'), await status('/v1/quarantine')]).toEqual([200, 401])
})

test('an invalid key, an unknown one and a wrong secret are refused alike', async () => {
  const { body: made } = await admin.call('POST', '/v1/keys', { body: { name: 'x', scopes: ['read'] } })
  const wrong = [
    'Bearer',
    'Bearer x',
    'Basic ZnQ6eA==',
    made.token,
    `Bearer ${made.token}x`,
    `Bearer ${made.token.slice(0, -1)}${made.token.endsWith('A') ? 'B' : 'A'}`,
    `Bearer ft_FKAAAAAAAAAAAAAAAAAA_${made.token.split('_')[2]}`,
  ]
  for (const Authorization of wrong) {
    const { status } = await api.call('GET', '/v1/topics', { headers: { Authorization } })
    expect([Authorization, status]).toEqual([Authorization, 401])
  }
  const right = await api.call('GET', '/v1/topics', { headers: { Authorization: `bearer  ${made.token}` } })
  expect(right.status).toBe(200)
})

test('a key whose record was changed is revoked by its own account only', async () => {
  const { body: made } = await admin.call('POST', '/v1/keys', { body: { name: 'x', scopes: ['read'] } })
  const stranger = await keyWith(api, ['manage'], { account: '999999999999' })
  await api.redis.hset('ft:{keys}:records', made.id, '{"scopes":["manage"]')
  const revoke = async (key: TestKey) => (await key.call('DELETE', `/v1/keys/${made.id}`)).status
  const count = () => api.deps.keys.count()
  const before = await count()
  expect([await revoke(stranger), await count()]).toEqual([204, before])
  expect([await revoke(admin), await count()]).toEqual([204, before - 1])
})

test('only a key with manage chooses the id that subscribers see', async () => {
  const copy = { message: 'x', sourceId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324' }
  const statusOf = async (scopes: KeyScope[]) =>
    (await keyWith(api, scopes)).status('POST', '/v1/topics/orders/messages', copy)
  expect([await statusOf(['publish']), await statusOf(['publish', 'manage'])]).toEqual([403, 202])
})

test('a key does what its scopes name and nothing else', async () => {
  const id = (
    await admin.call('POST', '/v1/topics/orders/subscriptions', {
      body: { endpoint: 'https://example.com/' },
    })
  ).body.id
  const calls: [need: string[], method: string, path: string, body?: object][] = [
    [['publish'], 'POST', '/v1/topics/orders/messages', hello],
    [['publish'], 'POST', '/v1/queues/orders/messages', { body: 'x' }],
    [['read'], 'GET', '/v1/topics'],
    [['read'], 'GET', '/v1/topics/orders'],
    [['read'], 'GET', '/v1/queues/orders/messages'],
    [['read'], 'GET', `/v1/subscriptions/${id}`],
    [['read'], 'GET', '/metrics'],
    [['manage'], 'PUT', '/v1/topics/orders'],
    [['manage'], 'POST', `/v1/subscriptions/${id}/pause`],
    [['manage'], 'POST', '/v1/queues/orders/purge'],
    [['manage'], 'GET', '/v1/keys'],
    [['manage'], 'GET', '/v1/quarantine'],
    [['redrive'], 'POST', '/v1/redrives', { source: 'orders', dryRun: true }],
    [['redrive', 'manage'], 'POST', `/v1/subscriptions/${id}/retry`],
    [['consume', 'manage'], 'POST', '/v1/queues/orders/receive', {}],
    [['consume', 'manage'], 'POST', '/v1/queues/orders/ack', { receiptHandles: ['x'] }],
  ]
  for (const scope of ['publish', 'read', 'manage', 'redrive', 'consume'] as const) {
    const key = await keyWith(api, [scope])
    for (const [need, method, path, body] of calls) {
      const allowed = (await key.status(method, path, body)) < 300
      expect([scope, method, path, allowed]).toEqual([scope, method, path, need.includes(scope)])
    }
  }
})

test('a key for some names reaches nothing else, by any route', async () => {
  const key = await keyWith(api, ['publish', 'read', 'manage', 'redrive'], { prefixes: ['orders'] })
  const subscribe = (topic: string, body: object) =>
    admin.call('POST', `/v1/topics/${topic}/subscriptions`, { body })
  const { id: own } = (await subscribe('orders', { endpoint: 'https://example.com/own' })).body
  const { id: other, arn } = (await subscribe('bills', { endpoint: 'https://example.com/other' })).body
  // Makes subscriptions of functions and streams possible, as the settings of an operator would.
  const { http } = api.deps.attempters
  api.deps.attempters = { ...api.deps.attempters, lambda: http, firehose: http }
  const { id: ownQueue } = (await subscribe('orders', { endpoint: 'orders', protocol: 'sqs' })).body
  const billing = 'arn:aws:lambda:us-east-1:000000000000:function:bills:live'
  const device = 'arn:aws:sns:us-east-1:000000000000:endpoint/GCM/bills/5e3e9847-3183-4f18-a7e8-671c3a57d4b3'
  const { messageId } = (await admin.call('POST', '/v1/topics/bills/messages', { body: hello })).body
  expect(await key.status('POST', '/v1/topics/orders-eu/messages', hello)).toBe(202)
  expect(await key.status('GET', `/v1/subscriptions/${own}`)).toBe(200)
  const forged = `arn:aws:sns:us-east-1:000000000000:orders:${other}`
  const queue = 'arn:aws:sqs:us-east-1:000000000000:bills'
  const refused: [method: string, path: string, body?: object][] = [
    ['POST', '/v1/topics/bills/messages', hello],
    ['POST', '/v1/topics/arn:aws:sns:us-east-1:000000000000:bills/messages', hello],
    ['GET', '/v1/topics/bills'],
    ['PUT', '/v1/topics/new'],
    ['PATCH', `/v1/subscriptions/${own}`, { redrivePolicy: { deadLetterTargetArn: 'bills' } }],
    ['POST', '/v1/topics/orders/subscriptions', { endpoint: queue }],
    ['POST', '/v1/topics/orders/subscriptions', { endpoint: 'bills', protocol: 'sqs' }],
    ['POST', '/v1/topics/orders/subscriptions', { endpoint: 'bills', protocol: 'lambda' }],
    ['POST', '/v1/topics/orders/subscriptions', { endpoint: 'bills', protocol: 'firehose' }],
    ['POST', '/v1/topics/orders/subscriptions', { endpoint: device }],
    ['PATCH', `/v1/subscriptions/${ownQueue}`, { endpoint: queue }],
    ['PATCH', `/v1/subscriptions/${ownQueue}`, { endpoint: 'bills' }],
    ['PUT', '/v1/queues/orders/consumers/worker', { url: billing }],
    ['PATCH', '/v1/queues/orders/consumers/worker', { url: billing }],
    ['POST', '/v1/queues/bills/receive', {}],
    ['PATCH', '/v1/queues/orders', { redrivePolicy: { deadLetterTargetArn: queue, maxReceiveCount: 3 } }],
    ['POST', '/v1/redrives', { source: 'bills', dryRun: true }],
    ['POST', '/v1/redrives', { source: 'orders', destination: 'bills', dryRun: true }],
    ['POST', '/v1/delivery-policies/preview', { deliveryPolicy: {}, topic: 'bills' }],
    ['GET', '/v1/keys'],
    ['GET', '/v1/quarantine'],
    ['DELETE', '/v1/quarantine/any'],
    ['GET', '/metrics'],
  ]
  for (const [method, path, body] of refused) {
    expect([method, path, await key.status(method, path, body)]).toEqual([method, path, 403])
  }
  for (const named of [other, arn, forged]) {
    expect(await key.status('DELETE', `/v1/subscriptions/${named}`)).toBe(204)
    expect(await key.status('POST', `/v1/subscriptions/${named}/pause`)).toBe(404)
  }
  expect(await key.status('GET', `/v1/messages/${messageId}`)).toBe(404)
  expect((await admin.call('GET', `/v1/subscriptions/${other}`)).status).toBe(200)
})

test('lists show a key its own', async () => {
  const key = await keyWith(api, ['read'], { prefixes: ['bills'] })
  const names = async (path: string, member: string) =>
    (await key.call('GET', path)).body[member].map((one: { name: string }) => one.name)
  expect(await names('/v1/topics', 'topics')).toEqual(['bills'])
  expect(await names('/v1/queues', 'queues')).toEqual(['bills'])
  const { subscriptions } = (await key.call('GET', '/v1/subscriptions')).body
  expect(new Set(subscriptions.map((one: { topicArn: string }) => one.topicArn))).toEqual(
    new Set(['arn:aws:sns:us-east-1:000000000000:bills']),
  )
})

test('a key of another account has its own things, and others’ only by their policies', async () => {
  const bob = await keyWith(api, ['publish', 'read', 'manage', 'consume'], { account: '222222222222' })
  expect((await bob.call('PUT', '/v1/topics/orders')).body.arn).toBe(
    'arn:aws:sns:us-east-1:222222222222:orders',
  )
  expect((await bob.call('GET', '/v1/topics')).body.topics).toHaveLength(1)
  expect((await bob.call('PUT', '/v1/queues/mine')).body.arn).toBe('arn:aws:sqs:us-east-1:222222222222:mine')
  const arn = 'arn:aws:sns:us-east-1:000000000000:orders'
  const publish = () => bob.status('POST', `/v1/topics/${arn}/messages`, hello)
  expect([await publish(), await bob.status('GET', `/v1/topics/${arn}`)]).toEqual([403, 403])
  const setPolicy = async (Statement: object) => {
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
    await api.deps.topics.update(arn, ({ attributes }) => ({ attributes: { ...attributes, Policy } }))
    api.deps.topicCache.forget(arn)
  }
  const allow = { Effect: 'Allow', Principal: { AWS: '222222222222' }, Action: 'SNS:Publish', Resource: arn }
  await setPolicy(allow)
  expect([await publish(), await bob.status('GET', `/v1/topics/${arn}`)]).toEqual([202, 403])
  await setPolicy([allow, { ...allow, Effect: 'Deny', Principal: '*' }])
  expect([await publish(), await admin.status('POST', '/v1/topics/orders/messages', hello)]).toEqual([
    403, 403,
  ])
  // The owner can still replace the policy.
  expect(await admin.status('PATCH', '/v1/topics/orders', {})).toBe(200)
})

test('a policy that allows a protocol allows no other, however the endpoint’s scheme is written', async () => {
  const carol = await keyWith(api, ['manage'], { account: '333333333333' })
  await carol.call('PUT', '/v1/queues/mine')
  const arn = 'arn:aws:sns:us-east-1:000000000000:orders-eu'
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: {
      Effect: 'Allow',
      Principal: { AWS: '333333333333' },
      Action: 'SNS:Subscribe',
      Resource: arn,
      Condition: { StringEquals: { 'sns:Protocol': 'sqs' } },
    },
  })
  await api.deps.topics.update(arn, ({ attributes }) => ({ attributes: { ...attributes, Policy } }))
  api.deps.topicCache.forget(arn)
  const subscribe = (endpoint: string) =>
    carol.status('POST', `/v1/topics/${arn}/subscriptions`, { endpoint })
  expect(await subscribe('https://carol.example/')).toBe(403)
  expect(await subscribe('HTTPS://carol.example/')).toBe(403)
  expect(await subscribe('arn:aws:sqs:us-east-1:333333333333:mine')).toBe(201)
})

test('a policy that denies endpoints also counts when a subscription moves to one', async () => {
  const arn = 'arn:aws:sns:us-east-1:000000000000:orders-eu'
  const body = { endpoint: 'https://inside.example/' }
  const { id } = (await admin.call('POST', `/v1/topics/${arn}/subscriptions`, { body })).body
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: {
      Effect: 'Deny',
      Principal: '*',
      Action: 'SNS:Subscribe',
      Resource: arn,
      Condition: { StringNotLike: { 'sns:Endpoint': 'https://*.example/*' } },
    },
  })
  await api.deps.topics.update(arn, ({ attributes }) => ({ attributes: { ...attributes, Policy } }))
  api.deps.topicCache.forget(arn)
  const moving = (endpoint: string) => admin.status('PATCH', `/v1/subscriptions/${id}`, { endpoint })
  expect(await moving('https://outside.test/')).toBe(403)
  expect(await moving('https://other.example/')).toBe(200)
  const stranger = await keyWith(api, ['manage'], { prefixes: ['else'] })
  expect(
    await stranger.status('PATCH', `/v1/subscriptions/${id}`, { endpoint: 'https://outside.test/' }),
  ).toBe(404)
})

test('without keys, changes are logged at level debug', async () => {
  const open = await startTestApi()
  try {
    await open.call('PUT', '/v1/topics/audited')
    expect(open.events.filter(({ event }) => event === 'topic.created').length).toBe(1)
    expect(open.events.filter(({ event }) => event === 'audit')).toEqual([])
  } finally {
    await open.stop()
  }
})

test('changes and refusals are logged with their caller, and never a secret', async () => {
  const key = await keyWith(api, ['manage'])
  const from = api.events.length
  await key.call('PUT', '/v1/topics/audited', { headers: { 'X-Request-Id': 'r-1' } })
  const { body: made } = await key.call('POST', '/v1/keys', { body: { name: 'x', scopes: ['manage'] } })
  await key.call('POST', '/v1/keys', { body: { name: 'x', scopes: ['publish'] } })
  await key.call('DELETE', '/v1/topics/nobody')
  await key.call('GET', '/v1/keys')
  await api.call('DELETE', '/v1/topics/audited')
  const lines = api.events.slice(from).filter(({ event }) => event === 'audit')
  const who = { keyId: key.id, account: '000000000000' }
  expect(lines.map(({ fields }) => fields)).toMatchObject([
    {
      ...who,
      action: 'PUT /v1/topics/{topic}',
      resource: { topic: 'audited' },
      result: 'done',
      requestId: 'r-1',
    },
    { ...who, action: 'POST /v1/keys', resource: { id: made.id }, result: 'done', status: 201 },
    { ...who, action: 'POST /v1/keys', result: 'denied', status: 403, code: 'forbidden' },
    {
      ...who,
      action: 'DELETE /v1/topics/{topic}',
      resource: { topic: 'nobody' },
      result: 'done',
      status: 204,
    },
    { keyId: 'anonymous', action: 'DELETE /v1/topics/{topic}', result: 'denied', status: 401 },
  ])
  expect(JSON.stringify(api.events)).not.toContain(made.token.split('_').slice(2).join('_'))
})
