import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { answerTo, FUZZ_TIMEOUT_MS, fuzzRuns } from '../fixtures/fuzzing.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { endpointsOf } from '../server/app.ts'
import type { Endpoint } from './endpoint.ts'

let api: TestApi
let subscriptionId = ''

beforeAll(async () => {
  api = await startTestApi()
  // A long poll would wait for 20 s, which proves nothing here.
  api.deps.queueWaits = { receiveWaiting: (arn, request) => api.deps.queues.receive(arn, request) }
  for (const name of ['orders', 'work']) {
    await api.call('PUT', `/v1/topics/${name}`)
    await api.call('PUT', `/v1/queues/${name}`)
  }
  const body = { endpoint: 'https://example.com/' }
  subscriptionId = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body.id
})

afterAll(() => api.stop())

interface Schema {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  minimum?: number
  maximum?: number
}

const WORDS = [
  'orders',
  'work',
  'https://example.com/x',
  'arn:aws:sqs:us-east-1:000000000000:work',
  'json',
  '{"default":"x"}',
  '2026-01-01T00:00:00Z',
]

/** All routes share it, because each such arbitrary makes a table of all characters. */
const text = fc.string({ unit: 'binary', maxLength: 30 })

const junk = fc.oneof(
  fc.constantFrom(...WORDS),
  text,
  fc.integer({ min: -2, max: 120 }),
  fc.double(),
  fc.constantFrom(null, true, {}, [], { __proto__: null, constructor: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Values close to the schema. Some parts are wrong. */
function near(schema: Schema | boolean | undefined): fc.Arbitrary<unknown> {
  const right = typeof schema === 'object' ? rightly(schema) : junk
  return fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: junk })
}

function rightly(schema: Schema): fc.Arbitrary<unknown> {
  const { anyOf, properties, required = [], items, additionalProperties, minimum = -5, maximum = 50 } = schema
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (anyOf) return fc.oneof(...anyOf.map(near))
  if (properties) {
    const members = Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, near(member)]),
    )
    return fc.record(members, { requiredKeys: required.filter((name) => name in members) })
  }
  if (schema.type === 'object')
    return fc.dictionary(
      fc.constantFrom('a', 'b.c', '.x', 'AWS.y', '__proto__'),
      near(additionalProperties),
      { maxKeys: 3 },
    )
  if (schema.type === 'array') return fc.array(near(items), { maxLength: 4 })
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'null') return fc.constant(null)
  if (schema.type === 'number') {
    const least = Math.max(minimum, -5)
    return fc.double({ min: least, max: Math.min(maximum, least + 10_000), noNaN: true })
  }
  if (schema.type === 'integer') {
    const least = Math.max(minimum, -5)
    return fc.integer({ min: least, max: Math.min(maximum, least + 10_000) })
  }
  return schema.type === 'string' ? fc.oneof(fc.constantFrom(...WORDS), text) : junk
}

const jsonSchema = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema

function bodyFor({ body }: Endpoint): fc.Arbitrary<string> {
  const nearly = body ? near(jsonSchema(body)) : fc.constant({})
  return fc.oneof(
    { weight: 12, arbitrary: nearly.map((value) => JSON.stringify(value) ?? '') },
    { weight: 1, arbitrary: text },
  )
}

const encoded = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 20 })
  .map((text) => encodeURIComponent(text.toWellFormed()))

function queryFor({ query }: Endpoint): fc.Arbitrary<string> {
  const names = Object.keys((query && jsonSchema(query).properties) ?? {})
  if (names.length === 0) return fc.oneof({ weight: 9, arbitrary: fc.constant('') }, encoded)
  const value = fc.oneof(
    fc.constantFrom('1', '7', 'true', 'active', 'running', 'orders', 'W10', '%', '404'),
    encoded,
  )
  const member = fc.tuple(fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...names) }, encoded), value)
  return fc
    .uniqueArray(member, { maxLength: 3, selector: ([name]) => name })
    .map((members) => members.map((pair) => pair.join('=')).join('&'))
}

/** An existing resource, a missing one, or a random text. Deletions spare resources that other cases need. */
function pathFor({ path, method }: Endpoint): fc.Arbitrary<string> {
  const lasting =
    method === 'DELETE'
      ? ['doomed']
      : [
          'orders',
          'work',
          'arn:aws:sns:us-east-1:000000000000:orders',
          'arn:aws:sqs:us-east-1:000000000000:work',
        ]
  const part = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('id', ...lasting) },
    fc.constantFrom('%', '..', 'doomed'),
    encoded,
  )
  // Two parts `..` in a row lead to `/`, where Amazon's protocols answer in XML.
  const leavesApi = (parts: string[]) => parts.every((text) => text === '..')
  const twoParts = fc.array(part, { minLength: 2, maxLength: 2 }).filter((parts) => !leavesApi(parts))
  return twoParts.map((parts) => {
    const id = method === 'DELETE' ? '000b1478-1b20-8eb5-9000-0abada1c0c5f' : subscriptionId
    let next = 0
    return path.replace(/\{\w+\}/g, () => (parts[next++] ?? 'x').replace(/^id$/, id))
  })
}

test('any request to any route gets no 5xx, and an answer of its shape', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  const reached = new Set<string>()
  const endpoints = endpointsOf(api.deps)
  for (const endpoint of endpoints) {
    // Amazon's protocols have their own tests: aws/sns/sns-fuzz.test.ts, aws/sqs/sqs-fuzz.test.ts.
    if (endpoint.path.startsWith('/_assets') || endpoint.tag === 'AWS') continue
    const request = fc.record({ path: pathFor(endpoint), query: queryFor(endpoint), body: bodyFor(endpoint) })
    const send = async ({ path, query, body }: { path: string; query: string; body: string }) => {
      const options =
        endpoint.method === 'GET' ? {} : { body, headers: { 'Content-Type': 'application/json' } }
      const {
        status,
        body: answer,
        headers,
      } = await answerTo(`${endpoint.method} ${path}`, () =>
        api.call(endpoint.method, query ? `${path}?${query}` : path, options),
      )
      // If the machine stalls for a second, `/readyz` may say that the service is not ready.
      if (path !== '/readyz') expect(status).toBeLessThan(500)
      expect(headers.get('x-request-id')).toMatch(/^\S+$/)
      if (status < 300) reached.add(`${endpoint.method} ${endpoint.path}`)
      if (status < 400) return
      // Pages describe errors in HTML.
      if (endpoint.answers[status]?.contentType === 'text/html') {
        expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
        return
      }
      expect(answer).toEqual({
        error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }),
        requestId: headers.get('x-request-id'),
      })
    }
    await fc.assert(fc.asyncProperty(request, send), { numRuns: fuzzRuns(20, 0.45 / endpoints.length) })
  }
  expect(api.events.filter(({ event }) => event === 'request.failed')).toEqual([])
  // Enough calls must succeed. Input that always fails the first check would prove little.
  expect(reached.size).toBeGreaterThan(25)
})
