/** Random credentials never give access and never break the API. Real keys are used in between. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerTo, FUZZ_TIMEOUT_MS, fuzzRuns } from '../fixtures/fuzzing.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { endpointsOf } from '../server/app.ts'
import { keyWith } from './keys.fixture.ts'

let api: TestApi
let id = ''

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  id = (await keyWith(api, ['manage'])).id
})
afterAll(() => api.stop())

const OPEN = /^\/(healthz|readyz|docs|openapi\.json|_assets\/.*|SimpleNotification.*)$/

/** Any header value that HTTP allows. */
const text = (maxLength: number) =>
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    maxLength,
  })
const base64url = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'))

function authorization(): fc.Arbitrary<string> {
  const scope = fc.tuple(
    text(12),
    text(8),
    fc.constantFrom('sns', 'sqs', 'x'),
    fc.constantFrom('aws4_request', ''),
  )
  return fc.oneof(
    text(80),
    text(60).map((rest) => `Bearer ${rest}`),
    base64url.map((secret) => `Bearer ft_${id}_${secret}`),
    base64url.map((secret) => `Bearer ft_FKAAAAAAAAAAAAAAAAAA_${secret}`),
    fc
      .tuple(scope, text(64))
      .map(
        ([[key, date, service, end], signature]) =>
          `AWS4-HMAC-SHA256 Credential=${key}/${date}/us-east-1/${service}/${end}, SignedHeaders=host, Signature=${signature}`,
      ),
    text(80).map((rest) => `AWS4-HMAC-SHA256 ${rest}`),
  )
}

test('with any Authorization header only public routes answer, and never with a 5xx', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  const endpoints = endpointsOf(api.deps).map(({ method, path }) => ({
    method,
    path: path.replace('{account}', '000000000000').replace(/\{\w+\}/g, 'orders'),
  }))
  const cases = fc.record({
    endpoint: fc.constantFrom(...endpoints),
    Authorization: authorization(),
    action: fc.constantFrom('Publish', 'ListTopics', 'CreateQueue', 'SendMessage', '', '{'),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ endpoint, Authorization, action }) => {
      const { method, path } = endpoint
      const headers: Record<string, string> = { Authorization }
      if (method !== 'GET') headers['Content-Type'] = 'application/x-www-form-urlencoded'
      const options = method === 'GET' ? { headers } : { headers, body: `Action=${action}` }
      const { status } = await answerTo(`${method} ${path}`, () => api.call(method, path, options))
      // If the machine stalls for a second, `/readyz` may say that the service is not ready.
      if (path !== '/readyz') expect(status).toBeLessThan(500)
      if (!OPEN.test(path)) expect([method, path, status >= 400]).toEqual([method, path, true])
    }),
    { numRuns: fuzzRuns(600, 0.1) },
  )
  expect(api.events.filter(({ event }) => event === 'request.failed')).toEqual([])
  expect(await api.redis.keys('*topic:*')).toEqual([])
})
