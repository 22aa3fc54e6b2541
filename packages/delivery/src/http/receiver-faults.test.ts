/** Faults of a receiver, on real sockets. Each attempt ends within its deadline, and memory stays bounded. */
import { spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import type { AttemptResult } from '@fantail/contracts'
import {
  createAuthority,
  FLOOD_BYTES_MAX,
  FLOODS,
  type Flood,
  flood,
  freePort,
  onRawRequest,
  type RawServer,
  startFairTimer,
  startRawServer,
  startReceiver,
  waitFor,
} from '@fantail/test-kit'
import { afterEach, describe, expect, test } from 'vitest'
import { createResolver } from '../outbound/resolver.ts'
import type { HttpRequest } from './http-request.ts'
import { createTestSender, type TestSender } from './http-sender.fixture.ts'
import type { HttpSenderOptions } from './http-sender.ts'

const DEADLINE_MS = 250
/** Time-out of attempts that should succeed, also on a busy machine. */
const PATIENT_MS = 30_000
/** How late an attempt may end on a busy machine. */
const LATE_MS = 1_500
const GIGABYTES_10 = 10 * 1_073_741_824
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

const opened: { close(): unknown }[] = []

afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close()
})

function sender(options: Partial<HttpSenderOptions> = {}): TestSender {
  const created = createTestSender({ allowPrivate: true, timeoutMs: DEADLINE_MS, ...options })
  opened.push({ close: () => created.close(0) })
  return created
}

async function raw(handler: (socket: Socket, connection: number) => void): Promise<RawServer> {
  const server = await startRawServer(handler)
  opened.push(server)
  return server
}

/** Runs a server in a process of its own. Its program prints the port. */
async function startProcess(program: string) {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  opened.push({ close: () => child.kill('SIGKILL') && once(child, 'exit') })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, port: Number(line.toString()) }
}

/** Only OpenSSL's own server sends more tickets than usual. */
const hasOpenssl = spawnSync('openssl', ['version']).status === 0

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

const authority = createAuthority()
const certificate = authority.issue(['localhost'])

/** Answers every request so. */
async function answering(answer: (socket: Socket, n: number) => void, scheme: 'http' | 'https' = 'http') {
  const answered = (socket: Socket) => onRawRequest(socket, (_request, n) => answer(socket, n))
  if (scheme === 'http') return raw(answered)
  const server = await raw((socket) => {
    const secure = new TLSSocket(socket, { isServer: true, ...certificate })
    secure.on('error', () => secure.destroy())
    answered(secure)
  })
  return { ...server, url: `https://localhost:${server.port}` }
}

async function post(to: TestSender, url: string, given: Partial<HttpRequest> = {}): Promise<AttemptResult> {
  const took = startFairTimer()
  const result = await to.attempt({ url, headers: ['Content-Type', 'text/plain'], body: 'hello', ...given })
  expect(took()).toBeLessThan(to.timeoutMs + LATE_MS)
  return result
}

const status = (code: number) => ({ kind: 'response', statusCode: code })
const failure = (error: string) => ({ kind: 'failure', error, permanent: false })

/** A listener that stands still with a full backlog, so that no handshake ends. `resume`: from now on they do. */
async function fullListener(): Promise<{ port: number; resume(): void }> {
  const listen =
    "const s = require('node:net').createServer((c) => c.on('error', () => {}).once('data', () => c.end('HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n'))).listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))"
  const child = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] })
  opened.push({ close: () => child.kill('SIGKILL') && once(child, 'exit') })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(line.toString())
  child.kill('SIGSTOP')
  const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  opened.push({ close: () => fillers.forEach((socket) => void socket.destroy()) })
  await waitFor(() => fillers.filter((socket) => !socket.connecting).length >= 2)
  return { port, resume: () => void child.kill('SIGCONT') }
}

