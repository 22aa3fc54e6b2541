/**
 * A programmable webhook receiver on loopback. It records every request, answers as the test says, and counts how many
 * requests each path had open at once. A request is recorded when its whole body has arrived, before it is answered.
 */
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { steadyNow } from '../waiting/fair-timer.ts'
import { waitFor } from '../waiting/wait-for.ts'
import { atFreePort } from './ports.ts'
import type { TestCertificate } from './tls-certificates.ts'

export interface ReceivedRequest {
  method: string
  /** Path and query. */
  path: string
  headers: IncomingHttpHeaders
  /** Raw headers: names in their original case, repeated ones kept. */
  rawHeaders: string[]
  body: Buffer
  /** The body as text. */
  text: string
  /** When the request's head arrived: epoch ms with fractions. */
  at: number
  /** From `x-amz-sns-message-id`; '' if absent. */
  messageId: string
  /** From the ARN in `x-amz-sns-subscription-arn`; '' if absent. */
  subscriptionId: string
  /** 1 for the first request with this path, subscription and message id, 2 for the next. */
  attempt: number
  /** The client's port, which distinguishes connections. */
  clientPort: number
  /** The status of the answer. null while there is none, or if the request got no answer. */
  answered: number | null
}

export interface Reply {
  status?: number
  headers?: Record<string, string | string[]>
  body?: string | Buffer
  delayMs?: number
  /** Never answers: before the headers, or after them and half of the body. */
  hang?: 'beforeHeaders' | 'midBody'
  /** Answers only when this promise resolves (after delayMs). */
  until?: Promise<unknown>
  /** Resets the connection instead of answering. */
  reset?: boolean
}

/** `n`: how many requests this responder has been called for, from 1. */
export type Responder = (request: ReceivedRequest, n: number) => Reply | Promise<Reply>
type RequestMatch = string | ((request: ReceivedRequest) => boolean)

export interface Receiver {
  port: number
  /** Origin without a trailing slash. */
  url: string
  requests: ReceivedRequest[]
  /**
   * Sets the answer for a path (without its query) or a predicate. If several match, the latest one is used. If none
   * matches: 200 and no body.
   */
  respond(match: RequestMatch, reply: Reply | Responder): void
  requestsTo(match: RequestMatch): ReceivedRequest[]
  /** The most requests that were open at once on a path (without its query), or on all paths. */
  inFlightMax(path?: string): number
  inFlight(path?: string): number
  /** How many connections were accepted so far, and how many are open now. */
  connections(): { accepted: number; open: number }
  /** Resolves with the matching requests when there are `count` of them. */
  waitForRequests(count: number, match?: RequestMatch, timeoutMs?: number): Promise<ReceivedRequest[]>
  /** Drops the recorded requests and the highest counts. Responders stay. */
  clear(): void
  /** Destroys every connection, so that clients see a reset or an early end. */
  dropConnections(): void
  close(): Promise<void>
}

interface ReceiverOptions {
  /** Serves TLS with this certificate. If `clientCa` is given, clients need a certificate of it. */
  tls?: TestCertificate & { clientCa?: string }
  /** The port to listen on, for example to listen again after `close`. Default: a free port. */
  port?: number
  /** How many ms an idle connection is kept. Default: Node's. */
  keepAliveTimeoutMs?: number
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const responders: { match: RequestMatch; reply: Responder; asked: number }[] = []
  const inFlight = new Gauge()
  const seen = new Map<string, number>()
  const sockets = new Set<Socket>()
  let accepted = 0

