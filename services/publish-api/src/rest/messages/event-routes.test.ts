import type { KeyScope } from '@fantail/contracts'
import { createMessageId } from '@fantail/contracts'
import { waitFor } from '@fantail/test-kit'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'
import { createApp } from '../../server/app.ts'
import type { App } from '../../server/mount.ts'

let api: TestApi
let app: App
let admin: TestKey
const subscriptions = new Map<string, string>()
const open: Stream[] = []

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  app = createApp(api.deps)
  admin = await keyWith(api, ['read', 'manage'])
  for (const topic of ['orders', 'mine-too']) {
    await admin.call('PUT', `/v1/topics/${topic}`)
    const body = { endpoint: `https://user:secret@example.com/${topic}` }
    subscriptions.set(
      topic,
      (await admin.call('POST', `/v1/topics/${topic}/subscriptions`, { body })).body.id,
    )
  }
})
afterEach(async () => {
  for (const stream of open.splice(0)) await stream.reader.cancel()
  await waitFor(async () => (await listening()) === 0, { what: 'no listener' })
})
afterAll(() => api.stop())

const listening = async () => ((await api.redis.call('PUBSUB', 'CHANNELS', 'ft:live:*')) as string[]).length

interface Stream {
  reader: ReadableStreamDefaultReader<Uint8Array>
  text: string
  isEnded: boolean
}

async function request(query: string, key: TestKey, headers: Record<string, string> = {}): Promise<Response> {
  return app.request(`/v1/events?${query}`, { headers: { Authorization: key.authorization, ...headers } })
}

/** Reads the stream as it arrives. `isSlow`: nothing is read until `read` is called. */
async function listen(
  query: string,
  key = admin,
  { isSlow = false, headers = {} }: { isSlow?: boolean; headers?: Record<string, string> } = {},
): Promise<Stream & { read(): void }> {
  const response = await request(query, key, headers)
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read()
      stream.text += decoder.decode(value, { stream: true })
      if (!done) continue
      stream.isEnded = true
      return
    }
  }
  const stream = { reader, text: '', isEnded: false, read: () => void read() }
  open.push(stream)
  if (isSlow) return stream
  stream.read()
  await until(stream, '"live":true')
  return stream
}

const until = (stream: Stream, text: string) =>
  waitFor(() => stream.text.includes(text), { what: `${text} in ${stream.text.slice(-1_000)}` })

async function end(topic: string, count = 1): Promise<string[]> {
  const ids = Array.from({ length: count }, () => createMessageId(Date.now()))
  const ended = { generation: 0, reason: null, attempts: 1, statusCode: 200, error: null }
  const subscriptionId = subscriptions.get(topic) ?? ''
  const lanes = ids.map((messageId) => ({
    messageId,
    subscriptionId,
    outcome: 'delivered' as const,
    ...ended,
  }))
  await api.outcomes.append({ dispatch: [], lanes })
  return ids
}

const dataOf = (stream: Stream, name: string) =>
  [...stream.text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].flatMap(([, event, data = '']) =>
    event === name ? [JSON.parse(data)] : [],
  )

test('a key sees what lists show it, and nothing of other topics', async () => {
  const scopes: KeyScope[] = ['read']
  const bound = await keyWith(api, scopes, { prefixes: ['mine'] })
  const other = await keyWith(api, scopes, { account: '111111111111' })
  const streams = await Promise.all([listen('', bound), listen('', other), listen('')])
  await end('orders')
  const [id = ''] = await end('mine-too')
  await until(streams[0], id)
  await until(streams[2], id)
  expect(dataOf(streams[0], 'delivered')).toMatchObject([
    {
      messageId: id,
      endpoint: 'https://example.com/mine-too',
      topicArn: expect.stringContaining('mine-too'),
    },
  ])
  expect(dataOf(streams[2], 'delivered')).toHaveLength(2)
  expect(streams[1].text).not.toContain('delivered')
  expect(streams[2].text).not.toContain('secret')
  expect((await request('topic=orders', bound)).status).toBe(403)
  expect((await request(`subscription=${subscriptions.get('orders')}`, bound)).status).toBe(404)
  expect((await request(`subscription=${createMessageId(Date.now())}`, admin)).status).toBe(404)
  expect((await request('', await keyWith(api, ['publish']))).status).toBe(403)
})

test('a query that cannot be read is refused by its members', async () => {
  const { body } = await admin.call('GET', '/v1/events?type=attempt,explosion&statusCode=6xx&max=0')
  expect(body.error.details.map(({ path }: { path: string }) => path)).toEqual(['type', 'statusCode', 'max'])
  const headers = { 'Last-Event-ID': 'yesterday' }
  expect((await admin.call('GET', '/v1/events', { headers })).body.error.code).toBe('validation_failed')
  const head = await admin.call('HEAD', '/v1/events')
  expect([head.status, await listening()]).toEqual([200, 0])
})

