/** Receipt handles and confirmation tokens cannot be made up, carried over or worn down. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestApi, type TestApi, waitingIn } from '../test-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  await api.redis.flushall()
  await api.call('PUT', '/v1/queues/mine')
  await api.call('PUT', '/v1/queues/other')
})
afterAll(() => api.stop())

async function received(queue: string): Promise<string> {
  await api.call('POST', `/v1/queues/${queue}/messages`, { body: { body: `in ${queue}` } })
  const { body } = await api.call('POST', `/v1/queues/${queue}/receive`, { body: {} })
  return body.messages[0].receiptHandle
}

const ack = async (queue: string, receiptHandles: string[]) =>
  (await api.call('POST', `/v1/queues/${queue}/ack`, { body: { receiptHandles } })).body.results
const hide = async (queue: string, receiptHandles: string[]) => {
  const body = { receiptHandles, visibilityTimeoutSeconds: 0 }
  return (await api.call('POST', `/v1/queues/${queue}/visibility`, { body })).body.results
}
const countsOf = async (queue: string) => (await api.call('GET', `/v1/queues/${queue}`)).body.counts

/** The same place, with one bit of the part that is random changed. */
function forged(handle: string, bit: number): string {
  const bytes = Buffer.from(handle, 'base64url')
  const at = bytes.length - 1 - (bit >> 3)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7))
  return bytes.toString('base64url')
}

test('a handle with any bit of its secret changed deletes and shows nothing', async () => {
  const handle = await received('mine')
  const all = Array.from({ length: 96 }, (_, bit) => forged(handle, bit))
  await ack('mine', all)
  await hide('mine', all)
  expect(await countsOf('mine')).toEqual({ visible: 0, inFlight: 1, delayed: 0 })
  await ack('mine', [handle])
  expect(await countsOf('mine')).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
})

test('a handle of another queue changes nothing in either', async () => {
  const [mine, other] = [await received('mine'), await received('other')]
  const invalid = { ok: false, error: 'invalid_receipt_handle' }
  expect([await ack('mine', [other]), await hide('other', [mine])]).toEqual([[invalid], [invalid]])
  for (const queue of ['mine', 'other']) expect((await countsOf(queue)).inFlight).toBe(1)
})

test('handles and tokens share nothing that could be guessed from others', async () => {
  const handles = new Set<string>()
  for (let i = 0; i < 20; i++) handles.add((await received('mine')).slice(-16))
  expect(handles.size).toBe(20)
  await api.call('PUT', '/v1/topics/orders')
  const tokens = await Promise.all([1, 2].map((n) => pendingToken(`https://example.com/${n}`)))
  const [first = '', second = ''] = tokens.map(({ token }) => token)
  expect(first).toMatch(/^[0-9a-f]{288}$/)
  const same = [...first.slice(15)].filter((digit, i) => digit === second[15 + i]).length
  // A sixteenth by chance.
  expect(same).toBeLessThan(60)
})

test('a token that differs in its last digit, or is another subscription’s, confirms nothing', async () => {
  await api.call('PUT', '/v1/topics/orders')
  const [a, b] = [await pendingToken('https://example.com/a'), await pendingToken('https://example.com/b')]
  const last = a.token.endsWith('0') ? '1' : '0'
  for (const token of [`${a.token.slice(0, -1)}${last}`, b.token, a.token.slice(0, -1), `${a.token}0`, '']) {
    expect((await api.call('POST', `/v1/subscriptions/${a.id}/confirm`, { body: { token } })).status).toBe(
      400,
    )
    const link = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn: a.topicArn, Token: token })
    if (token !== b.token) expect((await api.call('GET', `/?${link}`)).status).toBe(400)
  }
  expect((await api.call('GET', `/v1/subscriptions/${a.id}`)).body.status).toBe('pending')
  expect(
    (await api.call('POST', `/v1/subscriptions/${a.id}/confirm`, { body: { token: a.token } })).status,
  ).toBe(200)
})

async function pendingToken(endpoint: string): Promise<{ id: string; topicArn: string; token: string }> {
  const body = { endpoint, confirmation: 'handshake' }
  const { id, topicArn } = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body
  const [message] = await waitingIn(api, id)
  return { id, topicArn, token: message?.token ?? '' }
}