describe('an endpoint that hangs', () => {
  test('while connecting: the socket never accepts, and its backlog is full', async () => {
    const { port } = await fullListener()
    const to = sender()
    const result = await post(to, `http://127.0.0.1:${port}`)
    expect(result).toMatchObject({ error: 'timeout', detail: `no connection within ${DEADLINE_MS} ms` })
    expect(to.stats()).toMatchObject({ inFlight: 0, connections: 0 })
  })

  test.each([
    ['sends its head byte by byte', 'HTTP/1.1 200 OK\r\nX-Slow: '.padEnd(9_999, 'x'), 'no answer'],
    [
      'sends its body byte by byte',
      `HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n`.padEnd(9_999, 'x'),
      'no complete answer',
    ],
  ])('%s', async (_what, text, detail) => {
    const server = await answering((socket) => {
      socket.setNoDelay(true)
      // The head of the second answer comes at once, and only its body is slow.
      let at = text.includes('\r\n\r\n') ? text.indexOf('\r\n\r\n') + 4 : 0
      if (at > 0) socket.write(text.slice(0, at))
      const timer = setInterval(() => socket.write(text.charAt(at++)), 20)
      socket.once('close', () => clearInterval(timer))
    })
    const result = await post(sender(), server.url)
    expect(result).toMatchObject({ ...failure('timeout'), detail: expect.stringContaining(detail) })
    await waitFor(() => server.open() === 0, { what: 'the connection to be closed' })
  })
})

test.each(['1000', '1000 OK', '100x', '2000 OK', '20'])(
  'a status line with %s fails at once as an invalid answer, although the connection stays open',
  async (status) => {
    const server = await answering((socket) => void socket.write(`HTTP/1.1 ${status}\r\n\r\n`))
    const to = sender({ timeoutMs: PATIENT_MS })
    expect(await post(to, server.url)).toMatchObject(failure('invalid_response'))
    expect(to.stats()).toMatchObject({ connections: 0 })
  },
)

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
/** An extension as long as the chunk's data is no flood, so these are longer. */
const EXTENDED = `1;${'a'.repeat(98)}\r\nx\r\n`

describe.each(['http', 'https'] as const)('an endpoint that never ends over %s', (scheme) => {
  test.each<Flood>([
    ...FLOODS,
    ['an interim answer', 'HTTP/1.1 103 Early Hints\r\n', 'a: b\r\n'],
    ['its reason phrase', 'HTTP/1.1 200 ', 'a'],
    ['its headers', 'HTTP/1.1 200 OK\r\n', 'a: b\r\n'],
    ['its chunks with extensions', CHUNKED, EXTENDED],
    ['its trailers', `${CHUNKED}0\r\n`, 'a: b\r\n'],
  ])('%s is cut long before the deadline', async (_what, head, repeated) => {
    let sent = 0
    const server = await answering((socket) => {
      socket.once('close', () => {
        sent = socket.bytesWritten
      })
      flood(socket, head, repeated)
    }, scheme)
    const to = sender({ timeoutMs: PATIENT_MS, ca: authority.cert })
    const result = await post(to, server.url, { responseBytesMax: 100_000, needsBody: true })
    expect(result).toMatchObject(failure('invalid_response'))
    await waitFor(() => sent > 0, { what: 'the connection to be closed' })
    expect(sent).toBeLessThan(FLOOD_BYTES_MAX)
    expect(to.stats()).toMatchObject({ connections: 0 })
  })
})

describe.skipIf(!hasOpenssl)('an endpoint that floods', () => {
  /** OpenSSL's server. After a handshake it gets the commands again and again. */
  async function startOpenssl(options: string[], commands: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'tls-'))
    opened.push({ close: () => rm(folder, { recursive: true }) })
    const file = join(folder, 'server.pem')
    await writeFile(file, `${certificate.key}${certificate.cert}`)
    const port = await freePort()
    const all = ['s_server', '-accept', `127.0.0.1:${port}`, '-cert', file, ...options]
    const child = spawn('openssl', all, { stdio: ['pipe', 'pipe', 'ignore'] })
    opened.push({ close: () => child.kill('SIGKILL') && once(child, 'exit') })
    child.stdin.on('error', () => undefined)
    const feed = () => {
      if (commands !== '' && child.stdin.writable) child.stdin.write(commands, feed)
    }
    child.stdout.on('data', (text: Buffer) => {
      if (text.includes('CIPHER is')) feed()
    })
    await waitFor(() => canConnect(port), { what: 'the server to listen' })
    return `https://localhost:${port}/`
  }

  // Each change takes a turn of the server. Without padding, it would need ten thousand of them.
  test.each([
    ['TLS session tickets', ['-num_tickets', '20000', '-quiet'], '', 'session tickets'],
    ['padded changes of its TLS keys', ['-record_padding', '4096'], 'k\n', 'bytes of TLS without content'],
  ])('with %s is cut', async (_what, options, commands, detail) => {
    const to = sender({ timeoutMs: PATIENT_MS, ca: authority.cert })
    const result = await post(to, await startOpenssl(options, commands))
    expect(result).toMatchObject({ ...failure('tls'), detail: expect.stringContaining(detail) })
  })
})

