import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyWith } from '../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp } from '../server/app.ts'

const LISTED = 'https://app.example.com'
const OTHER = 'https://app.example.org'

describe.each([true, false])('auth %s', (auth) => {
  let api: TestApi
  let authorization: Record<string, string>
  beforeAll(async () => {
    api = await startTestApi({ auth })
    const key = auth ? await keyWith(api, ['read']) : undefined
    authorization = key ? { authorization: key.authorization } : {}
  })
  afterAll(() => api.stop())

  function ask(method: string, path: string, headers: Record<string, string>, corsOrigins?: string[]) {
    const app = createApp({ ...api.deps, settings: { ...api.deps.settings, corsOrigins } })
    return app.request(path, { method, headers })
  }

  const asking = (origin: string) => ({
    origin,
    'sec-fetch-site': 'cross-site',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,idempotency-key',
  })

  test('a listed origin may ask, with a key and without cookies', async () => {
    const asked = await ask('OPTIONS', '/v1/topics', asking(LISTED), [LISTED])
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, LISTED])
    expect(asked.headers.get('access-control-allow-headers')).toMatch(/Authorization.*Idempotency-Key/)
    expect(asked.headers.get('access-control-allow-credentials')).toBeNull()
    const page = { origin: LISTED, 'sec-fetch-site': 'cross-site' }
    const answered = await ask('GET', '/v1/topics', { ...authorization, ...page }, [LISTED])
    expect([answered.status, answered.headers.get('access-control-allow-origin')]).toEqual([200, LISTED])
    expect(answered.headers.get('vary')).toContain('Origin')
    const refused = await ask('GET', '/v1/topics/none', { ...authorization, ...page }, [LISTED])
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([404, LISTED])
  })

  test.each([[OTHER], ['null'], ['https://app.example.com.evil.example'], ['http://app.example.com']])(
    '%s is not listed',
    async (origin) => {
      const asked = await ask('OPTIONS', '/v1/topics', asking(origin), [LISTED])
      expect(asked.headers.get('access-control-allow-origin')).toBeNull()
      const page = { origin, 'sec-fetch-site': 'cross-site' }
      const answered = await ask('GET', '/v1/topics', { ...authorization, ...page }, [LISTED])
      expect(answered.headers.get('access-control-allow-origin')).toBeNull()
      // Without keys, only the check of the origin protects the server.
      expect(answered.status).toBe(auth ? 200 : 403)
    },
  )

  test('without the setting no origin may ask', async () => {
    const asked = await ask('OPTIONS', '/v1/topics', asking(LISTED))
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([405, null])
  })

  test('pages, links and the session of the console are not for other origins', async () => {
    for (const path of ['/docs', '/readyz', '/openapi.json']) {
      const answered = await ask('GET', path, { origin: LISTED }, [LISTED])
      expect(answered.headers.get('access-control-allow-origin')).toBeNull()
    }
    const session = await ask('POST', '/v1/session', { origin: LISTED, 'sec-fetch-site': 'cross-site' }, [
      LISTED,
    ])
    expect(session.status).not.toBe(201)
  })
})
