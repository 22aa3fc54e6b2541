import { MailState, MobilePushState } from '@fantail/store'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'
import { createTestAttempters } from '../../subscriptions/test-attempt.ts'

let api: TestApi
let path = ''
let id = ''
const sent: { headers: Record<string, string>; body: string }[] = []

const sender: Parameters<typeof createTestAttempters>[0]['sender'] = {
  openAhead: () => undefined,
  dial: () => ({ cancel: () => undefined }),
  send: ({ headers, body }, done) => {
    const list = headers as string[]
    const pairs = Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]])
    sent.push({ headers: Object.fromEntries(pairs), body: body.toString() })
    setImmediate(done, { kind: 'response', statusCode: 204, durationMs: 1 })
  },
}
function useVault(vault: TestApi['deps']['vault']) {
  const { queues, clock, sms } = api.deps
  const mail = new MailState(api.redis, { clock, onProblem: () => undefined })
  const mobilePush = new MobilePushState(api.redis, {
    onDisabled: () => undefined,
    publishUpdated: async () => undefined,
  })
  api.deps.vault = vault
  api.deps.attempters = createTestAttempters({
    queues,
    vault,
    clock,
    sender,
    mail,
    sms,
    mobilePush,
    userAgent: undefined,
  })
}

beforeAll(async () => {
  api = await startTestApi()
  useVault(api.deps.vault)
})
beforeEach(async () => {
  await api.redis.flushall()
  await api.call('PUT', '/v1/topics/orders')
  const body = { endpoint: 'https://example.com/' }
  id = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body.id
  path = `/v1/subscriptions/${id}/webhook-keys`
})
afterAll(() => api.stop())

async function tried() {
  await api.call('POST', `/v1/subscriptions/${id}/test`)
  return sent.at(-1) ?? { headers: {}, body: '' }
}

test('a key signs what is sent from then on, and its secret is shown once', async () => {
  const { status, body: made } = await api.call('POST', path)
  expect([status, made]).toEqual([
    201,
    {
      id: expect.any(String),
      algorithm: 'hmac-sha256',
      secret: expect.stringMatching(/^whsec_/),
      createdAt: expect.any(String),
      expiresAt: null,
    },
  ])
  const { headers, body } = await tried()
  expect(new Webhook(made.secret).verify(body, headers)).toMatchObject({ Type: 'Notification' })
  const { secret: _, ...shown } = made
  expect((await api.call('GET', path)).body).toEqual({ webhookKeys: [shown] })
  const stored = (await api.redis.keys('*subs:*')).map((key) => api.redis.hgetall(key))
  expect(JSON.stringify([await Promise.all(stored), api.events])).not.toContain(made.secret)
})

test('rotation signs with both until the overlap is over', async () => {
  const { secret: old } = (await api.call('POST', path)).body
  const { secret: next } = (await api.call('POST', path, { body: { overlapSeconds: 3_600 } })).body
  const { headers, body } = await tried()
  for (const secret of [old, next]) expect(new Webhook(secret).verify(body, headers)).toBeDefined()
  const { webhookKeys } = (await api.call('GET', path)).body
  expect(webhookKeys.map(({ expiresAt }: { expiresAt: string | null }) => expiresAt)).toEqual([
    null,
    expect.any(String),
  ])
  const third = (await api.call('POST', path, { body: { overlapSeconds: 0, algorithm: 'ed25519' } })).body
  expect(third).toMatchObject({ publicKey: expect.stringMatching(/^whpk_/) })
  expect(third.secret).toBeUndefined()
  expect((await tried()).headers['webhook-signature']).toMatch(/^v1a,\S+$/)
})

test('without keys nothing is added', async () => {
  await api.call('POST', path)
  expect((await api.call('DELETE', path)).status).toBe(204)
  expect((await api.call('GET', path)).body).toEqual({ webhookKeys: [] })
  expect(Object.keys((await tried()).headers).filter((name) => name.startsWith('webhook-'))).toEqual([])
})

