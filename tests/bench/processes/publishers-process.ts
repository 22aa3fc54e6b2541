/** The publishers: keep-alive connections on bare sockets that each make one request at a time. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { HttpFraming, statusOf } from './http-framing.ts'
import { answer, type LoadOptions, type LoadResult, type PaceOptions, type PaceResult } from './ipc.ts'
import { monotonicMs } from './monotonic.ts'
import { numberedText, writeSequence } from './sequence.ts'

interface Tally {
  /** Requests sent. */
  sequence: number
  /** Messages sent. */
  numbered: number
  accepted: number
  refused: number
  latencies: number[]
}

async function load(options: LoadOptions): Promise<LoadResult> {
  const tally: Tally = { sequence: 0, numbered: 0, accepted: 0, refused: 0, latencies: [] }
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => open(options.port)))
  const startedAt = monotonicMs()
  const until = performance.now() + options.durationMs
  await Promise.all(sockets.map((socket) => publish(socket, options, tally, until)))
  const endedAt = monotonicMs()
  const sorted = Float64Array.from(tally.latencies).sort()
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  const { accepted, refused } = tally
  return { accepted, refused, startedAt, endedAt, p50Ms: at(0.5), p99Ms: at(0.99) }
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

/**
 * Sends requests over one connection, one after the other, until the time or the number is reached and the last is
 * answered.
 */
function publish(socket: Socket, options: LoadOptions, tally: Tally, until: number): Promise<void> {
  const requests = requestsOf(options)
  return new Promise((resolve, reject) => {
    let sentAt = 0
    const next = () => {
      sentAt = performance.now()
      if (sentAt >= until || tally.sequence >= options.requestsMax) {
        resolve()
        socket.destroy()
        return
      }
      // When an answer has arrived, the bytes of its request are no longer needed, so each connection reuses its
      // buffers.
      const { bytes, textsAt } = oneOf(requests, tally.sequence++)
      for (const at of textsAt) writeSequence(bytes, at, tally.numbered++)
      socket.write(bytes)
    }
    const framing = new HttpFraming((head) => {
      tally.latencies.push(performance.now() - sentAt)
      if (statusOf(head) < 300) tally.accepted++
      else tally.refused++
      next()
    })
    socket.on('data', (chunk) => framing.push(chunk))
    socket.on('error', reject)
    socket.on('end', () => reject(new Error('the API closed a connection')))
    next()
  })
}

/**
 * Open loop: a request is sent when it is due, on the connection that has been free for the longest, so that the API
 * closes none as idle. It waits only if no connection is free.
 */
async function pace(options: PaceOptions): Promise<PaceResult> {
  const { connections, requestsPerSecond, durationMs, port } = options
  const result: PaceResult = { sentAt: [], refused: 0 }
  const requests = requestsOf(options)
  const free: Socket[] = []
  const waiting: number[] = []
  const { promise: allAnswered, resolve, reject } = Promise.withResolvers<void>()
  const send = (socket: Socket, number: number) => {
    const request = oneOf(requests, number)
    const bytes = Buffer.from(request.bytes)
    for (const at of request.textsAt) writeSequence(bytes, at, number)
    socket.write(bytes)
  }
  const answered = (socket: Socket, head: string) => {
    if (statusOf(head) >= 300) result.refused++
    const number = waiting.shift()
    if (number === undefined) free.push(socket)
    else send(socket, number)
  }
  for (let i = 0; i < connections; i++) {
    const socket = await open(port)
    const framing = new HttpFraming((head) => answered(socket, head))
    socket.on('data', (chunk) => framing.push(chunk))
    socket.on('error', reject)
    socket.on('end', () => reject(new Error('the API closed a connection')))
    free.push(socket)
  }
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const elapsedMs = performance.now() - startedAt
    const due = Math.floor((Math.min(elapsedMs, durationMs) * requestsPerSecond) / 1_000)
    while (result.sentAt.length < due) {
      const number = result.sentAt.push(monotonicMs()) - 1
      const socket = free.shift()
      if (socket) send(socket, number)
      else waiting.push(number)
    }
    if (elapsedMs >= durationMs && free.length === connections) resolve()
  }, 1)
  await allAnswered.finally(() => clearInterval(timer))
  for (const socket of free) socket.destroy()
  return result
}

interface Request {
  bytes: Buffer
  /** Where its texts begin. */
  textsAt: number[]
}

/** One for each path. */
function requestsOf(options: Omit<Shape, 'path'> & { paths: string[] }): Request[] {
  return options.paths.map((path) => {
    const bytes = requestBytes({ ...options, path })
    return { bytes, textsAt: textsIn(bytes) }
  })
}

function oneOf(requests: Request[], number: number): Request {
  const request = requests[number % requests.length]
  if (!request) throw new Error('no path is given')
  return request
}

function textsIn(request: Buffer): number[] {
  const found: number[] = []
  for (let at = request.indexOf('"#'); at >= 0; at = request.indexOf('"#', at + 1)) found.push(at + 1)
  return found
}

interface Shape {
  port: number
  path: string
  bodyBytes: number
  batch?: number
  eventType?: string
}

function orderOf(id: string): object {
  const lines = [1, 2, 3].map((n) => ({ sku: `sku-${n}`, count: n }))
  return { id, total: 12.5, currency: 'EUR', email: 'ann@example.com', lines }
}

function requestBytes({ port, path, bodyBytes, batch, eventType }: Shape): Buffer {
  const text = numberedText(0, bodyBytes)
  const message = eventType === undefined ? { message: text } : { message: orderOf(text), eventType }
  const body = JSON.stringify(batch === undefined ? message : { messages: Array(batch).fill(message) })
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

answer({ load, pace })
