import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2Server, createSecureServer } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { deflateSync, gzipSync } from 'node:zlib'
import type { AttemptResult } from '@fantail/contracts'
import { errorCodeOf } from '@fantail/policy'
import {
  createAuthority,
  createSelfSigned,
  freePort,
  onRawRequest,
  type RawServer,
  type Receiver,
  startFairTimer,
  startRawServer,
  startReceiver,
  waitFor,
} from '@fantail/test-kit'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { compileRoute } from '../outbound/outbound-route.ts'
import { NameError } from '../outbound/resolver.ts'
import type { FurtherRequest, HttpRequest } from './http-request.ts'
import { createTestSender, type TestSender } from './http-sender.fixture.ts'
import type { HttpSenderOptions } from './http-sender.ts'

const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  vi.useRealTimers()
  // Senders close first, which cuts running attempts. Then their servers close.
  for (const thing of opened.splice(0).toReversed()) await thing.close()
})

function sender(options: Partial<HttpSenderOptions> = {}): TestSender {
  const created = createTestSender({ allowPrivate: true, timeoutMs: 5_000, ...options })
  opened.push({ close: () => created.close(0) })
  return created
}

async function receiver(...options: Parameters<typeof startReceiver>): Promise<Receiver> {
  const started = await startReceiver(...options)
  opened.push(started)
  return started
}

async function raw(...options: Parameters<typeof startRawServer>): Promise<RawServer> {
  const started = await startRawServer(...options)
  opened.push(started)
  return started
}

/** A server that answers every request with these bytes. */
function saying(...pieces: string[]): Promise<RawServer> {
  return raw((socket) => {
    onRawRequest(socket, () => {
      for (const piece of pieces) socket.write(piece, 'latin1')
    })
  })
}

const headers = ['Content-Type', 'text/plain']
const post = (to: TestSender, url: string, body: string | Buffer = 'hello') =>
  to.attempt({ url, headers, body })
/** One attempt that needs the answer's body, or only wants it. */
const wanting = (url: string, needsBody: boolean) =>
  sender().attempt({ url, headers, body: 'hello', responseBytesMax: 1_000, needsBody })
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

/** `stage` undefined: nothing was begun. */
function failed(
  error: string,
  detail: unknown = expect.any(String),
  stage: unknown = expect.stringMatching(/^[a-z]+$/),
) {
  return { kind: 'failure', error, detail, stage, permanent: false, durationMs: expect.any(Number) }
}

describe('a request', () => {
  test('is a POST with the path, query, headers and body given', async () => {
    const hooks = await receiver()
    const result = await sender().attempt({
      url: `${hooks.url}/in/a%20b?x=1&y=é#frag`,
      headers: { 'x-one': '1', 'Content-Type': 'text/plain; charset=UTF-8' },
      body: Buffer.from('grüße'),
    })
    expect(result).toEqual({ kind: 'response', statusCode: 200, durationMs: expect.any(Number) })
    const [request] = hooks.requests
    expect(request).toMatchObject({ method: 'POST', path: '/in/a%20b?x=1&y=%C3%A9', text: 'grüße' })
    expect(request?.headers).toMatchObject({
      host: `127.0.0.1:${hooks.port}`,
      connection: 'keep-alive',
      'content-length': '7',
      'content-type': 'text/plain; charset=UTF-8',
      'x-one': '1',
    })
  })

  test('has the user agent of its route once, in the place of the usual one', async () => {
    const hooks = await receiver()
    const route = compileRoute({ headers: { 'user-agent': 'Own/1', 'x-own': 'User-Agent' } })
    await sender().attempt({
      url: hooks.url,
      headers: ['User-Agent', 'usual', 'a', 'user-agent'],
      body: 'x',
      route,
    })
    const [request] = hooks.requests
    expect(request?.headers).toMatchObject({ 'user-agent': 'Own/1', 'x-own': 'User-Agent', a: 'user-agent' })
  })

  test('with an empty body says so', async () => {
    const hooks = await receiver()
    await post(sender(), hooks.url, '')
    expect(hooks.requests[0]?.headers['content-length']).toBe('0')
  })

  test.each([200, 201, 202, 204, 304, 400, 401, 404, 410, 429, 500, 503, 599])(
    'answered %i is a response',
    async (status) => {
      const hooks = await receiver()
      hooks.respond('/', { status })
      expect(await post(sender(), hooks.url)).toMatchObject({ kind: 'response', statusCode: status })
      expect(hooks.requests).toHaveLength(1)
    },
  )

  test.each([301, 302, 303, 307, 308])('[36] redirected by %i is not followed', async (status) => {
    const hooks = await receiver()
    hooks.respond('/', { status, headers: { location: `${hooks.url}/elsewhere` } })
    expect(await post(sender(), hooks.url)).toMatchObject({ kind: 'response', statusCode: status })
    await post(sender(), `${hooks.url}/marker`)
    expect(hooks.requests.map(({ path }) => path)).toEqual(['/', '/marker'])
  })

  test('gets its answer after informational ones, also on a connection that is used again', async () => {
    const server = await saying(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 1',
      `00 Continue\r\n\r\n${OK}`,
    )
    const to = sender()
    for (let n = 0; n < 3; n++) {
      expect(await post(to, server.url)).toMatchObject({ kind: 'response', statusCode: 200 })
    }
    expect(server.accepted()).toBe(1)
  })

  test('takes a compressed body as it is', async () => {
    const hooks = await receiver()
    hooks.respond('/', { headers: { 'content-encoding': 'gzip' }, body: 'no gzip at all' })
    expect(await post(sender(), hooks.url)).toMatchObject({ kind: 'response', statusCode: 200 })
  })

  test('gets an answer that comes byte by byte', async () => {
    const answer = 'HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'
    const server = await raw((socket) => {
      socket.setNoDelay(true)
      const next = (at: number) => {
        if (at < answer.length) socket.write(answer.charAt(at), () => setImmediate(next, at + 1))
      }
      onRawRequest(socket, () => next(0))
    })
    expect(await post(sender(), server.url)).toMatchObject({ kind: 'response', statusCode: 202 })
  })

  test('gets an answer whose end is the end of the connection', async () => {
    const server = await raw((socket) => onRawRequest(socket, () => socket.end('HTTP/1.0 200 OK\r\n\r\nbye')))
    expect(await post(sender(), server.url)).toMatchObject({ kind: 'response', statusCode: 200 })
  })

  test.each([
    ['120', 120],
    ['0', 0],
    ['99999999999999999999', 31_536_000],
    ['Wed, 21 Oct 2015 07:28:30 GMT', 30],
    ['Wed, 21 Oct 2015 07:00:00 GMT', 0],
    ['Wednesday, 21-Oct-15 07:28:30 GMT', 30],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', undefined],
  ])('Retry-After %s asks for %s seconds', async (value, seconds) => {
    const hooks = await receiver()
    const date = 'Wed, 21 Oct 2015 07:28:00 GMT'
    const headers = { 'retry-after': value, date }
    hooks.respond('/', ({ path }) => ({ status: Number(path.split('?')[1]), headers }))
    const to = sender()
    for (const status of [302, 404, 408, 413, 429, 500, 502, 503, 504, 520]) {
      const result = await post(to, `${hooks.url}/?${status}`)
      expect(result.kind === 'response' && [status, result.retryAfterSeconds]).toEqual([status, seconds])
    }
    expect(await post(to, `${hooks.url}/?200`)).not.toHaveProperty('retryAfterSeconds')
  })

  test('Retry-After of a challenge is not that of the answer after it', async () => {
    const hooks = await receiver()
    hooks.respond('/', (_, n) =>
      n === 1
        ? { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="x"', 'retry-after': '60' } }
        : { status: 503 },
    )
    const result = await post(sender(), hooks.url.replace('//', '//user:word@'))
    expect(result).toMatchObject({ kind: 'response', statusCode: 503 })
    expect(result).not.toHaveProperty('retryAfterSeconds')
  })
})

describe('the deadline', () => {
  const SHORT = { timeoutMs: 150 }

  async function timesOut(url: string, what: string, options: Partial<HttpSenderOptions> = {}) {
    const [started, tookFairly] = [performance.now(), startFairTimer()]
    const result = await post(sender({ ...SHORT, ...options }), url)
    expect(result).toEqual(failed('timeout', `no ${what} within 150 ms`))
    expect(performance.now() - started).toBeGreaterThanOrEqual(145)
    expect(tookFairly()).toBeLessThan(2_000)
  }

  test('[38] covers the wait for an answer', async () => {
    const hooks = await receiver()
    hooks.respond('/', { hang: 'beforeHeaders' })
    await timesOut(hooks.url, 'answer')
    await waitFor(() => hooks.connections().open === 0, { what: 'the connection to be closed' })
  })

  test('covers the body', async () => {
    const hooks = await receiver()
    hooks.respond('/', { hang: 'midBody' })
    await timesOut(hooks.url, 'complete answer')
  })

  test('covers an answer that drips', async () => {
    const server = await raw((socket) => {
      onRawRequest(socket, () => {
        const timer = setInterval(() => socket.write('1\r\nx\r\n'), 10)
        socket.once('close', () => clearInterval(timer))
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      })
    })
    await timesOut(server.url, 'complete answer')
  })

  test('covers headers that never end', async () => {
    const server = await raw((socket) => {
      onRawRequest(socket, () => {
        const timer = setInterval(() => socket.write('a: b\r\n'), 10)
        socket.once('close', () => clearInterval(timer))
        socket.write('HTTP/1.1 200 OK\r\n')
      })
    })
    await timesOut(server.url, 'answer')
  })

  test('covers informational answers without an end', async () => {
    const server = await raw((socket) => {
      onRawRequest(socket, () => {
        const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 10)
        socket.once('close', () => clearInterval(timer))
      })
    })
    await timesOut(server.url, 'answer')
  })

  test('covers the name', async () => {
    const resolver = { resolve: () => new Promise<string[]>(() => {}) }
    await timesOut('http://slow.example/', 'connection', { resolver })
  })

  test('covers TLS', async () => {
    const server = await raw((socket) => socket.resume())
    await timesOut(server.url.replace('http', 'https'), 'connection')
    await waitFor(() => server.open() === 0, { what: 'the connection to be closed' })
  })

  test('is each attempt’s own, and a connection that hung is not used again', async () => {
    const hooks = await receiver()
    hooks.respond('/hang', { hang: 'beforeHeaders' })
    const to = sender(SHORT)
    const hanging = [1, 2, 3].map(() => post(to, `${hooks.url}/hang`))
    await hooks.waitForRequests(3)
    expect(await post(to, `${hooks.url}/fine`)).toMatchObject({ statusCode: 200 })
    expect((await Promise.all(hanging)).map(({ kind }) => kind)).toEqual(['failure', 'failure', 'failure'])
    await waitFor(() => to.stats().connections === 1, { what: 'only the good connection to be left' })
    expect(to.stats()).toEqual({ inFlight: 0, connections: 1, idle: 1, origins: 1 })
  })
})