test('content in records of TLS with a byte each is no flood', async () => {
  const body = 'x'.repeat(20_000)
  const server = await answering((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`)
    const write = (at: number) => at < body.length && socket.write(body.charAt(at), () => write(at + 1))
    write(0)
  }, 'https')
  const to = sender({ timeoutMs: PATIENT_MS, ca: authority.cert })
  expect(await post(to, server.url)).toMatchObject(status(200))
})

describe('a body', () => {
  test.each([
    ['of ten gigabytes', `HTTP/1.1 200 OK\r\nContent-Length: ${GIGABYTES_10}\r\n\r\n`, 'x'.repeat(65_536)],
    [
      'in chunks without an end',
      'HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n',
      `10000\r\n${'x'.repeat(65_536)}\r\n`,
    ],
    ['until the connection ends, which it does not', 'HTTP/1.0 200 OK\r\n\r\n', 'x'.repeat(65_536)],
  ])('%s is cut, and the status stands', async (_what, head, piece) => {
    let sent = 0
    const server = await answering((socket) => {
      socket.once('close', () => {
        sent = socket.bytesWritten
      })
      flood(socket, head, piece)
    })
    const to = sender()
    const result = await post(to, server.url, { responseBytesMax: 100_000, textBytesMax: 100 })
    expect(result).toMatchObject({ ...status(Number(head.split(' ')[1])), text: expect.any(String) })
    expect(result).not.toHaveProperty('body')
    await waitFor(() => sent > 0, { what: 'the connection to be closed' })
    expect(sent).toBeLessThan(FLOOD_BYTES_MAX)
    expect(to.stats()).toMatchObject({ connections: 0 })
  })

  test('is not inflated beyond the requested bytes if it is a gzip bomb', async () => {
    const hooks = await startReceiver()
    opened.push(hooks)
    const bomb = gzipSync(Buffer.alloc(268_435_456))
    hooks.respond('/', { headers: { 'Content-Encoding': 'gzip' }, body: bomb })
    const to = sender({ timeoutMs: PATIENT_MS })
    const before = process.memoryUsage().arrayBuffers
    const result = await post(to, hooks.url, { responseBytesMax: bomb.length, textBytesMax: 1_024 })
    expect(result).toMatchObject({ ...status(200), text: '\0'.repeat(1_024), body: bomb })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(FLOOD_BYTES_MAX)
  })

  test.each(['Content-Length: 5\r\n\r\nhello', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'])(
    'after a 204 is ignored, and spoils nothing for the next request: %j',
    async (rest) => {
      const server = await answering((socket, n) =>
        socket.write(n === 1 ? `HTTP/1.1 204 No Content\r\n${rest}` : OK),
      )
      const to = sender({ timeoutMs: PATIENT_MS })
      expect(await post(to, server.url)).toMatchObject(status(204))
      expect(await post(to, server.url)).toMatchObject(status(204))
      await waitFor(() => to.stats().connections === 0, { what: 'spoilt connections to be ended' })
    },
  )
})

describe('an answer', () => {
  test('is missing if only informational answers come', async () => {
    const server = await answering((socket) => socket.end('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'))
    expect(await post(sender(), server.url)).toMatchObject(failure('connection_reset'))
  })

  test('is read before the whole request is sent, and the connection is closed after it', async () => {
    const answer =
      'HTTP/1.1 413 Content Too Large\\r\\nConnection: close\\r\\nContent-Length: 3\\r\\n\\r\\nbig'
    // Another process, because the reset must arrive while this one writes.
    const server = await startProcess(
      `require('node:net').createServer((socket) => socket.on('error', () => {}).once('data', () => {
        socket.pause().write('${answer}', () => socket.destroy())
      })).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`,
    )
    const to = sender({ timeoutMs: PATIENT_MS })
    const body = Buffer.alloc(4_000_000, 'x')
    for (let n = 0; n < 20; n++)
      expect(await post(to, `http://127.0.0.1:${server.port}`, { body, responseBytesMax: 3 })).toMatchObject({
        ...status(413),
        body: Buffer.from('big'),
      })
  })

  test('ends the attempt if it redirects into the network, and nothing is connected to', async () => {
    const inside = await raw((socket) => socket.end())
    const server = await answering((socket) =>
      socket.write(`HTTP/1.1 307 Go\r\nLocation: ${inside.url}/\r\nContent-Length: 0\r\n\r\n`),
    )
    const to = sender({ allowPrivate: false, allow: ['hooks.example'], resolver: toLoopback })
    const url = server.url.replace('127.0.0.1', 'hooks.example')
    expect(await post(to, url)).toMatchObject(status(307))
    expect(await post(to, url)).toMatchObject(status(307))
    expect(inside.accepted()).toBe(0)
  })
})

