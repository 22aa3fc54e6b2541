import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpointsOf } from './app.ts'
import type { Endpoint } from './http/endpoint.ts'
import { startTestApi, type TestApi } from './test-api.ts'

let api: TestApi
let subscriptionId = ''

beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
  await api.call('PUT', '/v1/queues/work')
  const body = { endpoint: 'https://example.com/' }
  subscriptionId = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body.id
})

afterAll(() => api.stop())

/** Member names that mean something somewhere, so that random objects get past the first check. */
const MEMBERS = [
  ...['message', 'messages', 'subject', 'attributes', 'structure', 'type', 'value', 'body', 'delaySeconds'],
  ...['displayName', 'deliveryPolicy', 'healthyRetryPolicy', 'throttlePolicy', 'requestPolicy', 'numRetries'],
  ...['minDelayTarget', 'maxDelayTarget', 'maxReceivesPerSecond', 'headerContentType', 'retentionSeconds'],
  ...[
    'endpoint',
    'protocol',
    'redrivePolicy',
    'deadLetterTargetArn',
    'maxReceiveCount',
    'maxInFlight',
    'confirmation',
  ],
  ...['token', 'topic', 'receiptHandles', 'visibilityTimeoutSeconds', 'maxMessages', 'source', 'destination'],
  ...[
    'filter',
    'subscription',
    'statusCode',
    'since',
    'messageIds',
    'dryRun',
    'maxMessagesPerSecond',
    '__proto__',
    'constructor',
  ],
]
const VALUES = [
  'orders',
  'work',
  'https://example.com/x',
  'arn:aws:sqs:us-east-1:000000000000:work',
  'json',
  'sqs',
  'none',
  '2026-01-01T00:00:00Z',
]

const leaf = fc.oneof(
  fc.constantFrom(...VALUES),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.integer({ min: -2, max: 120 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
)
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...MEMBERS), tie('value'), { maxKeys: 4 }),
  ),
}))
const body = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .dictionary(fc.constantFrom(...MEMBERS), json, { maxKeys: 5 })
      .map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: json.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
)
const pathPart = fc.oneof(
  fc.constantFrom(
    'orders',
    'work',
    'arn:aws:sns:us-east-1:000000000000:orders',
    'arn:aws:sqs:us-east-1:000000000000:work',
    '%',
    '..',
    '.',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).map(encode),
)
const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      'limit',
      'cursor',
      'prefix',
      'topic',
      'endpoint',
      'status',
      'subscription',
      'statusCode',
      'since',
      'raw',
      'subject',
      'source',
      'Action',
      'Token',
      'TopicArn',
      'SubscriptionArn',
    ),
    fc.oneof(
      fc.constantFrom('1', 'true', 'active', 'orders', 'Unsubscribe', 'ConfirmSubscription', 'W10', '%'),
      fc.string({ unit: 'binary', maxLength: 12 }).map(encode),
    ),
  ),
  { maxLength: 3 },
)

/** A long poll may wait for 20 s, which says nothing here. */
const fuzzed = (endpoint: Endpoint) =>
  !endpoint.path.endsWith('/receive') && !endpoint.path.startsWith('/_assets')

test('whatever is sent to whatever route, the answer is no 5xx and has its one shape', {
  timeout: 120_000,
}, async () => {
  const endpoints = endpointsOf(api.deps).filter(fuzzed)
  const request = fc.record({
    endpoint: fc.constantFrom(...endpoints),
    parts: fc.array(pathPart, { minLength: 2, maxLength: 2 }),
    query,
    body,
    known: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ endpoint, parts, query: members, body: sent, known }) => {
      const search = members.map(([name, value]) => `${name}=${value}`).join('&')
      const path = fillPath(endpoint.path, known ? ['orders', subscriptionId] : parts)
      const options =
        endpoint.method === 'GET' ? {} : { body: sent, headers: { 'Content-Type': 'application/json' } }
      const {
        status,
        body: answer,
        text,
        headers,
      } = await api.call(endpoint.method, `${path}${search && `?${search}`}`, options)
      expect(status).toBeLessThan(500)
      expect(headers.get('x-request-id')).toMatch(/^\S+$/)
      if (status < 400) return
      if (endpoint.path === '/' && path === '/') expect(text).toContain('<ErrorResponse')
      else
        expect(answer).toEqual({
          error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }),
          requestId: headers.get('x-request-id'),
        })
    }),
    { numRuns: 4_000 },
  )
  expect(api.events.filter(({ event }) => event === 'request.failed')).toEqual([])
})

test('whatever is asked of a queue that has messages, receiving is no 5xx', async () => {
  await fc.assert(
    fc.asyncProperty(body, async (sent) => {
      const waits = /waitSeconds/.test(sent)
      fc.pre(!waits)
      const options = { body: sent, headers: { 'Content-Type': 'application/json' } }
      expect((await api.call('POST', '/v1/queues/work/receive', options)).status).toBeLessThan(500)
    }),
    { numRuns: 200 },
  )
})

function fillPath(path: string, parts: string[]): string {
  const [first = 'x', second = 'y'] = parts
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'queue' && first === 'orders' ? 'work' : name === 'topic' || name === 'queue' ? first : second,
  )
}

/** Lone surrogates have no percent-encoding. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