describe('a failure', () => {
  test('[37] refused', async () => {
    const port = await freePort()
    const refused = failed('connection_refused', expect.any(String), 'connect')
    expect(await post(sender(), `http://127.0.0.1:${port}`)).toEqual(refused)
  })

  test('reset before an answer, and not tried again on a fresh connection', async () => {
    const server = await raw((socket) => onRawRequest(socket, () => socket.resetAndDestroy()))
    const result = await post(sender(), server.url)
    expect(result).toEqual(failed('connection_reset', expect.any(String), 'answer'))
    expect(server.accepted()).toBe(1)
  })

  test('closed before an answer', async () => {
    const server = await raw((socket) => onRawRequest(socket, () => socket.end()))
    expect(await post(sender(), server.url)).toEqual(failed('connection_reset'))
  })

  test.each([
    ['length', 'Content-Length: 10\r\n\r\nabc'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nab'],
  ])('a body cut within its %s fails only the attempt that needs it', async (_what, rest) => {
    const cuts = [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]
    const server = await raw((socket, n) => {
      const cut = cuts[Math.floor((n - 1) / 2)]
      onRawRequest(socket, () => socket.write(`HTTP/1.1 200 OK\r\n${rest}`, () => cut?.(socket)))
    })
    for (const _ of cuts) {
      const taken = { kind: 'response', statusCode: 200, durationMs: expect.any(Number) }
      expect(await wanting(server.url, false)).toEqual(taken)
      expect(await wanting(server.url, true)).toEqual(failed('connection_reset', expect.any(String), 'body'))
    }
  })

  test.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a bad status', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a bad header', 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n'],
    ['a status below 100', 'HTTP/1.1 000 OK\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
    ['a list of two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nx'],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx'],
    [
      'two lengths besides chunks',
      `HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n${CHUNKED}0\r\n\r\n`,
    ],
    [
      'chunks in chunks',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n`,
    ],
    ['a carriage return alone', 'HTTP/1.1 200 OK\r\nX: a\rContent-Length: 9\r\nContent-Length: 2\r\n\r\nok'],
    ['a NUL', 'HTTP/1.1 200 OK\r\nX: a\0\r\nContent-Length: 2\r\n\r\nok'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
  ])('invalid: %s', async (_what, answer) => {
    const server = await saying(answer)
    expect(await post(sender(), server.url)).toEqual(
      failed('invalid_response', expect.not.stringContaining('==')),
    )
    await waitFor(() => server.open() === 0, { what: 'the connection to be closed' })
  })

  test.each([
    ['a bad chunk', `HTTP/1.1 200 OK\r\n${CHUNKED}zz\r\n`],
    ['a line feed alone after a chunk size', `HTTP/1.1 200 OK\r\n${CHUNKED}2\nok\r\n0\r\n\r\n`],
    ['too many headers', `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(20)}\r\n`],
    ['too many short headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(12_000)}\r\n`],
  ])('%s fails only the attempt that needs the body', async (_what, answer) => {
    const server = await saying(answer)
    expect(await wanting(server.url, false)).toMatchObject({ kind: 'response', statusCode: 200 })
    expect(await wanting(server.url, true)).toEqual(failed('invalid_response'))
    await waitFor(() => server.open() === 0, { what: 'the connections to be closed' })
  })

  test('a second, unasked answer ends the connection, and the next request fares well', async () => {
    const server = await saying(OK + OK)
    const to = sender()
    expect(await post(to, server.url)).toMatchObject({ statusCode: 200 })
    await waitFor(() => to.stats().connections === 0, { what: 'the connection to be ended' })
    expect(await post(to, server.url)).toMatchObject({ statusCode: 200 })
  })

  test('[37] a name that cannot be resolved', async () => {
    const resolver = { resolve: (name: string) => Promise.reject(new NameError(name, 'ENOTFOUND')) }
    expect(await post(sender({ resolver }), 'http://nowhere.example/')).toEqual(
      failed('dns', 'cannot resolve nowhere.example (ENOTFOUND)'),
    )
    expect(await post(sender(), 'http://does-not-exist.invalid/')).toEqual(
      failed('dns', expect.any(String), 'dns'),
    )
  })

  test('a URL or a header that cannot be sent is permanent', async () => {
    const to = sender()
    for (const url of ['', 'nonsense', 'ftp://127.0.0.1/', 'http://']) {
      expect(await post(to, url)).toMatchObject({ error: 'connection_failed', permanent: true })
    }
    const request = { url: 'http://127.0.0.1:1/', headers: ['a', 'b\nc'], body: '' }
    expect(await to.attempt(request)).toMatchObject({ error: 'connection_failed', permanent: true })
    expect(to.stats()).toEqual({ inFlight: 0, connections: 0, idle: 0, origins: 0 })
  })
})

