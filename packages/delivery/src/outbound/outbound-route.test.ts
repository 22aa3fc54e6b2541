import type { AttemptResult } from '@fantail/contracts'
import {
  createAuthority,
  onRawRequest,
  type Receiver,
  startProxy,
  startRawServer,
  startReceiver,
  type TestProxyOptions,
  waitFor,
} from '@fantail/test-kit'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createTestSender, type TestSender } from '../http/http-sender.fixture.ts'
import type { HttpSenderOptions } from '../http/http-sender.ts'
import { compileRoute, type OutboundOptions } from './outbound-route.ts'

const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const thing of opened.splice(0).toReversed()) await thing.close()
})

function opening<T extends { close(): Promise<void> }>(thing: T): T {
  opened.push(thing)
  return thing
}

function sender(options: Partial<HttpSenderOptions> = {}): TestSender {
  const created = createTestSender({ allowPrivate: true, timeoutMs: 5_000, ...options })
  opened.push({ close: () => created.close(0) })
  return created
}

const receiver = async (...options: Parameters<typeof startReceiver>): Promise<Receiver> =>
  opening(await startReceiver(...options))
const proxyWith = async (options?: TestProxyOptions) => opening(await startProxy(options))

function post(to: TestSender, url: string, options: OutboundOptions): Promise<AttemptResult> {
  return to.attempt({ url, route: compileRoute(options), headers: ['X-First', '1'], body: 'hello' })
}

const OK = { kind: 'response', statusCode: 200 }

test('without anything asked for there is no route', () => {
  expect(compileRoute({})).toBeUndefined()
  expect(compileRoute({ headers: {} })).toBeUndefined()
})

describe('headers', () => {
  test('follow the request’s own, on every attempt and after a challenge too', async () => {
    const hooks = await receiver()
    hooks.respond('/', (_, n) =>
      n === 1 ? { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="x"' } } : {},
    )
    const url = hooks.url.replace('//', '//user:word@')
    expect(await post(sender(), url, { headers: { 'X-Api-Key': 'secret', 'x-two': '2' } })).toMatchObject(OK)
    expect(hooks.requests).toHaveLength(2)
    for (const { headers } of hooks.requests)
      expect(headers).toMatchObject({ 'x-first': '1', 'x-api-key': 'secret', 'x-two': '2' })
    expect(hooks.requests[1]?.headers.authorization).toBe(`Basic ${btoa('user:word')}`)
  })

  test('belong to one subscription, and not to another one at the same URL', async () => {
    const hooks = await receiver()
    const to = sender()
    await post(to, hooks.url, { headers: { 'X-Key': 'a' } })
    await post(to, hooks.url, { headers: { 'X-Key': 'b' } })
    await post(to, hooks.url, {})
    expect(hooks.requests.map(({ headers }) => headers['x-key'])).toEqual(['a', 'b', undefined])
  })
})

describe('TLS', () => {
  const [authority, clients] = [createAuthority(), createAuthority()]
  const client = clients.issue(['client.example'])
  const clientCertificate = { certificate: client.cert, privateKey: client.key }
  const { cert: ca } = authority
  const tls = { ...authority.issue(['localhost']), clientCa: clients.cert }

  test('an extra authority is trusted by who asks for it, and by nobody else', async () => {
    const hooks = await receiver({ tls: authority.issue(['localhost']) })
    const to = sender()
    const url = `https://localhost:${hooks.port}/`
    expect(await post(to, url, { ca })).toMatchObject(OK)
    expect(await post(to, url, {})).toMatchObject({ kind: 'failure', error: 'tls' })
    expect(await post(to, url, { ca: createAuthority().cert })).toMatchObject({ error: 'tls' })
    expect(await post(to, url, { ca })).toMatchObject(OK)
    expect(hooks.requests).toHaveLength(2)
  })

  test('a client certificate is shown for who has it, whoever was connected before', async () => {
    const hooks = await receiver({ tls })
    const to = sender()
    const url = `https://localhost:${hooks.port}/`
    expect(await post(to, url, { ca, clientCertificate })).toMatchObject(OK)
    expect(await post(to, url, { ca })).toMatchObject({ kind: 'failure' })
    hooks.dropConnections()
    await waitFor(() => to.stats().connections === 0, { what: 'the end to be seen' })
    expect(await post(to, url, { ca })).toMatchObject({ kind: 'failure' })
    expect(await post(to, url, { ca, clientCertificate })).toMatchObject(OK)
    expect(hooks.requests).toHaveLength(2)
  })

  test('the environment cannot turn the check of certificates off', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const hooks = await receiver({ tls: authority.issue(['localhost']) })
    expect(await post(sender(), `https://localhost:${hooks.port}/`, {})).toMatchObject({ error: 'tls' })
  })

  test('material that cannot be used fails the attempt, and is not repeated in it', async () => {
    const broken = { certificate: client.cert, privateKey: 'secret but no key' }
    const hooks = await receiver({ tls })
    const { url: proxy } = await proxyWith()
    const to = sender()
    for (const way of [{}, { proxy }]) {
      const options = { ca, clientCertificate: broken, ...way }
      const result = await post(to, `https://localhost:${hooks.port}/`, options)
      expect(result).toMatchObject({ kind: 'failure', detail: expect.stringContaining('cannot be used') })
      expect(JSON.stringify(result)).not.toContain('secret')
    }
    expect(to.stats()).toMatchObject({ inFlight: 0, connections: 0 })
  })
})

