import { request } from 'node:http'
import { makeKey, type NewKey } from '@fantail/access'
import { createOwnHosts } from '@fantail/config'
import type { ApiKeyRecord, KeyScope } from '@fantail/contracts'
import { afterEach, describe, expect, it } from 'vitest'
import { logLines } from '../log-lines.fixture.ts'
import { createLogger } from '../loops/logger.ts'
import { type Checks, type Degradation, runChecks } from './checks.ts'
import { createMetricsAccess, type PermitMetrics } from './metrics-access.ts'
import { createOpsServer, type OpsServer } from './ops-server.ts'

const BUILD = { version: '1.2.3', commit: 'c0ffee' }
const ACCOUNT = '000000000000'
let server: OpsServer | undefined

afterEach(() => server?.stop())

async function serving({
  checks = {},
  metrics = async () => 'fantail_up 1\n',
  mode = 'local',
  degradations,
  permitMetrics = () => Promise.resolve(),
}: {
  checks?: Checks
  degradations?: () => Promise<Degradation[]>
  metrics?: () => Promise<string>
  permitMetrics?: PermitMetrics
  mode?: 'local' | 'server'
}) {
  const { destination, lines } = logLines()
  const log = createLogger({ service: 'test', destination })
  const ownHosts = createOwnHosts({ mode, hosts: ['worker'] }, 'laptop')
  server = createOpsServer({
    host: '127.0.0.1',
    port: 0,
    log,
    checks,
    metrics,
    permitMetrics,
    ownHosts,
    build: BUILD,
    ...(degradations && { degradations }),
  })
  await server.start()
  const base = `http://127.0.0.1:${server.port()}`
  const get = (path: string, method = 'GET', authorization = '') =>
    fetch(base + path, { method, ...(authorization && { headers: { authorization } }) })
  return { get, lines }
}

function keyWith(scopes: KeyScope[], limits: Partial<Pick<NewKey, 'prefixes' | 'account'>> = {}) {
  const wanted = { name: 'scraper', kind: 'native', prefixes: [], account: ACCOUNT, ...limits } as const
  const made = makeKey({ ...wanted, scopes, maxRequestsPerSecond: null }, { vault: undefined, now: 0 })
  return { record: made.record, token: 'token' in made.shown ? made.shown.token : '' }
}

function keysOf(records: ApiKeyRecord[]) {
  return { get: async (id: string) => records.find((record) => record.id === id) ?? null }
}

/** Makes a GET request with this Host header. */
function under(host: string, path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server?.port(), path, headers: { host }, agent: false }
    const sent = request(options, async (answer) => {
      const text = Buffer.concat(await answer.toArray()).toString()
      resolve({ status: answer.statusCode ?? 0, text })
    })
    sent.once('error', reject).end()
  })
}