  const onRequest = async (request: IncomingMessage, response: ServerResponse) => {
    const at = steadyNow()
    const path = pathOf(request.url ?? '/')
    inFlight.enter(path)
    response.once('close', () => inFlight.leave(path))
    const body = await readBody(request)
    if (!body) return
    const received = record(request, body, at, seen)
    requests.push(received)
    const responder = responders.findLast(({ match }) => matches(received, match))
    if (responder) responder.asked += 1
    const reply = responder ? await responder.reply(received, responder.asked) : {}
    received.answered = await answer(response, reply)
  }
  const server = options.tls
    ? createHttpsServer(serverTls(options.tls), onRequest)
    : createHttpServer(onRequest)
  if (options.keepAliveTimeoutMs !== undefined) server.keepAliveTimeout = options.keepAliveTimeoutMs
  server.on('connection', (socket: Socket) => {
    accepted += 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ port, host: '127.0.0.1', backlog: 4096 }, () => resolve(port))
    })
  // The port belongs to this receiver. No other program gets it while a test has closed the receiver.
  const port = await (options.port === undefined ? atFreePort(listen) : listen(options.port))
  const dropConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  const requestsTo = (match: RequestMatch) => requests.filter((request) => matches(request, match))
  return {
    port,
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    respond: (match, reply) => {
      responders.push({ match, reply: typeof reply === 'function' ? reply : () => reply, asked: 0 })
    },
    requestsTo,
    inFlightMax: (path) => inFlight.max(path),
    inFlight: (path) => inFlight.now(path),
    connections: () => ({ accepted, open: sockets.size }),
    waitForRequests: (count, match = () => true, timeoutMs = 15_000) =>
      waitFor(
        () => {
          const found = requestsTo(match)
          return found.length >= count ? found : undefined
        },
        { what: `${count} requests (${requestsTo(match).length} came)`, timeoutMs },
      ),
    clear: () => {
      requests.length = 0
      seen.clear()
      inFlight.clear()
    },
    dropConnections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        dropConnections()
      }),
  }
}

function matches(request: ReceivedRequest, match: RequestMatch): boolean {
  return typeof match === 'string' ? pathOf(request.path) === match : match(request)
}

function serverTls({ clientCa, ...tls }: TestCertificate & { clientCa?: string }) {
  return clientCa === undefined ? tls : { ...tls, ca: clientCa, requestCert: true, rejectUnauthorized: true }
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/** The whole body. Undefined if the client closed the connection before the end. */
function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  // Some tests receive tens of thousands of requests, and an async iterator takes longer than listeners.
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    request.once('error', () => resolve(undefined))
    request.once('close', () => resolve(undefined))
  })
}

function record(
  request: IncomingMessage,
  body: Buffer,
  at: number,
  seen: Map<string, number>,
): ReceivedRequest {
  const path = request.url ?? '/'
  const messageId = String(request.headers['x-amz-sns-message-id'] ?? '')
  const arn = String(request.headers['x-amz-sns-subscription-arn'] ?? '')
  const subscriptionId = arn.slice(arn.lastIndexOf(':') + 1)
  const key = `${pathOf(path)} ${subscriptionId} ${messageId}`
  const attempt = (seen.get(key) ?? 0) + 1
  seen.set(key, attempt)
  return {
    method: request.method ?? '',
    path,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body,
    text: body.toString(),
    at,
    messageId,
    subscriptionId,
    attempt,
    clientPort: request.socket.remotePort ?? 0,
    answered: null,
  }
}

/** The status. null if the answer was not completed. */
async function answer(response: ServerResponse, reply: Reply): Promise<number | null> {
  if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs))
  if (reply.until) await reply.until
  if (reply.hang === 'beforeHeaders') return null
  if (reply.reset) {
    response.socket?.resetAndDestroy()
    return null
  }
  const body = reply.body === undefined ? undefined : Buffer.from(reply.body)
  if (reply.hang === 'midBody') {
    response.writeHead(reply.status ?? 200, { 'content-length': '1000', ...reply.headers })
    response.write(body ?? 'half')
    return null
  }
  const status = reply.status ?? 200
  response.writeHead(status, reply.headers)
  response.end(body)
  return status
}

/** Counts open requests per path, and the most at once. */
class Gauge {
  readonly #paths = new Map<string, { now: number; max: number }>()
  #now = 0
  #max = 0

  enter(path: string): void {
    const gauge = this.#paths.get(path) ?? { now: 0, max: 0 }
    gauge.now += 1
    gauge.max = Math.max(gauge.max, gauge.now)
    this.#paths.set(path, gauge)
    this.#now += 1
    this.#max = Math.max(this.#max, this.#now)
  }

  leave(path: string): void {
    const gauge = this.#paths.get(path)
    if (gauge) gauge.now -= 1
    this.#now -= 1
  }

  now(path?: string): number {
    return path === undefined ? this.#now : (this.#paths.get(path)?.now ?? 0)
  }

  max(path?: string): number {
    return path === undefined ? this.#max : (this.#paths.get(path)?.max ?? 0)
  }

  /** Open requests stay counted. */
  clear(): void {
    for (const gauge of this.#paths.values()) gauge.max = gauge.now
    this.#max = this.#now
  }
}