/** Oddities that RFC 9112 lets a client take. The second answer must never be taken for one. */
describe('an odd answer is taken once, and its connection is closed:', () => {
  test.each([
    ['a length twice', 'Content-Length: 2\r\nContent-Length: 2\r\n\r\nok'],
    ['a list of equal lengths', 'Content-Length: 2, 02\r\n\r\nok'],
    ['a length besides chunks', `Content-Length: 7\r\n${CHUNKED}2\r\nok\r\n0\r\n\r\n`],
    ['a folded header', 'X-A: b\r\n c\r\n\td\r\nContent-Length: 2\r\n\r\nok'],
    ['a space before the first header', ' X-B: c\r\nX-A: b c d\r\nContent-Length: 2\r\n\r\nok'],
    ['a space before a colon', 'X-A : b c d\r\nContent-Length : 2\r\n\r\nok'],
    ['a control character', 'X-A: b c\x1bd\r\nContent-Length: 2\r\n\r\nok'],
    ['line feeds alone', 'X-A: b c d\nContent-Length: 2\n\nok'],
    ['spaces after a chunk size', `X-A: b c d\r\n${CHUNKED}2  \r\nok\r\n0 \r\nA: b\n\r\n`],
    ['a length besides another encoding', 'Content-Length: 9\r\nTransfer-Encoding: gzip\r\n\r\nok'],
  ])('%s', async (what, rest) => {
    const isUntilClose = what.endsWith('another encoding')
    const second = isUntilClose ? '' : 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n'
    const answer = `HTTP/1.1 200 OK\r\n${rest}`
    for (const needsBody of [false, true]) {
      // The answer comes as a whole, or in two parts that divide it anywhere.
      for (const cut of [0, 9, 16, 17, 18, 30, answer.length - 1, answer.length]) {
        const server = await raw((socket) =>
          onRawRequest(socket, () => {
            socket.setNoDelay(true)
            socket.write(answer.slice(0, cut), () =>
              setImmediate(() => {
                socket.write(answer.slice(cut) + second)
                if (isUntilClose) socket.end()
              }),
            )
          }),
        )
        const to = sender()
        const request = { url: server.url, headers, body: 'hello', responseHeaders: ['x-a'] }
        const result = await to.attempt({ ...request, responseBytesMax: 100, needsBody })
        expect(result).toMatchObject({ kind: 'response', statusCode: 200 })
        if (needsBody) expect(result).toMatchObject({ body: Buffer.from('ok') })
        expect(to.stats()).toMatchObject({ connections: 0 })
        await waitFor(() => server.open() === 0, { what: 'the connection to be closed' })
      }
    }
  })

  test('its headers count', async () => {
    const server = await saying('HTTP/1.1 503 No\nRetry-After: 7\nX-A: b\n c\nX-A: d\n__proto__: e\n\n')
    const request = { url: server.url, headers, body: 'hello', responseHeaders: ['x-a', '__proto__'] }
    expect(await sender().attempt(request)).toMatchObject({
      statusCode: 503,
      retryAfterSeconds: 7,
      headers: { 'x-a': 'b c, d' },
    })
  })

  test('chunks of HTTP/1.0', async () => {
    const server = await saying(`HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n${CHUNKED}2\r\nok\r\n0\r\n\r\n`)
    const to = sender()
    expect(await post(to, server.url)).toMatchObject({ statusCode: 200 })
    expect(to.stats()).toMatchObject({ connections: 0 })
  })
})

