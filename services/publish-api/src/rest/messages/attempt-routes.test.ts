import { AttemptStore } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
let admin: TestKey
let id: string
const AT = Date.UTC(2026, 10, 21, 9, 30)
const [MESSAGE, OTHER] = ['0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21', '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e22']

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'bodies'])
  await admin.call('PUT', '/v1/topics/orders')
  const body = { endpoint: 'https://example.com/hook' }
  id = (await admin.call('POST', '/v1/topics/orders/subscriptions', { body })).body.id
  const made = { messageId: MESSAGE, path: 'lane', durationMs: 24, decision: 'retry' } as const
  const records = [
    {
      ...made,
      attempt: 1,
      phase: 'first',
      dueAt: AT,
      startedAt: AT + 4,
      statusCode: 503,
      nextAt: AT + 5_028,
    },
    {
      ...made,
      attempt: 2,
      phase: 'backoff',
      cause: 'backoff',
      delayMs: 5_000,
      waitedFor: 'throttle',
      startedAt: AT + 5_228,
      statusCode: 500,
      headers: { 'content-type': 'text/plain' },
      body: 'top secret',
      decision: 'dead',
      nextCause: 'retriesExhausted',
      leftOut: 7,
    },
    { ...made, messageId: OTHER, attempt: 1, phase: 'first', startedAt: AT + 6_000, error: 'timeout' },
  ]
  const shares = [{ subscription: id, records: records.map((record) => JSON.stringify(record)) }]
  await new AttemptStore(api.redis).add({ now: AT, bytesMax: 100_000, shares })
})
afterAll(() => api.stop())

const ofSubscription = () => `/v1/subscriptions/${id}/attempts`
const ofDelivery = (message: string) => `/v1/messages/${message}/deliveries/${id}/attempts`

test('attempts of a subscription come newest first, each with its wait and what followed', async () => {
  const { status, body } = await admin.call('GET', ofSubscription())
  expect([status, body.recording, body.bodies]).toEqual([200, 'failures', 'shown'])
  expect(body.keptSince).toBe(new Date(AT + 4).toISOString())
  expect(
    body.attempts.map(({ messageId, attempt }: { messageId: string; attempt: number }) => [
      messageId,
      attempt,
    ]),
  ).toEqual([
    [OTHER, 1],
    [MESSAGE, 2],
    [MESSAGE, 1],
  ])
  expect(body.attempts[1]).toEqual({
    messageId: MESSAGE,
    redrives: 0,
    attempt: 2,
    phase: 'backoff',
    path: 'lane',
    dueAt: new Date(AT + 5_028).toISOString(),
    startedAt: new Date(AT + 5_228).toISOString(),
    durationMs: 24,
    cause: 'backoff',
    delayMs: 5_000,
    waited: { ms: 200, cause: 'throttle' },
    statusCode: 500,
    error: null,
    detail: null,
    stage: null,
    responseHeaders: { 'content-type': 'text/plain' },
    responseBody: 'top secret',
    next: { decision: 'dead', at: null, cause: 'retriesExhausted' },
    leftOut: 7,
  })
  expect(body.attempts[2]).toMatchObject({ waited: { ms: 4, cause: null }, next: { decision: 'retry' } })
  expect(body.attempts[0]).toMatchObject({ dueAt: null, waited: null, error: 'timeout' })
})

test('attempts of a delivery are those of its message', async () => {
  const { body } = await admin.call('GET', ofDelivery(MESSAGE))
  expect(body.attempts.map(({ attempt }: { attempt: number }) => attempt)).toEqual([2, 1])
  const none = await admin.call('GET', ofDelivery('0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e23'))
  expect([none.status, none.body.attempts]).toEqual([200, []])
})

test('a key without the scope sees no body, and one for other names sees nothing', async () => {
  const reader = await keyWith(api, ['read'])
  for (const path of [ofSubscription(), ofDelivery(MESSAGE)]) {
    const { body, text } = await reader.call('GET', path)
    expect([body.bodies, body.attempts.length > 0, text.includes('secret')]).toEqual([
      'withheld',
      true,
      false,
    ])
    expect(await (await keyWith(api, ['publish'])).status('GET', path)).toBe(403)
    expect(await (await keyWith(api, ['read'], { prefixes: ['other'] })).status('GET', path)).toBe(404)
  }
})

test('unknown subscriptions and messages answer 404', async () => {
  const unknown = `${id.slice(0, -6)}000000`
  expect(await admin.status('GET', `/v1/subscriptions/${unknown}/attempts`)).toBe(404)
  expect(await admin.status('GET', ofDelivery('nothing'))).toBe(404)
})

test('the topic’s setting is changed, shown and reset', async () => {
  const patched = await admin.call('PATCH', '/v1/topics/orders', { body: { recordAttempts: 'all' } })
  expect(patched.body.recordAttempts).toBe('all')
  expect((await admin.call('GET', ofSubscription())).body.recording).toBe('all')
  const reset = await admin.call('PATCH', '/v1/topics/orders', { body: { recordAttempts: null } })
  expect(reset.body.recordAttempts).toBe('failures')
  expect(await admin.status('PATCH', '/v1/topics/orders', { recordAttempts: 'some' })).toBe(400)
})
