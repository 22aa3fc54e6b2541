/**
 * Receivers that misbehave, each on its own socket. A request that gets a 2xx is delivered, however the answer
 * continues. All other requests end by the policy.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import {
  createAuthority,
  createSelfSigned,
  onRawRequest,
  type Receiver,
  startRawServer,
  startReceiver,
  waitFor,
} from '@fantail/test-kit'

const DRIP_MS = 1_000
const PIECE = Buffer.alloc(65_536, 'x')
const GIGABYTES_10 = 10 * 1_073_741_824
const BOMB_BYTES = 268_435_456
const BOMB_MEMBERS = 256
const FLAP_MS = 1_000
const DAY_MS = 86_400_000

type End = 'delivered' | 'dead'

export interface BadReceivers {
  /** By name: the endpoint, and how a delivery to it ends. */
  endpoints: Record<string, { endpoint: string; end: End }>
  /** `<name> <text>` of each request that was answered 2xx. */
  taken: string[]
  close(): Promise<void>
}

type Answer = (socket: Socket) => void

/** The beginnings of answers that count as delivered, and what follows them. */
const TAKING: Record<string, Answer> = {
  'ten-gigabytes': (socket) =>
    flood(socket, `HTTP/1.1 200 OK\r\nContent-Length: ${GIGABYTES_10}\r\n\r\n`, PIECE),
  'endless-chunks': (socket) => {
    const piece = Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')])
    flood(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', piece)
  },
  'continues-unasked': (socket) =>
    socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  'body-with-204': (socket) => socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello'),
  'gzip-bomb': (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb().length}\r\n\r\n`)
    socket.write(bomb())
  },
  'resets-mid-body': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf')
    setImmediate(() => socket.resetAndDestroy())
  },
  'two-equal-lengths': (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'),
}

const FAILING: Record<string, Answer> = {
  'hangs-before-headers': () => undefined,
  'a-byte-a-second': (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'),
  'no-http': (socket) => socket.end('220 mail.example ESMTP\r\n'),
  redirects: (socket) =>
    socket.write('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n'),
  'informs-without-end': (socket) =>
    flood(socket, '', Buffer.from('HTTP/1.1 103 Hints\r\n\r\n'.repeat(3_000))),
  'informs-only': (socket) => socket.end('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
}

export async function startBadReceivers(): Promise<BadReceivers> {
  const receivers: BadReceivers = { endpoints: {}, taken: [], close: async () => undefined }
  const closing: (() => unknown)[] = []
  const add = (name: string, endpoint: string, end: End = 'dead') => {
    receivers.endpoints[name] = { endpoint, end }
  }
  for (const [name, answer] of Object.entries({ ...TAKING, ...FAILING })) {
    const isTaken = name in TAKING
    const server = await startRawServer((socket) =>
      onRawRequest(socket, (request) => {
        if (isTaken) receivers.taken.push(`${name} ${request.slice(request.indexOf('\r\n\r\n') + 4)}`)
        answer(socket)
      }),
    )
    closing.push(() => server.close())
    add(name, server.url, isTaken ? 'delivered' : 'dead')
  }
  const authority = createAuthority()
  const certificates = {
    'tls-expired': authority.issue(['127.0.0.1'], { notAfter: new Date(Date.now() - DAY_MS / 2) }),
    'tls-wrong-host': authority.issue(['elsewhere.example']),
    'tls-self-signed': createSelfSigned(['127.0.0.1']),
  }
  for (const [name, tls] of Object.entries(certificates)) {
    const server = await startReceiver({ tls })
    closing.push(() => server.close())
    add(name, server.url)
  }
  const deaf = await startDeaf()
  closing.push(deaf.close)
  add('hangs-on-connect', deaf.url)
  add('no-such-name', 'http://no-such-name.invalid/')
  const flapping = await startFlapping((text) => receivers.taken.push(`flaps ${text}`))
  closing.push(flapping.close)
  add('flaps', flapping.url, 'delivered')
  receivers.close = async () => {
    for (const close of closing.toReversed()) await close()
  }
  return receivers
}

/** Writes the piece again and again, as fast as the peer reads. */
function flood(socket: Socket, head: string, piece: Buffer): void {
  const more = () => {
    while (socket.writable && socket.write(piece)) {
      // On to the next one.
    }
  }
  socket.on('drain', more)
  socket.write(head)
  more()
}

export function drip(socket: Socket, text: string): void {
  let at = 0
  const timer = setInterval(() => socket.write(text.charAt(at++)), DRIP_MS)
  socket.once('close', () => clearInterval(timer))
}

let packed: Buffer | undefined
/** Many members of gzip, which unpack as one text. They are alike, so only one must be packed. */
function bomb(): Buffer {
  packed ??= repeated(gzipSync(Buffer.alloc(BOMB_BYTES / BOMB_MEMBERS)), BOMB_MEMBERS)
  return packed
}

function repeated(piece: Buffer, times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => piece))
}

/** A server that never accepts a connection, with a full backlog. */
async function startDeaf(): Promise<{ url: string; close(): Promise<void> }> {
  const listen =
    "const s = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))"
  const child: ChildProcess = spawn(process.execPath, ['-e', listen], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (!child.stdout) throw new Error('no output')
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(line.toString())
  child.kill('SIGSTOP')
  const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  await waitFor(() => fillers.filter((socket) => !socket.connecting).length >= 2)
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of fillers) socket.destroy()
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** A second up, a second down. */
async function startFlapping(take: (text: string) => void): Promise<{ url: string; close(): Promise<void> }> {
  let server: Receiver | undefined = await startReceiver()
  const { port, url } = server
  const note = (receiver: Receiver) =>
    receiver.respond('/', ({ text }) => {
      take(text)
      return {}
    })
  note(server)
  let closed = false
  const flap = async () => {
    while (!closed) {
      await new Promise((resolve) => setTimeout(resolve, FLAP_MS))
      if (server) await server.close()
      server = server || closed ? undefined : await startReceiver({ port })
      if (server) note(server)
    }
  }
  const flapping = flap()
  return {
    url,
    async close() {
      closed = true
      await flapping
      await server?.close()
    },
  }
}
