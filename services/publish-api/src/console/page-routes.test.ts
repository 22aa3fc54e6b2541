import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ruleOf } from '../auth/native-rules.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp, endpointsOf } from '../server/app.ts'
import type { App } from '../server/mount.ts'

const SCRIPT = 'export const shown = 1\n'
const FILE = '/console/assets/index-a1B2.js'

let api: TestApi
let app: App
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fantail-console-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'secret.js'), 'not for browsers')
  writeFileSync(join(folder, 'index.html'), '<meta property="csp-nonce" nonce="%NONCE%"><p>console</p>')
  writeFileSync(join(folder, 'assets/index-a1B2.js'), SCRIPT)
  writeFileSync(join(folder, 'assets/index-a1B2.js.br'), brotliCompressSync(SCRIPT))
  writeFileSync(join(folder, 'assets/index-a1B2.js.gz'), gzipSync(SCRIPT))
  writeFileSync(join(folder, 'assets/plain-c3D4.css'), 'p{}')
  api = await startTestApi()
  app = createApp({ ...api.deps, consoleFolder: folder })
})
afterAll(async () => {
  await api.stop()
  rmSync(folder, { recursive: true })
})

const nonceIn = (policy: string | null) => /'nonce-([\w+/=]+)'/.exec(policy ?? '')?.[1]

test('every address below /console/ answers the page, with a nonce of its own', async () => {
  const nonces = new Set<string | undefined>()
  for (const path of ['/console/', '/console/topics/orders', '/console/subs/a/curve?log=1']) {
    const response = await app.request(path)
    const policy = response.headers.get('content-security-policy')
    const nonce = nonceIn(policy)
    expect([path, response.status]).toEqual([path, 200])
    expect(await response.text()).toBe(`<meta property="csp-nonce" nonce="${nonce}"><p>console</p>`)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(policy).toContain("default-src 'none'; script-src 'self'; ")
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types fantail")
    nonces.add(nonce)
  }
  expect(nonces.size).toBe(3)
})

test('a file is sent as the browser takes it, and kept permanently', async () => {
  const encodingOf = async (accepted: string) => {
    const response = await app.request(FILE, { headers: { 'accept-encoding': accepted } })
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(response.headers.get('vary')).toBe('Accept-Encoding')
    return response.headers.get('content-encoding')
  }
  expect(await encodingOf('gzip, deflate, br')).toBe('br')
  expect(await encodingOf('gzip;q=0.5')).toBe('gzip')
  expect(await encodingOf('br;q=0, gzip;q=0.0')).toBe(null)
  expect(await (await app.request(FILE)).text()).toBe(SCRIPT)
  const plain = await app.request('/console/assets/plain-c3D4.css', { headers: { 'accept-encoding': 'br' } })
  expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, 'p{}'])
})

test.each(['none-a1B2.js', '..%2Fsecret.js', '%2e%2e%2fsecret.js', 'index-a1B2.js.gz', '.js', 'a%00.js'])(
  'no other file is read: %s',
  async (name) => {
    expect((await app.request(`/console/assets/${name}`)).status).toBe(404)
  },
)

test('another site may lead to the page, and to nothing that reads or changes', async () => {
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  expect((await app.request('/console/lanes', { headers })).status).toBe(200)
  const guarded = endpointsOf(api.deps).filter((route) => {
    const { need } = ruleOf(route)
    return route.method === 'GET' && need !== 'public' && need !== 'own'
  })
  expect(guarded.length).toBeGreaterThan(40)
  for (const { path } of guarded) {
    const { status } = await app.request(path.replace(/\{\w+\}/g, 'x1'), { headers })
    expect([path, status]).toEqual([path, 403])
  }
  expect((await app.request('http://evil.example/console/')).status).toBe(403)
})

test('FANTAIL_CONSOLE=off leaves nothing of it', async () => {
  const settings = { ...api.deps.settings, console: 'off' as const }
  const without = createApp({ ...api.deps, settings, consoleFolder: folder })
  for (const path of ['/console', '/console/', FILE]) expect((await without.request(path)).status).toBe(404)
  const visit = await without.request('/', { headers: { accept: 'text/html' } })
  expect([visit.status, visit.headers.get('location')]).toEqual([303, '/docs'])
})

test('a console that is not built says which command builds it', async () => {
  const response = await createApp(api.deps).request('/console/')
  expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('npm run build')])
})
