import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ZodObject } from 'zod'
import { answerTo } from '../fixtures/fuzzing.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { endpointsOf } from '../server/app.ts'

let api: TestApi
/** Values for the parts of paths. */
const names: Record<string, string> = {
  topic: 'orders',
  queue: 'work',
  messageId: 'none',
  account: '000000000000',
  platform: 'GCM',
  // A certificate's name.
  name: '0'.repeat(32),
}

beforeAll(async () => {
  api = await startTestApi()
  const { call } = api
  // Pages of this server send every request, so that a login reads its input too.
  api.call = (method, path, given = {}) => {
    const headers = { 'Sec-Fetch-Site': 'same-origin', ...given.headers }
    return answerTo(`${method} ${path}`, () => call(method, path, { ...given, headers }))
  }
  await api.call('PUT', '/v1/topics/orders')
  await api.call('PUT', '/v1/queues/work')
  const body = { endpoint: 'https://example.com/' }
  names.id = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body.id
})

afterAll(() => api.stop())

const headers = { 'Content-Type': 'application/json' }

const fill = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? name)
const withBody = () => endpointsOf(api.deps).filter(({ body }) => body !== undefined)

test('every route that takes JSON refuses other bodies and other content types', async () => {
  for (const { method, path } of withBody()) {
    const broken = await api.call(method, fill(path), { body: '{"a":', headers })
    expect([path, broken.body.error.code]).toEqual([path, 'malformed_json'])
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      const other = await api.call(method, fill(path), { body: '{}', headers: { 'Content-Type': type } })
      expect([path, other.status, other.body.error.code]).toEqual([path, 415, 'unsupported_media_type'])
    }
    const bytes = await api.call(method, fill(path), { body: new Uint8Array([34, 255, 34]), headers })
    expect([path, bytes.body.error.code]).toEqual([path, 'malformed_json'])
  }
})

test('every route that takes JSON refuses other values than objects, unknown members and bodies over 1 MiB', async () => {
  const tooLarge = JSON.stringify({ surprise: 'x'.repeat(1_048_576) })
  for (const { method, path } of withBody()) {
    for (const body of ['[]', '"text"', '1', 'null']) {
      const answer = await api.call(method, fill(path), { body, headers })
      expect([path, body, answer.body.error.code]).toEqual([path, body, 'validation_failed'])
    }
    const unknown = await api.call(method, fill(path), { body: { surprise: 1 } })
    expect([path, unknown.body.error.details]).toEqual([
      path,
      expect.arrayContaining([{ path: 'surprise', message: 'is not a known member' }]),
    ])
    const large = await api.call(method, fill(path), { body: tooLarge, headers })
    expect([path, large.status]).toEqual([path, 413])
  }
})

