/**
 * A connection to APNs: HTTP/2, with many requests at once. The operator's settings name the server, so the address
 * guard does not check it.
 *
 *   closed ──request──▶ open ──GOAWAY, error, close──▶ closed
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { ATTEMPT_DEADLINE_MS, type AttemptErrorCode, type AttemptResult } from '@fantail/contracts'

/** @limit Answer of APNs that is read. Past it: the status alone counts. */
const APNS_ANSWER_BYTES_MAX = 16_384

interface AppleCall {
  path: string
  headers: Record<string, string>
  body: string
}

export class AppleConnection {
  readonly #url: string
  #session: ClientHttp2Session | undefined

  constructor(url: string) {
    this.#url = url
  }

  /** Never rejects. Every failure is a result. */
  post(call: AppleCall): Promise<AttemptResult> {
    const startedAt = performance.now()
    return new Promise((resolve) => {
      const fail = (error: AttemptErrorCode, detail: string) =>
        resolve({
          kind: 'failure',
          error,
          detail,
          durationMs: performance.now() - startedAt,
          permanent: false,
        })
      try {
        const stream = this.#open().request({
          [constants.HTTP2_HEADER_METHOD]: 'POST',
          [constants.HTTP2_HEADER_PATH]: call.path,
          ...call.headers,
        })
        answerOf(stream, { startedAt, done: resolve, fail })
        stream.end(call.body)
      } catch (error) {
        fail('connection_failed', error instanceof Error ? error.message : 'the request cannot be made')
      }
    })
  }

  close(): void {
    this.#session?.destroy()
    this.#session = undefined
  }

  #open(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session
    const session = connect(this.#url)
    const drop = () => {
      if (this.#session === session) this.#session = undefined
    }
    // A request that fails says so itself; this listener keeps the process from ending.
    session.on('error', drop)
    session.on('goaway', drop)
    session.on('close', drop)
    this.#session = session
    return session
  }
}

interface Ends {
  startedAt: number
  done(result: AttemptResult): void
  fail(error: AttemptErrorCode, detail: string): void
}

function answerOf(stream: ClientHttp2Stream, { startedAt, done, fail }: Ends): void {
  const chunks: Buffer[] = []
  let statusCode = 0
  let retryAfter: string | undefined
  let bytes = 0
  const timer = setTimeout(() => {
    fail('timeout', 'APNs did not answer in time')
    stream.close(constants.NGHTTP2_CANCEL)
  }, ATTEMPT_DEADLINE_MS)
  stream.on('response', (headers) => {
    statusCode = Number(headers[':status'])
    retryAfter = typeof headers['retry-after'] === 'string' ? headers['retry-after'] : undefined
  })
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= APNS_ANSWER_BYTES_MAX) chunks.push(chunk)
  })
  stream.on('error', (error: NodeJS.ErrnoException) => fail(codeOf(error), error.message))
  stream.on('close', () => {
    clearTimeout(timer)
    if (statusCode === 0) return fail('connection_reset', 'the connection to APNs ended without an answer')
    const seconds = Number(retryAfter)
    done({
      kind: 'response',
      statusCode,
      durationMs: performance.now() - startedAt,
      body: Buffer.concat(chunks),
      ...(retryAfter !== undefined &&
        Number.isInteger(seconds) &&
        seconds >= 0 && { retryAfterSeconds: seconds }),
    })
  })
}

function codeOf({ code = '' }: NodeJS.ErrnoException): AttemptErrorCode {
  if (code === 'ECONNREFUSED') return 'connection_refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'dns'
  if (/CERT|TLS|SSL/.test(code)) return 'tls'
  return 'connection_reset'
}