describe('ops server', () => {
  it('is alive as long as it answers', async () => {
    const { get } = await serving({ checks: { redis: () => Promise.reject(new Error('down')) } })
    const response = await get('/healthz')
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
  })

  it('is ready while every check passes', async () => {
    const { get } = await serving({ checks: { redis: async () => 'PONG' } })
    const response = await get('/readyz')
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        status: 'ready',
        checks: { redis: 'ok' },
        degraded: [],
        version: '1.2.3',
        commit: 'c0ffee',
        startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    ])
  })

  it('names what keeps it from being ready', async () => {
    const { get } = await serving({
      checks: { redis: () => Promise.reject(new Error('connect ECONNREFUSED')), settings: async () => {} },
    })
    const response = await get('/readyz')
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { status: 'unavailable', checks: { redis: 'connect ECONNREFUSED', settings: 'ok' } },
    ])
  })

  it('stays ready where it is degraded, and says why', async () => {
    const reason = { reason: 'eviction', message: 'maxmemory-policy is allkeys-lru' }
    const { get } = await serving({ degradations: async () => [reason] })
    const response = await get('/readyz')
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { status: 'degraded', degraded: [reason] },
    ])
  })

  it('is degraded where nobody knows, without the error’s hosts', async () => {
    const { get } = await serving({ degradations: () => Promise.reject(new Error('10.1.2.3:6379')) })
    const text = await (await get('/readyz')).text()
    expect(text).toContain('"reason":"unseen"')
    expect(text).not.toContain('10.1.2.3')
  })

  it('a check that never answers is not ok', async () => {
    expect(await runChecks({ redis: () => new Promise(() => {}) }, 5)).toEqual({
      ready: false,
      checks: { redis: 'no answer within 5 ms' },
    })
  })

  it('serves metrics as Prometheus text', async () => {
    const { get } = await serving({})
    const response = await get('/metrics?name=x')
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await response.text()).toBe('fantail_up 1\n')
  })

  it('answers 500 and logs why where metrics fail', async () => {
    const { get, lines } = await serving({ metrics: () => Promise.reject(new Error('broken gauge')) })
    expect((await get('/metrics')).status).toBe(500)
    expect(lines()[0]).toMatchObject({ msg: 'ops.failed', err: { message: 'broken gauge' } })
  })

  it('shows metrics only to keys of the whole server where keys are required, and health to all', async () => {
    const ready = keyWith(['read'])
    const records = [ready, keyWith(['publish']), keyWith(['read'], { prefixes: ['a'] })]
    const foreign = keyWith(['read'], { account: '222222222222' })
    const keys = keysOf([...records, foreign].map(({ record }) => record))
    const settings = { auth: true, openMetrics: false, arn: { account: ACCOUNT } }
    const { get } = await serving({ permitMetrics: createMetricsAccess(settings, keys) })
    const statusFor = async ({ token }: { token: string }) =>
      (await get('/metrics', 'GET', `Bearer ${token}`)).status
    expect(await Promise.all([...records, foreign].map(statusFor))).toEqual([200, 403, 403, 403])
    const refused = await get('/metrics')
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await statusFor({ token: `${ready.token}x` })).toBe(401)
    expect([(await get('/healthz')).status, (await get('/readyz')).status]).toEqual([200, 200])
  })

  it.each([
    [{ auth: true, openMetrics: true }, 200],
    [{ auth: false, openMetrics: false }, 200],
    [{ auth: true, openMetrics: false }, 401],
  ])('answers a scrape without a key by its settings %j', async (settings, status) => {
    const arn = { account: ACCOUNT }
    const { get } = await serving({ permitMetrics: createMetricsAccess({ ...settings, arn }, keysOf([])) })
    expect((await get('/metrics')).status).toBe(status)
  })

  it('says that storage does not answer where the key of a scrape cannot be looked up', async () => {
    const { token } = keyWith(['read'])
    const settings = { auth: true, openMetrics: false, arn: { account: ACCOUNT } }
    const down = { get: () => Promise.reject(new Error('10.1.2.3:6379 is down')) }
    const { get } = await serving({ permitMetrics: createMetricsAccess(settings, down) })
    const response = await get('/metrics', 'GET', `Bearer ${token}`)
    const text = await response.text()
    expect([response.status, text.includes('10.1.2.3')]).toEqual([503, false])
  })

  it('refuses other paths and methods', async () => {
    const { get } = await serving({})
    const response = await get('/')
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }])
    expect((await get('/metrics', 'POST')).status).toBe(405)
  })

  describe.each(['/metrics', '/healthz', '/readyz'])('%s under a host name', (path) => {
    it.each(['worker:4101', 'localhost', 'LAPTOP.', '[::1]:9'])('answers %s in local mode', async (host) => {
      await serving({})
      expect((await under(host, path)).status).toBe(200)
    })

    it.each(['evil.example', 'worker.internal', 'api', '169.254.169.254'])(
      'refuses %s there',
      async (host) => {
        await serving({})
        const { status, text } = await under(host, path)
        expect([status, JSON.parse(text)]).toMatchObject([403, { error: { code: 'forbidden' } }])
        expect(text).toContain('FANTAIL_HOSTS')
      },
    )

    it('answers any in server mode', async () => {
      await serving({ mode: 'server' })
      expect((await under('evil.example', path)).status).toBe(200)
    })
  })

  it('does not start on a port that is taken', async () => {
    await serving({})
    const { destination } = logLines()
    const log = createLogger({ service: 'test', destination })
    const port = server?.port() ?? 0
    const ownHosts = createOwnHosts({ mode: 'local' })
    const options = {
      host: '127.0.0.1',
      port,
      log,
      checks: {},
      metrics: async () => '',
      permitMetrics: () => Promise.resolve(),
      ownHosts,
      build: BUILD,
    }
    const second = createOpsServer(options)
    await expect(second.start()).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})