describe('TLS', () => {
  const authority = createAuthority()
  const ca = authority.cert
  const day = 86_400_000

  const attemptAgainst = async (
    tls: { key: string; cert: string },
    options: Partial<HttpSenderOptions> = {},
  ) => {
    const hooks = await receiver({ tls })
    return post(sender({ ca, ...options }), `https://localhost:${hooks.port}/`)
  }

  test('gets the name of the host without the dot at its end', async () => {
    const names: (string | false | null)[] = []
    const server = createTlsServer(authority.issue(['hooks.example']), (socket) => {
      names.push(socket.servername)
      onRawRequest(socket, () => socket.write(OK))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    opened.push({ close: () => new Promise((resolve) => server.close(() => resolve())) })
    const { port } = server.address() as AddressInfo
    const to = sender({ ca, resolver: { resolve: () => Promise.resolve(['127.0.0.1']) } })
    for (const host of ['hooks.example', 'hooks.example.'])
      expect(await post(to, `https://${host}:${port}/`)).toMatchObject({ statusCode: 200 })
    expect(names).toEqual(['hooks.example', 'hooks.example'])
  })

  test('refused by a server without it says the reason alone', async () => {
    const server = await raw((socket) => socket.once('data', () => socket.write('no TLS here')))
    const result = await post(sender(), server.url.replace('http', 'https'))
    expect(result).toEqual(failed('tls', 'wrong version number', 'tls'))
  })

  test('with a certificate for the host is delivered', async () => {
    const hooks = await receiver({ tls: authority.issue(['localhost', '127.0.0.1']) })
    const to = sender({ ca })
    expect(await post(to, `https://localhost:${hooks.port}/a`)).toMatchObject({ statusCode: 200 })
    expect(await post(to, `https://127.0.0.1:${hooks.port}/b`)).toMatchObject({ statusCode: 200 })
    hooks.dropConnections()
    await waitFor(() => to.stats().connections === 0, { what: 'both ends to be seen' })
    expect(await post(to, `https://localhost:${hooks.port}/c`)).toMatchObject({ statusCode: 200 })
  })

  /** Answers in a thread of its own, so that answers arrive before this thread hears that its writes are done. */
  const quickServer = async () => {
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      const { OK, ...certificate } = workerData
      let accepted = 0
      const server = require('node:tls').createServer(certificate, (socket) => {
        accepted++
        socket.on('data', (chunk) => chunk.includes('#') && socket.write(OK))
      })
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
      parentPort.on('message', () => parentPort.postMessage(accepted))`
    const thread = new Worker(code, { eval: true, workerData: { OK, ...authority.issue(['localhost']) } })
    opened.push({ close: async () => void (await thread.terminate()) })
    const [port] = (await once(thread, 'message')) as [number]
    const accepted = async () => {
      thread.postMessage('how many?')
      return ((await once(thread, 'message')) as [number])[0]
    }
    return { url: `https://localhost:${port}/`, accepted }
  }

  test('connections are used again if an answer comes before the end of the write is reported', async () => {
    const server = await quickServer()
    const to = sender({ ca })
    for (let round = 0; round < 20; round++)
      await Promise.all(Array.from({ length: 16 }, () => post(to, server.url, Buffer.from('#'))))
    expect(await server.accepted()).toBeLessThanOrEqual(16)
  })

  test.each([
    [
      'expired',
      () =>
        authority.issue(['localhost'], {
          notBefore: new Date(Date.now() - 2 * day),
          notAfter: new Date(Date.now() - day),
        }),
      /expired/,
    ],
    ['for another host', () => authority.issue(['other.example']), /altnames/],
    ['self-signed', () => createSelfSigned(['localhost']), /self-signed/],
    ['of an unknown authority', () => createAuthority().issue(['localhost']), /unable to verify/],
  ])('with a certificate %s fails', async (_what, certificate, detail) => {
    expect(await attemptAgainst(certificate())).toEqual(failed('tls', expect.stringMatching(detail)))
  })

  test('against a server that speaks plain HTTP fails', async () => {
    const hooks = await receiver()
    expect(await post(sender(), `https://127.0.0.1:${hooks.port}/`)).toEqual(failed('tls'))
  })

  test('a server that offers only HTTP/2 is named so', async () => {
    const server = createSecureServer(authority.issue(['localhost'])).listen(0, '127.0.0.1')
    opened.push({ close: async () => void server.close() })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const result = await post(sender({ ca: authority.cert }), `https://localhost:${port}/`)
    expect(result).toEqual(failed('tls', expect.stringContaining('does not offer HTTP/1.1')))
  })

  test('a server that begins with a frame of HTTP/2 is named so', async () => {
    const server = createHttp2Server().listen(0, '127.0.0.1')
    opened.push({ close: async () => void server.close() })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const result = await post(sender(), `http://127.0.0.1:${port}/`)
    expect(result).toEqual(failed('invalid_response', expect.stringContaining('does not offer HTTP/1.1')))
  })
})

describe('the response body', () => {
  test('up to the bound is read, and the connection used again', async () => {
    const hooks = await receiver()
    hooks.respond('/', { body: 'x'.repeat(1_000) })
    const to = sender({ responseBytesMax: 1_000 })
    await post(to, hooks.url)
    await post(to, hooks.url)
    expect(hooks.connections().accepted).toBe(1)
  })

  test.each([200, 503])('past the bound is cut, and the status %i stands', async (status) => {
    const hooks = await receiver()
    hooks.respond('/', { status, body: Buffer.alloc(5_000_000) })
    const to = sender({ responseBytesMax: 1_000 })
    expect(await post(to, hooks.url)).toMatchObject({ kind: 'response', statusCode: status })
    expect(to.stats().connections).toBe(0)
    await waitFor(() => hooks.connections().open === 0, { what: 'the connection to be closed' })
  })

  test('without an end is cut', async () => {
    const server = await raw((socket) => {
      onRawRequest(socket, () => {
        const more = () => {
          while (socket.writable && socket.write('400\r\n'.padEnd(0x400 + 5, 'x').concat('\r\n'))) {}
        }
        socket.on('drain', more)
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
        more()
      })
    })
    expect(await post(sender(), server.url)).toMatchObject({ kind: 'response', statusCode: 200 })
  })
})

describe('the beginning of an answer', () => {
  const keep = { of: 'failures', bytesMax: 4, fromAnywhere: true } as const
  const asked = async (to: TestSender, url: string, keepAnswer: HttpRequest['keepAnswer']) => {
    const result = await to.attempt({ url, headers, body: 'hello', keepAnswer })
    return result.kind === 'response' ? result.answer : undefined
  }

  test('is kept of failures, or of all, up to its bound', async () => {
    const hooks = await receiver()
    hooks.respond('/bad', { status: 503, body: 'db down', headers: { 'x-request-id': '7' } })
    hooks.respond('/good', { body: 'thanks' })
    const to = sender()
    const bad = await asked(to, `${hooks.url}/bad`, keep)
    expect([bad?.headers['x-request-id'], bad?.body()]).toEqual(['7', 'db d'])
    expect(await asked(to, `${hooks.url}/good`, keep)).toBeUndefined()
    expect((await asked(to, `${hooks.url}/good`, { ...keep, of: 'all' }))?.body()).toBe('than')
    expect(await asked(to, `${hooks.url}/bad`, undefined)).toBeUndefined()
  })

  test('shows no body of a private address, also if a setting or a proxy allows it', async () => {
    const hooks = await receiver()
    hooks.respond('/', { status: 500, body: 'secret' })
    const resolver = { resolve: () => Promise.resolve(['127.0.0.1']) }
    for (const options of [
      { resolver },
      { allowPrivate: false, allow: ['127.0.0.1', 'inner.example'], resolver },
    ]) {
      const answer = await asked(sender(options), `http://inner.example:${hooks.port}/`, {
        ...keep,
        fromAnywhere: false,
      })
      expect([typeof answer?.headers.date, answer?.body()]).toEqual(['string', undefined])
    }
  })
})

describe('options of a request', () => {
  const asking = (to: TestSender, url: string, given: Partial<HttpRequest>) =>
    to.attempt({ url, headers, body: 'hello', ...given })

  test('its own deadline, shorter or longer than the sender’s', async () => {
    const hooks = await receiver()
    hooks.respond('/hang', { hang: 'beforeHeaders' })
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    hooks.respond('/slow', { until: released })
    const to = sender({ timeoutMs: 200 })
    // The connections are opened first, so that no deadline ends while one is still being made.
    await Promise.all([1, 2, 3].map(() => asking(to, hooks.url, { timeoutMs: 5_000 })))
    const short = asking(to, `${hooks.url}/hang`, { timeoutMs: 50 })
    const long = asking(to, `${hooks.url}/slow`, { timeoutMs: 5_000 })
    const common = asking(to, `${hooks.url}/slow`, {})
    expect(await short).toEqual(failed('timeout', 'no answer within 50 ms'))
    expect(await common).toEqual(failed('timeout', 'no answer within 200 ms'))
    release()
    expect(await long).toMatchObject({ kind: 'response', statusCode: 200 })
    expect(hooks.connections().accepted).toBe(3)
    expect(to.stats().inFlight).toBe(0)
  })

  test('the response’s body, up to a bound', async () => {
    const hooks = await receiver()
    hooks.respond('/', (_, n) => ({ status: 201, body: 'x'.repeat(n * 100_000) }))
    const to = sender()
    const bodies = []
    for (let i = 0; i < 3; i++) bodies.push(await asking(to, hooks.url, { responseBytesMax: 200_000 }))
    expect(
      bodies.map((result) => result.kind === 'response' && [result.statusCode, result.body?.length]),
    ).toEqual([
      [201, 100_000],
      [201, 200_000],
      [201, undefined],
    ])
    const [unasked, empty] = [await post(to, hooks.url), await receiver()]
    expect(unasked).not.toHaveProperty('body')
    expect(await asking(to, empty.url, { responseBytesMax: 10 })).toMatchObject({ body: Buffer.alloc(0) })
  })

  test('a small bound does not cut the connection', async () => {
    const hooks = await receiver()
    hooks.respond('/', { body: 'longer than four' })
    const to = sender()
    for (let i = 0; i < 3; i++) {
      expect(await asking(to, hooks.url, { responseBytesMax: 4 })).not.toHaveProperty('body')
    }
    expect(hooks.connections().accepted).toBe(1)
  })

  test('the beginning of the response as text, whole characters and decompressed', async () => {
    const hooks = await receiver()
    const long = 'é'.repeat(1_000)
    hooks.respond('/plain', { status: 503, body: long })
    hooks.respond('/gzip', { headers: { 'Content-Encoding': 'gzip' }, body: gzipSync(long) })
    hooks.respond('/deflate', { headers: { 'Content-Encoding': 'deflate' }, body: deflateSync(long) })
    hooks.respond('/bomb', {
      headers: { 'Content-Encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(9_999_999)),
    })
    hooks.respond('/broken', { headers: { 'Content-Encoding': 'gzip' }, body: 'no gzip' })
    hooks.respond('/other', { headers: { 'Content-Encoding': 'br' }, body: 'xyz' })
    const to = sender()
    const textAt = async (path: string, textBytesMax = 101) => {
      const result = await asking(to, hooks.url + path, { textBytesMax })
      return result.kind === 'response' && [result.statusCode, result.text]
    }
    expect(await textAt('/plain')).toEqual([503, 'é'.repeat(50)])
    expect(await textAt('/gzip')).toEqual([200, 'é'.repeat(50)])
    expect(await textAt('/deflate')).toEqual([200, 'é'.repeat(50)])
    expect(await textAt('/bomb', 1_024)).toEqual([200, '\0'.repeat(1_024)])
    expect(await textAt('/broken')).toEqual([200, '(gzip)'])
    expect(await textAt('/other')).toEqual([200, '(br)'])
    expect(await textAt('/empty')).toEqual([200, ''])
    expect(await post(to, `${hooks.url}/plain`)).not.toHaveProperty('text')
  })

  test('the text of the answer that counts, not of the challenge before it', async () => {
    const hooks = await receiver()
    hooks.respond('/', (_, n) =>
      n === 1
        ? { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="x"' }, body: 'who are you?' }
        : { body: 'welcome' },
    )
    const url = hooks.url.replace('//', '//user:word@')
    expect(await asking(sender(), url, { textBytesMax: 100 })).toMatchObject({ text: 'welcome' })
  })

  test('to be cut short', async () => {
    const hooks = await receiver()
    hooks.respond('/', { hang: 'beforeHeaders' })
    const to = sender()
    const calling = new AbortController()
    const hanging = asking(to, hooks.url, { signal: calling.signal })
    await hooks.waitForRequests(1)
    calling.abort()
    expect(await hanging).toEqual(failed('timeout', 'no answer before it was called off'))
    const deadline = new AbortController()
    const late = asking(to, hooks.url, { signal: deadline.signal })
    await hooks.waitForRequests(2)
    deadline.abort(new DOMException('late', 'TimeoutError'))
    expect(await late).toEqual(failed('timeout', 'no answer before the deadline of the attempt'))
    expect(await asking(to, hooks.url, { signal: calling.signal })).toMatchObject({
      error: 'connection_failed',
      detail: 'it was called off',
    })
    expect(to.stats().inFlight).toBe(0)
  })
})

describe('connections', () => {
  test('are used again, one request at a time', async () => {
    const hooks = await receiver()
    const to = sender()
    for (let i = 0; i < 5; i++) await post(to, hooks.url)
    await Promise.all(Array.from({ length: 5 }, () => post(to, hooks.url)))
    expect(hooks.connections().accepted).toBeLessThanOrEqual(5)
    expect(to.stats()).toMatchObject({ inFlight: 0, origins: 1 })
  })

  test('a reset of a used one before any answer is tried once more on a fresh one', async () => {
    const seen: string[] = []
    const server = await raw((socket, connection) => {
      onRawRequest(socket, (_request, n) => {
        seen.push(`${connection}.${n}`)
        if (n === 2) socket.resetAndDestroy()
        else socket.write(OK)
      })
    })
    const to = sender()
    expect(await post(to, server.url)).toMatchObject({ statusCode: 200 })
    expect(await post(to, server.url)).toMatchObject({ statusCode: 200 })
    expect(seen).toEqual(['1.1', '1.2', '2.1'])
  })

  test('a caller learns of a reset of a used connection, and makes the next request on a fresh one', async () => {
    const server = await raw((socket) => {
      onRawRequest(socket, (_request, n) => {
        if (n === 1) socket.write(OK)
        else socket.resetAndDestroy()
      })
    })
    const to = sender()
    await Promise.all([post(to, server.url), post(to, server.url)])
    const request = { url: server.url, headers: [], body: '' }
    const again = await new Promise<FurtherRequest>((resolve, reject) =>
      to.send(request, () => reject(new Error('it ended')), resolve),
    )
    expect(again).toMatchObject({ cause: 'reset', resets: 1, challenges: 0 })
    expect(await to.attempt({ ...request, earlier: again })).toMatchObject({ statusCode: 200 })
    expect(server.accepted()).toBe(3)
    expect(to.stats().inFlight).toBe(0)
  })

  test('a server that resets every reused one costs no attempt: 800 of 800', async () => {
    const server = await raw((socket) =>
      onRawRequest(socket, (_request, n) => {
        if (n === 1) socket.write(OK)
        else socket.resetAndDestroy()
      }),
    )
    const to = sender()
    const statuses: unknown[] = []
    const one = async () => {
      for (let i = 0; i < 40; i++) {
        const result = await post(to, server.url)
        statuses.push(result.kind === 'response' ? result.statusCode : errorCodeOf(result))
      }
    }
    await Promise.all(Array.from({ length: 20 }, one))
    expect(statuses).toEqual(Array(800).fill(200))
    expect(server.accepted()).toBeGreaterThan(700)
  })

  test('a reset of the fresh one too is a failure', async () => {
    const server = await raw((socket, connection) => {
      onRawRequest(socket, (_request, n) => {
        if (connection === 1 && n === 1) socket.write(OK)
        else socket.resetAndDestroy()
      })
    })
    const to = sender()
    await post(to, server.url)
    expect(await post(to, server.url)).toEqual(failed('connection_reset'))
    expect(server.accepted()).toBe(2)
  })

  test('a reset of a used one within an answer is a failure', async () => {
    const server = await raw((socket) => {
      onRawRequest(socket, (_request, n) => {
        if (n === 1) socket.write(OK)
        else socket.write('HTTP/1.1 200 OK\r\nContent-Le', () => socket.resetAndDestroy())
      })
    })
    const to = sender()
    await post(to, server.url)
    expect(await post(to, server.url)).toEqual(failed('connection_reset'))
    expect(server.accepted()).toBe(1)
  })

  test.each([
    [
      'a used one that then closes, is repeated on a fresh one',
      2,
      'Connection: close\r\n',
      200,
      ['1.1', '1.2', '2.1'],
    ],
    ['a used one that stays open, is the answer', 2, '', 408, ['1.1', '1.2']],
    ['a new one that then closes, is the answer', 1, 'Connection: close\r\n', 408, ['1.1']],
  ])('a 408 on %s', async (_what, at, header, statusCode, expected) => {
    const seen: string[] = []
    const server = await raw((socket, connection) => {
      onRawRequest(socket, (_request, n) => {
        seen.push(`${connection}.${n}`)
        if (n === at) socket.write(`HTTP/1.1 408 Request Timeout\r\n${header}Content-Length: 0\r\n\r\n`)
        else socket.write(OK)
      })
    })
    const to = sender()
    for (let n = 1; n < at; n++) await post(to, server.url)
    expect(await post(to, server.url)).toMatchObject({ kind: 'response', statusCode })
    expect(seen).toEqual(expected)
  })

  test('a 408 on the fresh one too is the answer', async () => {
    const server = await raw((socket, connection) => {
      onRawRequest(socket, (_request, n) => {
        if (connection === 1 && n === 1) socket.write(OK)
        else socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      })
    })
    const to = sender()
    await post(to, server.url)
    expect(await post(to, server.url)).toMatchObject({ statusCode: 408 })
    expect(server.accepted()).toBe(2)
  })

  test('follow the name of a busy endpoint within a minute', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    let addresses = ['127.0.0.1']
    const [former, latter] = [await receiver(), createServer((_request, response) => response.end())]
    await new Promise<void>((resolve) => latter.listen(former.port, '127.0.0.2', resolve))
    opened.push({ close: () => new Promise((resolve) => latter.close(() => resolve())) })
    let arrived = 0
    latter.on('request', () => arrived++)
    const to = sender({ resolver: { resolve: () => Promise.resolve(addresses) }, timeoutMs: 600_000 })
    const url = `http://moving.example:${former.port}/`
    await post(to, url)
    addresses = ['127.0.0.2']
    vi.advanceTimersByTime(59_000)
    await post(to, url)
    expect(former.connections().accepted).toBe(1)
    vi.advanceTimersByTime(2_000)
    expect(await post(to, url)).toMatchObject({ statusCode: 200 })
    expect([former.requests.length, arrived, to.stats().connections]).toEqual([2, 1, 1])
  })

  test('stay open for as long as their name leads to their address', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const hooks = await receiver()
    const resolve = vi.fn(async () => ['127.0.0.3', '127.0.0.1'])
    const to = sender({ resolver: { resolve }, timeoutMs: 600_000 })
    const url = `http://steady.example:${hooks.port}/`
    for (let minute = 0; minute < 3; minute++) {
      await post(to, url)
      vi.advanceTimersByTime(31_000)
      await post(to, url)
      await waitFor(() => resolve.mock.calls.length === 2 + 2 * minute, { what: 'the name to be resolved' })
      vi.advanceTimersByTime(31_000)
    }
    expect(hooks.connections().accepted).toBe(1)
  })

  test('are replaced before the next request if they will soon be too old and dials are slow', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const hooks = await receiver()
    const resolve = async () => {
      vi.advanceTimersByTime(40)
      return ['127.0.0.1']
    }
    const to = sender({ resolver: { resolve }, timeoutMs: 600_000 })
    const url = `http://slow.example:${hooks.port}/`
    await post(to, url)
    to.openAhead({ url })
    expect(to.stats()).toMatchObject({ connections: 1, idle: 1 })
    vi.advanceTimersByTime(58_000)
    to.openAhead({ url })
    await waitFor(() => hooks.connections().accepted === 2 && hooks.connections().open === 1)
    expect(to.stats()).toMatchObject({ connections: 1, idle: 1 })
  })

  test('too old at the end of their request are closed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const hooks = await receiver()
    const gate = Promise.withResolvers<void>()
    hooks.respond('/', { until: gate.promise })
    const to = sender({ timeoutMs: 600_000 })
    const slow = post(to, hooks.url)
    await hooks.waitForRequests(1)
    vi.advanceTimersByTime(61_000)
    gate.resolve()
    expect(await slow).toMatchObject({ statusCode: 200 })
    expect(to.stats().connections).toBe(0)
  })

  test('on which an answer came before the whole request was written are not used again', async () => {
    const server = await raw((socket) => {
      socket.once('data', () => {
        socket.pause()
        socket.write(OK)
      })
    })
    const to = sender()
    expect(await post(to, server.url, Buffer.alloc(32_000_000))).toMatchObject({ statusCode: 200 })
    expect(to.stats().connections).toBe(0)
  })

  test('closed by the server while idle are forgotten', async () => {
    const hooks = await receiver()
    const to = sender()
    await post(to, hooks.url)
    expect(to.stats()).toMatchObject({ connections: 1, idle: 1, origins: 1 })
    hooks.dropConnections()
    await waitFor(() => to.stats().connections === 0, { what: 'the end to be seen' })
    expect(to.stats().origins).toBe(0)
    expect(await post(to, hooks.url)).toMatchObject({ statusCode: 200 })
  })

  test('are not kept if the server does not keep them', async () => {
    const hooks = await receiver()
    hooks.respond('/', { headers: { connection: 'close' } })
    const to = sender()
    await Promise.all([1, 2, 3].map(() => post(to, hooks.url)))
    expect(to.stats()).toMatchObject({ connections: 0, idle: 0, origins: 0 })
  })

  test('idle for too long are closed', async () => {
    const hooks = await receiver({ keepAliveTimeoutMs: 0 })
    const to = sender({ idleMs: 20 })
    await post(to, hooks.url)
    await waitFor(() => hooks.connections().open === 0 && to.stats().connections === 0, {
      what: 'no connection',
    })
  })

  test('are as many as attempts need, and only so many are kept', async () => {
    const hooks = await receiver()
    let open: (() => void) | undefined
    const until = new Promise<void>((resolve) => {
      open = resolve
    })
    hooks.respond('/', { until })
    const to = sender({ connectionsMax: 8 })
    const all = Array.from({ length: 50 }, () => post(to, hooks.url))
    await hooks.waitForRequests(50)
    expect(to.stats()).toEqual({ inFlight: 50, connections: 50, idle: 0, origins: 1 })
    open?.()
    await Promise.all(all)
    await waitFor(() => hooks.connections().open === 8, { what: 'what is too much to be closed' })
    expect(to.stats()).toEqual({ inFlight: 0, connections: 8, idle: 8, origins: 1 })
  })

  test('are passed on to requests that wait, and a new one is opened if none becomes free', async () => {
    const hooks = await receiver()
    let open: (() => void) | undefined
    hooks.respond('/slow', { until: new Promise<void>((resolve) => (open = resolve)) })
    const to = sender()
    const slow = post(to, `${hooks.url}/slow`)
    await hooks.waitForRequests(1)
    const [first, second] = [post(to, hooks.url), post(to, hooks.url)]
    expect(to.stats()).toMatchObject({ inFlight: 3, connections: 1 })
    expect(await first).toMatchObject({ statusCode: 200 })
    expect(await second).toMatchObject({ statusCode: 200 })
    open?.()
    expect(await slow).toMatchObject({ statusCode: 200 })
    await waitFor(() => to.stats().inFlight === 0)
    expect(to.stats().idle).toBe(to.stats().connections)
  })

  test('to a host that keeps them grow by a quarter per dial, and each request that waits gets one', async () => {
    const hooks = await receiver()
    let open: (() => void) | undefined
    hooks.respond('/slow', { until: new Promise<void>((resolve) => (open = resolve)) })
    let [dialling, atMost] = [0, 0]
    const resolver = {
      async resolve() {
        dialling += 1
        await nextTurn()
        atMost = Math.max(atMost, dialling)
        dialling -= 1
        return ['127.0.0.1']
      },
    }
    const to = sender({ resolver })
    await post(to, `http://busy.example:${hooks.port}/`)
    const all = Array.from({ length: 20 }, () => post(to, `http://busy.example:${hooks.port}/slow`))
    await hooks.waitForRequests(21)
    expect(atMost).toBeLessThanOrEqual(5)
    open?.()
    await Promise.all(all)
  })

  test('are dialled as soon for a request after a crowd as for one before it', async () => {
    const hooks = await receiver()
    const gates = Object.fromEntries(
      ['/a', '/b', '/d'].map((path) => [path, Promise.withResolvers<void>()] as const),
    )
    for (const [path, { promise }] of Object.entries(gates)) hooks.respond(path, { until: promise })
    let dial = Promise.resolve()
    const resolver = {
      async resolve() {
        await dial
        return ['127.0.0.1']
      },
    }
    const to = sender({ resolver, timeoutMs: 600_000 })
    const at = (path: string) => post(to, `http://busy.example:${hooks.port}${path}`)
    const requests = async (count: number) => {
      while (hooks.requests.length < count) await nextTurn()
    }
    const pass = async (ms: number) => {
      for (let i = 0; i < ms; i++) {
        vi.advanceTimersByTime(1)
        await nextTurn()
      }
    }
    await at('/')
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    const a = at('/a')
    await requests(2)
    const slow = Promise.withResolvers<void>()
    dial = slow.promise
    const b = at('/b')
    // The only dial that may be under way hangs. The next request must wait for the connection that is there.
    await pass(20)
    const c = at('/')
    await pass(20)
    gates['/a']?.resolve()
    expect(await Promise.all([a, c])).toMatchObject([{ statusCode: 200 }, { statusCode: 200 }])
    slow.resolve()
    await requests(4)
    // Both connections are busy now, and no dial is under way.
    const d = at('/d')
    await requests(5)
    const last = at('/')
    await pass(100)
    expect(await last).toMatchObject({ statusCode: 200 })
    for (const { resolve } of Object.values(gates)) resolve()
    await Promise.all([b, d])
  })

  test('are not dialled because this process stood still once or twice', async () => {
    const hooks = await receiver()
    const gate = Promise.withResolvers<void>()
    hooks.respond('/slow', { until: gate.promise })
    const to = sender({ timeoutMs: 600_000 })
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    await post(to, hooks.url)
    const first = post(to, `${hooks.url}/slow`)
    while (hooks.requests.length < 2) await nextTurn()
    const second = post(to, hooks.url)
    const clock = vi.spyOn(performance, 'now')
    const late = performance.now() + 300
    // Two stalls do not count. A process that is always late must dial at last.
    for (const [now, connections] of [
      [late, 1],
      [late + 300, 1],
      [late + 600, 2],
    ] as const) {
      clock.mockReturnValue(now)
      vi.advanceTimersByTime(5)
      await nextTurn()
      expect(to.stats().connections).toBe(connections)
    }
    expect(await second).toMatchObject({ statusCode: 200 })
    gate.resolve()
    await first
  })

  test('closed by the server are replaced for requests that wait, but not for one that was called off', async () => {
    const server = await raw((socket) => socket.once('data', () => socket.end(OK)))
    const to = sender()
    const called = new AbortController()
    const body = Buffer.alloc(0)
    const calledOff = { url: server.url, headers: {}, body, signal: called.signal }
    const all = [post(to, server.url), post(to, server.url), to.attempt(calledOff)]
    called.abort()
    const [one, two, off] = await Promise.all(all)
    expect([one, two]).toMatchObject([{ statusCode: 200 }, { statusCode: 200 }])
    expect(off).toMatchObject({ error: 'timeout', detail: 'no connection before it was called off' })
    await waitFor(() => to.stats().connections === 0)
  })

  test('idle to many origins are bounded together, the longest idle going first', async () => {
    const server = createServer((_request, response) => response.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    opened.push({ close: () => new Promise((resolve) => server.close(() => resolve())) })
    const { port } = server.address() as AddressInfo
    const resolver = { resolve: () => Promise.resolve(['127.0.0.1']) }
    const to = sender({ resolver, idleConnectionsMax: 5 })
    for (let i = 0; i < 20; i++) await post(to, `http://host-${i}.example:${port}/`)
    expect(to.stats()).toEqual({ inFlight: 0, connections: 5, idle: 5, origins: 5 })
  })

  test('idle to an origin with several end before those of others', async () => {
    const hooks = await receiver()
    let open: (() => void) | undefined
    hooks.respond('/busy', { until: new Promise<void>((resolve) => (open = resolve)) })
    const resolver = { resolve: () => Promise.resolve(['127.0.0.1']) }
    const to = sender({ resolver, idleConnectionsMax: 5 })
    for (let i = 0; i < 4; i++) await post(to, `http://host-${i}.example:${hooks.port}/`)
    const requests = Array.from({ length: 3 }, () => post(to, `http://busy.example:${hooks.port}/busy`))
    await hooks.waitForRequests(7)
    open?.()
    await Promise.all(requests)
    expect(to.stats()).toEqual({ inFlight: 0, connections: 5, idle: 5, origins: 5 })
  })
})

describe('the address guard', () => {
  test('refuses literal and resolved addresses at every connection, permanently', async () => {
    const hooks = await receiver()
    let addresses = ['127.0.0.1']
    const resolver = { resolve: () => Promise.resolve(addresses) }
    const guarded = sender({ allowPrivate: false, resolver })
    const refused = { ...failed('forbidden_address'), permanent: true }
    expect(await post(guarded, hooks.url)).toEqual(refused)
    expect(await post(guarded, `http://2130706433:${hooks.port}/`)).toEqual(refused)
    expect(await post(guarded, `http://[::ffff:127.0.0.1]:${hooks.port}/`)).toEqual(refused)
    expect(await post(guarded, `http://rebound.example:${hooks.port}/`)).toEqual(refused)
    const named = sender({ allowPrivate: false, allow: ['rebound.example'], deny: ['127.0.0.2'], resolver })
    expect(await post(named, `http://rebound.example:${hooks.port}/`)).toMatchObject({ statusCode: 200 })
    addresses = ['127.0.0.2']
    hooks.dropConnections()
    await waitFor(() => named.stats().connections === 0, { what: 'the end to be seen' })
    expect(await post(named, `http://rebound.example:${hooks.port}/`)).toEqual(refused)
    expect(hooks.requests).toHaveLength(1)
  })

  test('leaves the addresses that may be dialled', async () => {
    const hooks = await receiver()
    const resolver = { resolve: () => Promise.resolve(['127.0.0.9', '127.0.0.1']) }
    const to = sender({ deny: ['127.0.0.9'], resolver })
    expect(await post(to, `http://two.example:${hooks.port}/`)).toMatchObject({ statusCode: 200 })
  })

  test('the next address is tried when the first does not answer', async () => {
    const hooks = await receiver()
    const resolver = { resolve: () => Promise.resolve(['127.0.0.9', '127.0.0.1']) }
    expect(await post(sender({ resolver }), `http://two.example:${hooks.port}/`)).toMatchObject({
      statusCode: 200,
    })
  })

  test('localhost is just a name', async () => {
    const hooks = await receiver()
    expect(await post(sender(), `http://localhost:${hooks.port}/`)).toMatchObject({ statusCode: 200 })
  })
})

test('every attempt ends and every connection is closed, whatever the endpoint does', async () => {
  const faults: ((socket: Socket) => void)[] = [
    (socket) => socket.write(OK),
    (socket) => socket.write(OK),
    (socket) => socket.end(OK),
    (socket) => socket.write(OK, () => socket.resetAndDestroy()),
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.end(),
    (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', () => socket.end()),
    (socket) => socket.write('nonsense\r\n\r\n'),
    (socket) => socket.write(OK + OK),
    (socket) => socket.write(`HTTP/1.1 500 No\r\nContent-Length: 5000\r\n\r\n${'x'.repeat(5_000)}`),
    (socket) => socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n', () => socket.end()),
    () => {},
  ]
  let asked = 0
  const server = await raw((socket) => {
    onRawRequest(socket, () => faults[(asked++ * 7) % faults.length]?.(socket))
  })
  const to = sender({ timeoutMs: 300, connectionsMax: 16, responseBytesMax: 1_000 })
  const results: AttemptResult[] = []
  const one = async () => {
    for (let i = 0; i < 20; i++) results.push(await post(to, `${server.url}/${i}`))
  }
  await Promise.all(Array.from({ length: 40 }, one))
  expect(results).toHaveLength(800)
  const kinds = new Set(
    results.map((result) => (result.kind === 'response' ? result.statusCode : errorCodeOf(result))),
  )
  expect(kinds).toEqual(new Set([200, 500, 'connection_reset', 'invalid_response', 'timeout']))
  await waitFor(() => to.stats().connections === to.stats().idle, { what: 'no busy connection' })
  expect(to.stats().inFlight).toBe(0)
  expect(to.stats().connections).toBeLessThanOrEqual(16)
  await waitFor(() => server.open() === to.stats().connections, { what: 'both sides to agree' })
})

test('close lets attempts end, takes no more, and cuts what outlasts its grace', async () => {
  const hooks = await receiver()
  hooks.respond('/slow', { delayMs: 30 })
  hooks.respond('/hang', { hang: 'beforeHeaders' })
  const patient = sender()
  const slow = post(patient, `${hooks.url}/slow`)
  await patient.close()
  expect(await slow).toMatchObject({ statusCode: 200 })
  expect(await post(patient, hooks.url)).toMatchObject({
    error: 'connection_failed',
    detail: 'the sender is closed',
  })
  const hasty = sender()
  const hanging: Promise<AttemptResult> = post(hasty, `${hooks.url}/hang`)
  await hooks.waitForRequests(1, '/hang')
  await hasty.close(0)
  expect(await hanging).toMatchObject({ error: 'timeout' })
  await waitFor(() => hooks.connections().open === 0, { what: 'all connections to be closed' })
})