test('the same secret is one key, and an earlier one becomes the newest again', async () => {
  const give = async (fill: number) => {
    const secret = `whsec_${Buffer.alloc(24, fill).toString('base64')}`
    return (await api.call('POST', path, { body: { secret } })).body
  }
  const ids = async () => {
    const { webhookKeys } = (await api.call('GET', path)).body
    return webhookKeys.map(({ id }: { id: string }) => id)
  }
  const first = await give(1)
  expect(await give(1)).toEqual(first)
  const second = await give(2)
  expect(await ids()).toEqual([second.id, first.id])
  expect(await give(1)).toMatchObject({ id: first.id, expiresAt: null })
  expect(await ids()).toEqual([first.id, second.id])
})

test('svixHeaders adds the headers of Svix, and null removes them', async () => {
  const { secret } = (await api.call('POST', path)).body
  const change = (svixHeaders: unknown) =>
    api.call('PATCH', `/v1/subscriptions/${id}`, { body: { svixHeaders } })
  expect((await change(true)).body.svixHeaders).toBe(true)
  const { headers, body } = await tried()
  for (const part of ['id', 'timestamp', 'signature'])
    expect(headers[`svix-${part}`]).toBe(headers[`webhook-${part}`])
  expect(new Webhook(secret).verify(body, headers)).toBeDefined()
  expect((await change(null)).body.svixHeaders).toBe(false)
  expect(Object.keys((await tried()).headers).filter((name) => name.startsWith('svix-'))).toEqual([])
})

test('a key outlives other changes of its subscription', async () => {
  const { secret } = (await api.call('POST', path)).body
  await api.call('PATCH', `/v1/subscriptions/${id}`, { body: { rawMessageDelivery: true } })
  const { headers, body } = await tried()
  expect(() => new Webhook(secret).verify(JSON.stringify(body), headers)).toThrow()
  expect(
    new Webhook(secret).sign(
      headers['webhook-id'] ?? '',
      new Date(Number(headers['webhook-timestamp']) * 1_000),
      body,
    ),
  ).toBe(headers['webhook-signature'])
})

test.each([
  [{ algorithm: 'md5' }, 400, 'validation_failed'],
  [{ secret: 'hush' }, 400, 'validation_failed'],
  [
    { secret: `whsec_${Buffer.alloc(32).toString('base64')}`, algorithm: 'ed25519' },
    400,
    'validation_failed',
  ],
  [{ overlapSeconds: 604_801 }, 400, 'validation_failed'],
  [{ key: 'x' }, 400, 'validation_failed'],
])('%j is refused', async (body, status, code) => {
  const answer = await api.call('POST', path, { body })
  expect([answer.status, answer.body.error.code]).toEqual([status, code])
  expect((await api.call('GET', path)).body.webhookKeys).toEqual([])
})

test('a subscription that cannot be signed is refused', async () => {
  const queue = 'arn:aws:sqs:us-east-1:000000000000:work'
  await api.call('PUT', '/v1/queues/work')
  const body = { endpoint: queue }
  const { id: ofQueue } = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body
  expect((await api.call('POST', `/v1/subscriptions/${ofQueue}/webhook-keys`)).body.error.code).toBe(
    'wrong_state',
  )
  expect((await api.call('POST', '/v1/subscriptions/nobody/webhook-keys')).status).toBe(404)
  for (let i = 0; i < 5; i++) await api.call('POST', path)
  expect((await api.call('POST', path)).body.error.code).toBe('conflict')
  const { vault } = api.deps
  useVault(undefined)
  expect((await api.call('POST', path)).body.error).toMatchObject({ code: 'not_supported' })
  expect((await api.call('POST', `/v1/subscriptions/${id}/test`)).body.error).toContain(
    'misconfigured: its secrets cannot be used',
  )
  useVault(vault)
})
