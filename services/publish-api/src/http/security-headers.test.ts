import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp, endpointsOf } from '../server/app.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
})
afterAll(() => api.stop())

const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  'cache-control': expect.any(String),
}

test('every route’s answer has them, and so has what no route takes', async () => {
  const targets = endpointsOf(api.deps).map(
    ({ method, path }) => [method, path.replace(/\{\w+\}/g, 'x')] as const,
  )
  for (const [method, path] of [...targets, ['GET', '/nowhere'], ['DELETE', '/v1/topics']] as const) {
    const { headers } = await api.call(method, path)
    expect([method, path, Object.fromEntries(headers)]).toEqual([
      method,
      path,
      expect.objectContaining(ALWAYS),
    ])
    expect(headers.has('strict-transport-security')).toBe(false)
  }
})

test('only the documentation may run scripts, its own', async () => {
  const policyOf = async (path: string) =>
    (await api.call('GET', path)).headers.get('content-security-policy') ?? ''
  expect(await policyOf('/docs')).toContain("script-src 'self';")
  for (const path of ['/v1/topics', '/healthz', '/', '/nowhere']) {
    expect(await policyOf(path)).toBe("default-src 'none'; frame-ancestors 'none'")
  }
})

test('browsers must stay with TLS if it ends here', async () => {
  const settings = { ...api.deps.settings, tlsCertFile: '/tls/cert.pem' }
  const app = createApp({ ...api.deps, settings })
  for (const path of ['/healthz', '/docs', '/nowhere']) {
    const { headers } = await app.request(path)
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
  }
})