test('every route that takes JSON bounds its nesting, its values, and what a refusal says', async () => {
  const members = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, i])))
  const deep = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`
  const [tooMany, manyUnknown] = [members(12_000), members(4_000)]
  const isPublic = (path: string) => path.endsWith('/session')
  for (const { method, path } of withBody()) {
    const refused = async (body: unknown) => {
      const { status, text, body: answer } = await api.call(method, fill(path), { body, headers })
      return { status, bytes: text.length, ...answer.error }
    }
    const nested = await refused(deep)
    const many = await refused(tooMany)
    if (isPublic(path)) {
      expect([path, nested.status, many.status]).toEqual([path, 413, 413])
      expect((await refused({ a: 'x'.repeat(4_096) })).message).toContain('at most 4096 bytes')
    } else {
      expect([path, nested.status, nested.code]).toEqual([path, 400, 'malformed_json'])
      expect([path, many.status, many.message]).toEqual([path, 400, 'JSON may have at most 10000 values'])
    }
    const unknown = await refused(isPublic(path) ? members(300) : manyUnknown)
    expect([path, unknown.details.length]).toEqual([path, 50])
    expect(unknown.message).toMatch(/; and \d+ more$/)
    const long = await refused({ ['x'.repeat(isPublic(path) ? 4_000 : 50_000)]: 1 })
    expect([path, long.status, long.bytes < 4_096]).toEqual([path, 400, true])
  }
})

test('every route refuses unknown, doubled and out-of-range members of its query', async () => {
  for (const { method, path, query, queryIs } of endpointsOf(api.deps)) {
    if (queryIs === 'own') continue
    const unknown = await api.call(method, `${fill(path)}?surprise=1`, method === 'GET' ? {} : { body: {} })
    expect([method, path, unknown.body.error.details]).toEqual([
      method,
      path,
      expect.arrayContaining([{ path: 'surprise', message: 'is not a known member' }]),
    ])
    if (!query || method !== 'GET') continue
    const members = Object.keys((query as ZodObject).shape)
    const isList = members.includes('limit')
    const member = isList ? 'limit' : (members[0] ?? '')
    const doubled = await api.call(method, `${fill(path)}?${member}=1&${member}=2`)
    expect(doubled.body.error.details?.[0]).toEqual({ path: member, message: 'is given more than once' })
    if (!isList) continue
    for (const limit of ['0', '101', '-1', '1.5', 'x', '']) {
      expect([limit, (await api.call(method, `${fill(path)}?limit=${limit}`)).body.error.code]).toEqual([
        limit,
        'validation_failed',
      ])
    }
    // The list of a portal session, whose tests try its cursors. Nobody else may read it.
    if (path.startsWith('/v1/portal/')) continue
    const cursor = await api.call(method, `${fill(path)}?cursor=nonsense`)
    const wrong = cursor.body.error.details?.map((problem: { path: string }) => problem.path)
    expect([path, wrong]).toEqual([path, expect.arrayContaining(['cursor'])])
  }
})

test('every path answers other methods with 405 and what it takes', async () => {
  const byPath = Map.groupBy(endpointsOf(api.deps), ({ path }) => path)
  for (const [path, endpoints] of byPath) {
    const taken = endpoints.map(({ method }) => method as string)
    for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS'].filter(
      (one) => !taken.includes(one),
    )) {
      const { status, body, headers } = await api.call(method, fill(path))
      expect([path, method, status, body.error.code]).toEqual([path, method, 405, 'method_not_allowed'])
      expect(
        headers
          .get('allow')
          ?.split(', ')
          .filter((one) => one !== 'HEAD')
          .sort(),
      ).toEqual(taken.sort())
    }
  }
})

test('paths that nothing is at are 404; names that nothing can have are 400', async () => {
  for (const path of [
    '/nothing',
    '/v1',
    '/v1/topics/',
    '/v1/topics/a/b',
    '/v1/subscriptions/a/b',
    '/docs/x',
    '/v2/topics',
  ]) {
    expect([path, (await api.call('GET', path)).body.error.code]).toEqual([path, 'not_found'])
  }
  for (const name of [
    'a%20b',
    'a.b',
    'x'.repeat(257),
    'arn:aws:sqs:us-east-1:000000000000:orders',
    '%E0%A4%A',
    '%00',
  ]) {
    expect([name, (await api.call('PUT', `/v1/topics/${name}`)).body.error.code]).toEqual([
      name,
      'validation_failed',
    ])
  }
  for (const name of ['a%20b', 'x'.repeat(81), 'arn:aws:sns:us-east-1:000000000000:orders']) {
    expect([name, (await api.call('PUT', `/v1/queues/${name}`)).body.error.code]).toEqual([
      name,
      'validation_failed',
    ])
  }
})

const CASES: [method: string, path: string, body: unknown, paths: string[]][] = [
  ['PUT', '/v1/topics/orders', { displayName: 'x'.repeat(101) }, ['displayName']],
  ['PUT', '/v1/topics/orders', { disableSubscriptionOverrides: 'yes' }, ['disableSubscriptionOverrides']],
  ['PUT', '/v1/topics/orders', { retentionSeconds: 59 }, ['retentionSeconds']],
  [
    'PATCH',
    '/v1/topics/orders',
    { retentionSeconds: 1_209_601, displayName: 5 },
    ['displayName', 'retentionSeconds'],
  ],
  ['PATCH', '/v1/topics/orders', { deliveryPolicy: [] }, ['deliveryPolicy']],
  ['POST', '/v1/topics/orders/subscriptions', {}, ['endpoint']],
  ['POST', '/v1/topics/orders/subscriptions', { endpoint: '' }, ['endpoint']],
  [
    'POST',
    '/v1/topics/orders/subscriptions',
    { endpoint: 1, protocol: 'smtp', maxInFlight: 0, confirmation: 'maybe' },
    ['endpoint', 'protocol', 'confirmation', 'maxInFlight'],
  ],
  [
    'POST',
    '/v1/topics/orders/subscriptions',
    { endpoint: 'https://a.example', maxInFlight: 257, rawMessageDelivery: 1 },
    ['rawMessageDelivery', 'maxInFlight'],
  ],
  [
    'POST',
    '/v1/topics/orders/subscriptions',
    { endpoint: 'https://a.example', redrivePolicy: { deadLetterTargetArn: 'a b' } },
    ['redrivePolicy.deadLetterTargetArn'],
  ],
  [
    'POST',
    '/v1/topics/orders/subscriptions',
    { endpoint: 'https://a.example', redrivePolicy: { maxReceiveCount: 1 } },
    ['redrivePolicy.maxReceiveCount'],
  ],
  [
    'POST',
    '/v1/topics/orders/subscriptions',
    { endpoint: 'arn:aws:sqs:us-east-1:000000000000:q', confirmation: 'handshake' },
    ['confirmation'],
  ],
  ['POST', '/v1/subscriptions/{id}/confirm', {}, ['token']],
  ['POST', '/v1/subscriptions/{id}/retry', { maxPerSecond: 0 }, ['maxPerSecond']],
  ['POST', '/v1/delivery-policies/preview', {}, ['deliveryPolicy']],
  [
    'POST',
    '/v1/delivery-policies/preview',
    {
      deliveryPolicy: {
        healthyRetryPolicy: { minDelayTarget: 604800, maxDelayTarget: 604800, numRetries: 3 },
      },
    },
    ['deliveryPolicy.healthyRetryPolicy'],
  ],
  [
    'PUT',
    '/v1/queues/work',
    { visibilityTimeoutSeconds: 43_201, retentionSeconds: 59, delaySeconds: -1, receiveWaitSeconds: 21 },
    ['visibilityTimeoutSeconds', 'retentionSeconds', 'delaySeconds', 'receiveWaitSeconds'],
  ],
  [
    'PUT',
    '/v1/queues/work',
    { redrivePolicy: { deadLetterTargetArn: 'dlq', maxReceiveCount: 1_001 } },
    ['redrivePolicy.maxReceiveCount'],
  ],
  [
    'PUT',
    '/v1/queues/work',
    { redrivePolicy: { deadLetterTargetArn: 'no-such-queue', maxReceiveCount: 3 } },
    ['redrivePolicy.deadLetterTargetArn'],
  ],
  ['POST', '/v1/queues/work/messages', { body: 'a\u0000b' }, ['body']],
  [
    'POST',
    '/v1/queues/work/messages',
    { body: 'x', attributes: { 'a..b': '' } },
    ['attributes.a..b', 'attributes.a..b'],
  ],
  ['POST', '/v1/queues/work/messages', { messages: [] }, ['messages']],
  [
    'POST',
    '/v1/queues/work/receive',
    { maxMessages: 11, waitSeconds: 21, visibilityTimeoutSeconds: -1 },
    ['maxMessages', 'waitSeconds', 'visibilityTimeoutSeconds'],
  ],
  ['POST', '/v1/queues/work/ack', { receiptHandles: [] }, ['receiptHandles']],
  [
    'POST',
    '/v1/queues/work/ack',
    { receiptHandles: Array.from({ length: 101 }, () => 'x') },
    ['receiptHandles'],
  ],
  [
    'POST',
    '/v1/queues/work/visibility',
    { receiptHandles: [''], visibilityTimeoutSeconds: 43_201 },
    ['receiptHandles[0]', 'visibilityTimeoutSeconds'],
  ],
  ['GET', '/v1/queues/work/messages?statusCode=99&since=yesterday', undefined, ['since', 'statusCode']],
  ['GET', '/v1/queues/work/messages?subscription=nobody', undefined, ['subscription']],
  ['GET', '/v1/subscriptions?status=gone&topic=a', undefined, ['status']],
  ['GET', '/v1/subscriptions?topic=a%20b', undefined, ['topic']],
  ['POST', '/v1/redrives', {}, ['source']],
  ['POST', '/v1/redrives', { source: 'a b' }, ['source']],
  ['POST', '/v1/redrives', { source: 'work', destination: 'a b' }, ['destination']],
  [
    'POST',
    '/v1/redrives',
    {
      source: 'work',
      maxMessagesPerSecond: 0,
      dryRun: 'yes',
      filter: { statusCode: 1, since: 5, messageIds: [] },
    },
    ['maxMessagesPerSecond', 'filter.since', 'filter.statusCode', 'filter.messageIds', 'dryRun'],
  ],
  ['PATCH', '/v1/redrives/{id}', { maxMessagesPerSecond: -1 }, ['maxMessagesPerSecond']],
  ['GET', '/v1/redrives?status=odd', undefined, ['status']],
]

test.each(CASES)('%s %s %j names what is wrong', async (method, path, body, paths) => {
  const { status, body: answer } = await api.call(method, fill(path), body === undefined ? {} : { body })
  expect([status, answer.error.code]).toEqual([400, 'validation_failed'])
  expect(answer.error.details.map(({ path: where }: { path: string }) => where)).toEqual(paths)
})

test('an Idempotency-Key must be 1 to 255 visible characters', async () => {
  for (const key of ['', 'a b', 'x'.repeat(256)]) {
    const answer = await api.call('POST', '/v1/topics/orders/messages', {
      body: { message: 'x' },
      headers: { 'Idempotency-Key': key },
    })
    expect(answer.body.error.details).toMatchObject([{ path: 'Idempotency-Key' }])
  }
})

test('raw publishing refuses what is empty or no text, and takes a subject only by its rules', async () => {
  const path = '/v1/topics/orders/messages'
  expect((await api.call('POST', `${path}?raw=true`)).body.error.details).toMatchObject([{ path: 'message' }])
  expect((await api.call('POST', `${path}?raw=true`, { body: new Uint8Array([255, 254]) })).status).toBe(400)
  for (const query of ['raw=true&subject=', 'raw=true&subject=a%0Ab', 'raw=yes', 'subject=x']) {
    expect([query, (await api.call('POST', `${path}?${query}`, { body: { message: 'x' } })).status]).toEqual([
      query,
      400,
    ])
  }
})

test('an incoming X-Request-Id is kept where it is sane', async () => {
  const kept = await api.call('GET', '/healthz', { headers: { 'X-Request-Id': 'abc-1.2:3' } })
  expect(kept.headers.get('x-request-id')).toBe('abc-1.2:3')
  const replaced = await api.call('GET', '/nothing', { headers: { 'X-Request-Id': 'a b <script>' } })
  expect(replaced.body.requestId).toMatch(/^[0-9a-f-]{36}$/)
  expect(replaced.headers.get('x-request-id')).toBe(replaced.body.requestId)
})
