/** Receipt handles and confirmation tokens cannot be invented, used for another queue, or guessed by many tries. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestApi, type TestApi, waitingIn } from '../fixtures/test-api.fixture.ts'

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

/** Handles of this many messages. They are received ten at a time, and stay hidden from later receives. */
async function receivedMany(queue: string, count: number): Promise<string[]> {
  const handles: string[] = []
  while (handles.length < count) {
    const messages = Array.from({ length: 10 }, (_, i) => ({ body: `${handles.length + i}` }))
    await api.call('POST', `/v1/queues/${queue}/messages`, { body: { messages } })
    const body = { maxMessages: 10, visibilityTimeoutSeconds: 3_600 }
    const taken = await api.call('POST', `/v1/queues/${queue}/receive`, { body })
    for (const { receiptHandle } of taken.body.messages) handles.push(receiptHandle)
  }
  return handles
}

const ack = async (queue: string, receiptHandles: string[]) =>
  (await api.call('POST', `/v1/queues/${queue}/ack`, { body: { receiptHandles } })).body.results
const hide = async (queue: string, receiptHandles: string[]) => {
  const body = { receiptHandles, visibilityTimeoutSeconds: 0 }
  return (await api.call('POST', `/v1/queues/${queue}/visibility`, { body })).body.results
}
const countsOf = async (queue: string) => (await api.call('GET', `/v1/queues/${queue}`)).body.counts

/** The same handle with one bit of its random part changed. */
function forged(handle: string, bit: number): string {
  const bytes = Buffer.from(handle, 'base64url')
  const at = bytes.length - 1 - (bit >> 3)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7))
  return bytes.toString('base64url')
}

test('a handle has 128 random bits that are nowhere else, and what stands in Redis does not give them', async () => {
  const [fifo, seen] = ['mine.fifo', new Set<string>()]
  await api.call('PUT', `/v1/queues/${fifo}`)
  const secretOf = (handle: string) => Buffer.from(handle, 'base64url').subarray(-16)
  const ones = new Array<number>(128).fill(0)
  const receives = 300
  for (const handle of await receivedMany('mine', receives)) {
    const secret = secretOf(handle)
    seen.add(secret.toString('hex'))
    for (let bit = 0; bit < 128; bit++)
      ones[bit] = (ones[bit] ?? 0) + (((secret[bit >> 3] ?? 0) >> (bit & 7)) & 1)
  }
  expect(seen.size).toBe(receives)
  // Each bit is set in half of the handles, within six standard deviations.
  for (const count of ones) expect(Math.abs(count - receives / 2)).toBeLessThan(6 * Math.sqrt(receives / 4))

  const body = { body: 'x', groupId: 'g', deduplicationId: 'd' }
  await api.call('POST', `/v1/queues/${fifo}/messages`, { body })
  const ordered = (await api.call('POST', `/v1/queues/${fifo}/receive`, { body: {} })).body.messages[0]
  const secrets = [secretOf(await received('other')), secretOf(ordered.receiptHandle)]
  const items = (await api.redis.keys('*:i:*')).filter((key) => key.includes(':q:'))
  const kept = await Promise.all(items.map((key) => api.redis.hgetBuffer(key, 'h')))
  expect(kept).toHaveLength(receives + 2)
  for (const secret of secrets) {
    const digest = createHash('sha256').update(secret).digest().subarray(0, 16)
    expect(kept.filter((digestKept) => digestKept?.equals(digest))).toHaveLength(1)
    expect(kept.some((digestKept) => digestKept?.equals(secret))).toBe(false)
  }
})

test('a handle with any bit of its secret changed deletes and shows nothing', async () => {
  const handle = await received('mine')
  const all = Array.from({ length: 128 }, (_, bit) => forged(handle, bit))
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
  for (const handle of await receivedMany('mine', 20)) handles.add(handle.slice(-22))
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
