/**
 * A connection to APNs over HTTP/2, with many requests at the same time. The address guard checks it like every host
 * that the operator's settings name.
 *
 *   closed ──request──▶ opening ──▶ open ──GOAWAY, error, close, a request without an answer──▶ closed
 *
 * A connection may accept no more requests. Requests that were sent on it before still get their answers. If the server
 * has certainly not processed a request, the request is sent again on the next connection, once. Every other failure is
 * the result of its attempt.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { Socket } from 'node:net'
import type { AttemptResult } from '@fantail/contracts'
import { untilAborted } from '../bounds/attempt-deadline.ts'
import type { Connector } from '../connections/connector.ts'
import { failure, failureOf } from '../http/attempt-failure.ts'
import { hostOf, TRUSTED_ROUTE } from '../outbound/outbound-route.ts'

/** Answer of APNs that is read. Past it: the body is ignored, and only the status counts. */
const APNS_ANSWER_BYTES_MAX = 16_384
/** Interim answers (1xx) of APNs to a request. Past it: the connection is closed, its attempts are retried. */
const APNS_INTERIM_MAX = 100
/**
 * Age of a connection to APNs. Past it: it takes no more requests, and the next request opens another one. Apple wants
 * connections to be kept.
 */
const APNS_AGE_MS_MAX = 3_600_000
/** How long a connection to APNs may take to open. Past it: the attempts that wait for it are retried. */
const APNS_DIAL_MS_MAX = 10_000

interface AppleCall {
  path: string
  headers: Record<string, string>
  body: string
}

type Opening = Promise<ClientHttp2Session>

export class AppleConnection {
  readonly #url: URL
  readonly #dial: Connector
  #opened: Opening | undefined
  #openedAt = 0
  #cancelDial = (): void => undefined

  constructor(url: string, dial: Connector) {
    this.#url = new URL(url)
    this.#dial = dial
  }

  /** Never rejects. */
  async post(call: AppleCall, signal: AbortSignal): Promise<AttemptResult> {
    try {
      const ended = (await this.#request(call, signal)) ?? (await this.#request(call, signal))
      return ended ?? failure('connection_reset', 'APNs takes no requests', 0)
    } catch (error) {
      return failureOf(error as Error, 0)
    }
  }

  close(): void {
    this.#cancelDial()
    void this.#opened?.then((session) => session.destroy()).catch(() => undefined)
    this.#opened = undefined
  }

  /** Sends the request. Returns undefined if the server has certainly not processed the request. */
  async #request(call: AppleCall, signal: AbortSignal): Promise<AttemptResult | undefined> {
    const opened = this.#open()
    const session = await untilAborted(signal, opened)
    // The connection was closed after it had been opened, so it takes no request.
    if (session.closed || session.destroyed) return this.#drop(opened)
    const headers = {
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: call.path,
      ...call.headers,
    }
    const stream = session.request(headers, { signal })
    // The connection may be dead without any sign of it. Close it, so that the next requests do not use it.
    const left = () => this.#drop(opened, session)
    signal.addEventListener('abort', left, { once: true })
    try {
      return await answerOf(stream, call.body)
    } finally {
      signal.removeEventListener('abort', left)
    }
  }

  /** Forgets the connection. A `session` is closed after it has received the outstanding answers. */
  #drop(opened: Opening, session?: ClientHttp2Session): undefined {
    if (this.#opened === opened) this.#opened = undefined
    session?.close()
  }

  #open(): Opening {
    if (this.#opened && performance.now() - this.#openedAt <= APNS_AGE_MS_MAX) return this.#opened
    void this.#opened?.then((session) => session.close(), ignore)
    const opened = this.#connect()
    this.#openedAt = performance.now()
    this.#opened = opened
    const drop = () => this.#drop(opened)
    opened.then((session) => {
      for (const event of ['goaway', 'error', 'close'] as const) session.on(event, drop)
    }, drop)
    return opened
  }

  async #connect(): Opening {
    const socket = await this.#socket()
    const session = connect(this.#url, { createConnection: () => socket })
    // Each failed request reports its own error. Without this listener, the error would end the process.
    session.on('error', () => undefined)
    return session
  }

  #socket(): Promise<Socket> {
    const secure = this.#url.protocol === 'https:'
    const port = Number(this.#url.port) || (secure ? 443 : 80)
    const origin = { secure, host: hostOf(this.#url), port, route: TRUSTED_ROUTE, alpn: 'h2' as const }
    return new Promise((resolve, reject) => {
      const end = (error: Error | null, socket: Socket | null) => {
        clearTimeout(timer)
        if (socket) resolve(socket)
        else reject(error)
      }
      const dial = this.#dial(origin, end)
      const cancelDial = () => {
        dial.cancel()
        end(new Error('APNs was not reached'), null)
      }
      this.#cancelDial = cancelDial
      const timer = setTimeout(cancelDial, APNS_DIAL_MS_MAX)
    })
  }
}

/**
 * The answer. Undefined: the server has certainly not processed the request. Rejects with the error of the connection.
 */
function answerOf(stream: ClientHttp2Stream, body: string): Promise<AttemptResult | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let statusCode = 0
    let retryAfter: number | undefined
    stream.on('response', (headers) => {
      statusCode = Number(headers[':status'])
      retryAfter = secondsIn(headers['retry-after'])
    })
    let interim = 0
    stream.on('headers', () => {
      interim++
      if (interim > APNS_INTERIM_MAX) stream.session?.destroy()
    })
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= APNS_ANSWER_BYTES_MAX) chunks.push(chunk)
      else stream.close(constants.NGHTTP2_CANCEL)
    })
    const isRefused = () => stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
    stream.on('error', (error) => (isRefused() ? resolve(undefined) : reject(error)))
    stream.on('close', () => {
      if (statusCode === 0 && isRefused()) return resolve(undefined)
      if (statusCode === 0) return reject(resetError())
      const waits = retryAfter !== undefined && { retryAfterSeconds: retryAfter }
      resolve({ kind: 'response', statusCode, durationMs: 0, body: Buffer.concat(chunks), ...waits })
    })
    stream.end(body)
  })
}

function ignore(): void {
  // Whoever waits for the connection gets its error.
}

function resetError(): Error {
  return Object.assign(new Error('the connection to APNs ended without an answer'), { code: 'ECONNRESET' })
}

function secondsIn(text: string | string[] | undefined): number | undefined {
  return typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