test('a revoked key loses its stream within two seconds', async () => {
  const key = await keyWith(api, ['read'])
  const stream = await listen('', key)
  expect(await admin.status('DELETE', `/v1/keys/${key.id}`)).toBe(204)
  await waitFor(() => stream.isEnded, { what: 'the end of the stream' })
  expect(dataOf(stream, 'end')).toEqual([{ why: 'revoked' }])
})

test('a topic whose policy denies the key loses its stream', async () => {
  const key = await keyWith(api, ['read'])
  await admin.call('PUT', '/v1/topics/denied')
  const stream = await listen('topic=denied', key)
  const [topic, Action] = ['arn:aws:sns:us-east-1:000000000000:denied', 'SNS:ListSubscriptionsByTopic']
  const Statement = [{ Effect: 'Deny', Principal: '*', Action, Resource: topic }]
  const record = await api.deps.topics.get(topic)
  await api.deps.topics.update(topic, () => ({
    attributes: { ...record?.attributes, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) },
  }))
  await waitFor(() => stream.isEnded, { what: 'the end of the stream' })
})

test('a slow reader gets what is bounded, and then a gap with the number of the others', async () => {
  // This listener makes the process follow the log, so nothing is missed before the slow listener joins.
  await listen('type=delivered')
  const stream = await listen('type=delivered&max=1000', admin, { isSlow: true })
  const sent = 4_000
  for (let n = 0; n < sent / 500; n++) {
    await end('orders', 500)
    // A listener gets at most 1,000 events in a second.
    await new Promise((resolve) => setTimeout(resolve, 600))
  }
  stream.read()
  const counted = () => dataOf(stream, 'gap').reduce((sum, { dropped }) => sum + dropped, 0)
  const all = () => counted() + dataOf(stream, 'delivered').length
  await waitFor(() => all() >= sent, { what: 'all to be shown or counted' })
  expect(all()).toBe(sent)
  expect(dataOf(stream, 'gap').some(({ why }) => why === 'lag')).toBe(true)
  // A thousand events waited, and the connection had taken some more.
  expect(dataOf(stream, 'delivered').length).toBeLessThan(1_400)
})

test('listeners are bounded by key and by process, and make place when they leave', async () => {
  const key = await keyWith(api, ['read'])
  const own = await Promise.all([1, 2, 3, 4, 5].map(() => listen('', key)))
  const refused = await request('', key)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  await own[0]?.reader.cancel()
  await listen('', key)
  for (let n = 0; n < 3; n++) {
    const another = await keyWith(api, ['read'])
    await Promise.all([1, 2, 3, 4, 5].map(() => listen('', another)))
  }
  expect((await request('', admin)).status).toBe(429)
})

test('changes of a topic are announced, and the log says when it no longer has what was missed', async () => {
  const changes = await listen('topic=orders&type=changed')
  await admin.call('PATCH', '/v1/topics/orders', { body: { displayName: 'other' } })
  await until(changes, 'event: changed')
  const before = await listen('type=delivered')
  const [id = ''] = await end('orders')
  await until(before, id)
  const lastId = [...before.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
  await before.reader.cancel()
  for (let n = 0; n < 30; n++) await end('orders', 100)
  const response = await request('type=delivered&max=1000', admin, { 'Last-Event-ID': lastId })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const stream: Stream = { reader, text: '', isEnded: false }
  open.push(stream)
  const decoder = new TextDecoder()
  const counted = () => dataOf(stream, 'gap').reduce((sum, { dropped }) => sum + dropped, 0)
  while (counted() + dataOf(stream, 'delivered').length < 3_000) {
    stream.text += decoder.decode((await reader.read()).value, { stream: true })
  }
  expect(dataOf(stream, 'gap')[0]).toMatchObject({ why: 'trimmed', dropped: expect.any(Number) })
  expect(counted() + dataOf(stream, 'delivered').length).toBe(3_000)
})

test.each([
  ['between pages', `${(1_790_000_000_000).toString(36)}.0.`, '2026-09-21T14:13:20.000Z'],
  ['within the first page', `0.0.~0.${(1_790_000_000_000).toString(36)}.0.1.0`, '2026-09-21T14:13:20.000Z'],
  ['before any page', '0.0.', null],
])('a reconnect %s begins with a gap in the attempts', async (_, id, from) => {
  const stream = await listen('topic=orders&type=attempt', admin, { headers: { 'Last-Event-ID': id } })
  await until(stream, 'event: gap')
  expect(dataOf(stream, 'gap')).toMatchObject([{ why: 'reconnect', dropped: null, from }])
  const first = await listen('topic=orders&type=attempt')
  expect(dataOf(first, 'gap')).toEqual([])
})