const toLoopback = { resolve: () => Promise.resolve(['127.0.0.1']) }

describe('a name', () => {
  test('is reached if its first address needs a second for the handshake and the other one refuses', async () => {
    const { port, resume } = await fullListener()
    const resolver = { resolve: () => Promise.resolve(['127.0.0.1', '127.0.0.2']) }
    const result = post(sender({ timeoutMs: PATIENT_MS, resolver }), `http://distant.example:${port}/`)
    // The refused address is tried after 250 ms. The kernel repeats the lost SYN of the first one after a second.
    await new Promise(setImmediate)
    resume()
    expect(await result).toMatchObject(status(200))
  })

  test('costs the deadline if its servers never answer', async () => {
    const mute = createSocket('udp4')
    opened.push({ close: () => mute.close() })
    await new Promise<void>((resolve) => mute.bind(0, '127.0.0.1', resolve))
    const servers = [`127.0.0.1:${(mute.address() as AddressInfo).port}`]
    const to = sender({ resolver: createResolver({ servers, hostsPath: '/dev/null' }) })
    expect(await post(to, 'http://mute.example/')).toMatchObject(failure('timeout'))
  })

  test('is refused at the next connection after it changed to an internal address, and the old one is not kept', async () => {
    const hooks = await startReceiver()
    opened.push(hooks)
    let addresses = ['127.0.0.1']
    const to = sender({
      timeoutMs: PATIENT_MS,
      allowPrivate: false,
      allow: ['127.0.0.1'],
      resolver: { resolve: () => Promise.resolve(addresses) },
    })
    const url = `http://hooks.example:${hooks.port}/`
    hooks.respond('/', { headers: { connection: 'close' } })
    expect(await post(to, url)).toMatchObject(status(200))
    for (addresses of [['169.254.169.254'], ['10.0.0.1', '::ffff:10.0.0.1'], ['127.0.0.2'], ['::1']])
      expect(await post(to, url)).toMatchObject({ error: 'forbidden_address', permanent: true })
    addresses = ['10.0.0.1', '127.0.0.1']
    expect(await post(to, url)).toMatchObject(status(200))
    expect(hooks.requests).toHaveLength(2)
  })

  test('is found again if it led nowhere before', async () => {
    const hooks = await startReceiver()
    opened.push(hooks)
    let addresses: string[] = []
    const to = sender({ timeoutMs: PATIENT_MS, resolver: { resolve: () => Promise.resolve(addresses) } })
    const url = `http://hooks.example:${hooks.port}/`
    expect(await post(to, url)).toMatchObject({ kind: 'failure' })
    addresses = ['127.0.0.1']
    expect(await post(to, url)).toMatchObject(status(200))
  })
})

test('an endpoint that flaps is reached whenever it is up, and each attempt ends', async () => {
  let hooks = await startReceiver()
  const { port, url } = hooks
  const to = sender({ timeoutMs: PATIENT_MS })
  for (let i = 0; i < 5; i++) {
    expect(await post(to, url)).toMatchObject(status(200))
    await hooks.close()
    const down = await Promise.all(Array.from({ length: 20 }, () => post(to, url)))
    expect(new Set(down.map((result) => result.kind === 'failure' && result.permanent))).toEqual(
      new Set([false]),
    )
    hooks = await startReceiver({ port })
  }
  opened.push(hooks)
  expect(await post(to, url)).toMatchObject(status(200))
  await waitFor(() => to.stats().connections === to.stats().idle, { what: 'no busy connection' })
})