describe('a proxy', () => {
  const authority = createAuthority()

  test('carries http and https in tunnels, by name, and the tunnel is used again', async () => {
    const plain = await receiver()
    const secure = await receiver({ tls: authority.issue(['hooks.example']) })
    const proxy = await proxyWith({ host: '127.0.0.1' })
    const to = sender({ ca: authority.cert })
    const through = { proxy: proxy.url.replace('//', '//us%20er:pa%3Ass@') }
    for (const url of [`http://other.example:${plain.port}/a`, `https://hooks.example:${secure.port}/b`]) {
      expect(await post(to, url, through)).toMatchObject(OK)
      expect(await post(to, url, through)).toMatchObject(OK)
    }
    expect(proxy.asked).toEqual([`other.example:${plain.port}`, `hooks.example:${secure.port}`])
    expect(proxy.authorizations[0]).toBe(`Basic ${btoa('us er:pa:ss')}`)
    expect([...plain.requests, ...secure.requests].map(({ path }) => path)).toEqual(['/a', '/a', '/b', '/b'])
    expect(plain.requests[0]?.headers).not.toHaveProperty('proxy-authorization')
  })

  test('is not shared with who goes directly', async () => {
    const hooks = await receiver()
    const proxy = await proxyWith()
    const to = sender()
    await post(to, hooks.url, { proxy: proxy.url })
    await post(to, hooks.url, {})
    expect(proxy.asked).toHaveLength(1)
    expect(hooks.connections().accepted).toBe(2)
  })

  test('named by the environment is not used', async () => {
    const proxy = await proxyWith()
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'])
      vi.stubEnv(name, proxy.url)
    const hooks = await receiver()
    expect(await post(sender(), hooks.url, {})).toMatchObject(OK)
    expect(proxy.asked).toEqual([])
  })

  test('must be allowed, and asks for nothing that the guard refuses', async () => {
    const proxy = await proxyWith({ host: '127.0.0.1' })
    const hooks = await receiver()
    const refused = { kind: 'failure', error: 'forbidden_address', permanent: true }
    const strict = sender({ allowPrivate: false })
    expect(await post(strict, 'http://hooks.example/', { proxy: proxy.url })).toMatchObject(refused)
    const to = sender({ allowPrivate: false, allow: [`127.0.0.1`], deny: ['10.0.0.0/8', 'evil.example'] })
    const urls = [
      'http://10.0.0.1/',
      'http://169.254.169.254/',
      'http://[::ffff:10.0.0.1]/',
      'http://evil.example./',
    ]
    for (const url of [...urls, 'http://localhost/', 'http://redis:6379/'])
      expect([url, await post(to, url, { proxy: proxy.url })]).toMatchObject([url, refused])
    expect(proxy.asked).toEqual([])
    const url = `http://hooks.example:${hooks.port}/`
    expect(await post(to, url, { proxy: proxy.url })).toMatchObject(OK)
  })

  test.each([407, 403, 502])('gives a failure without its address if it answers %i', async (status) => {
    const proxy = await proxyWith({ status })
    const to = sender()
    const through = { proxy: proxy.url.replace('//', '//user:secret@') }
    const result = await post(to, 'http://hooks.example/', through)
    expect(result).toMatchObject({ kind: 'failure', error: 'proxy', detail: `the proxy answered ${status}` })
    expect(JSON.stringify(result)).not.toContain('secret')
    await waitFor(() => to.stats().connections === 0, { what: 'no connection' })
  })

  test.each([
    ['garbage', 'SSH-2.0-OpenSSH\r\n\r\n', 'did not answer in HTTP'],
    ['endless informational answers', 'HTTP/1.1 103 Early\r\n\r\n'.repeat(1_000), 'endless headers'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(5_000)}`, 'endless headers'],
    ['more than its answer', 'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'sent more'],
  ])('gives a failure if it answers with %s', async (_what, answer, detail) => {
    const server = opening(await startRawServer((socket) => onRawRequest(socket, () => socket.write(answer))))
    const result = await post(sender(), 'http://hooks.example/', { proxy: server.url })
    expect(result).toMatchObject({ error: 'proxy', detail: expect.stringContaining(detail) })
    await waitFor(() => server.open() === 0, { what: 'the connection to be closed' })
  })

  test.each([
    ['closes', (socket: { end(): void }) => socket.end(), 'proxy'],
    ['resets', (socket: { resetAndDestroy(): void }) => socket.resetAndDestroy(), 'connection_reset'],
  ])('gives a failure if it %s', async (_what, act, error) => {
    const server = opening(await startRawServer((socket) => onRawRequest(socket, () => act(socket))))
    expect(await post(sender(), 'http://hooks.example/', { proxy: server.url })).toMatchObject({ error })
  })

  test('gives the tunnel if it sends informational answers before its own', async () => {
    const informing = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
    const server = opening(
      await startRawServer((socket) =>
        onRawRequest(socket, () => socket.write(`${informing}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`)),
      ),
    )
    expect(await post(sender(), 'http://hooks.example/', { proxy: server.url })).toMatchObject(OK)
  })

  test('costs the deadline if it hangs, before its answer and in the TLS behind it', async () => {
    const mute = opening(await startRawServer((socket) => socket.resume()))
    const open = opening(
      await startRawServer((socket) => onRawRequest(socket, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))),
    )
    const to = sender({ timeoutMs: 150 })
    for (const { url: proxy } of [mute, open]) {
      const result = await post(to, 'https://hooks.example/', { proxy })
      expect(result).toMatchObject({ error: 'timeout', detail: 'no connection within 150 ms' })
    }
    await waitFor(() => mute.open() + open.open() === 0, { what: 'the connections to be closed' })
    expect(to.stats()).toMatchObject({ inFlight: 0, connections: 0 })
  })

  test.each(['', 'proxy:3128', 'socks5://proxy', 'http://proxy/path', 'http://proxy?x=1'])(
    'cannot be %j',
    (proxy) => {
      if (proxy === '') expect(compileRoute({ proxy })).toBeUndefined()
      else expect(() => compileRoute({ proxy })).toThrow(TypeError)
    },
  )
})
