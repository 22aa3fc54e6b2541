/**
 * One attempt: the request, what came of it, and the handler that undici calls on the way. States: dialling or writing →
 * waiting for an answer → reading it → settled. Two things start a second exchange inside the same attempt and deadline:
 * a reset of a reused connection before any byte of an answer (the server had closed it meanwhile), and a 401 that asks
 * for the URL's credentials. Each happens once.
 */
import type { AttemptResult } from '@fantail/contracts'
import type { Dispatcher } from 'undici'
import type { AttemptEnds } from './attempt-ends.ts'
import { failure, failureOf, isReset } from './attempt-failure.ts'
import type { Connection, Connections, NamedOrigin } from './connections.ts'
import type { Credentials } from './credentials.ts'
import type { Deadlines, Expiring } from './deadlines.ts'
import type { Route } from './outbound-route.ts'
import { ResponseText } from './response-text.ts'
import { parseRetryAfter } from './retry-after.ts'

export interface HttpEndpoint {
  origin: NamedOrigin
  /** Path and query. */
  path: string
  credentials: Credentials | undefined
  /** Of the subscription's own, after the request's: names and values in turn. */
  headers: string[] | undefined
}

export interface HttpRequest {
  url: string
  /** How it is reached, where that is not the plain way. */
  route?: Route | undefined
  /** Remembers between requests what URL and route say; one object for both. */
  memo?: { endpoint?: HttpEndpoint | undefined }
  /** Names and values in turn, or a record. */
  headers: string[] | Record<string, string>
  body: string | Buffer
  /** Where the deadline is another than the sender's. */
  timeoutMs?: number
  /** Asks for the response's body, where it has at most so many bytes. */
  responseBytesMax?: number
  /** Asks for the beginning of the response's body as text; undefined: it is dropped. */
  textBytesMax?: number | undefined
  /** Cuts the attempt short; it ends as at its deadline. */
  signal?: AbortSignal
}

/** What attempts of one sender share. */
export interface AttemptContext {
  connections: Connections
  deadlines: Deadlines<HttpAttempt>
  /** Of attempts whose deadline is another one. */
  deadlinesOf: (timeoutMs: number) => Deadlines<HttpAttempt>
  ends: AttemptEnds
  timeoutMs: number
  responseBytesMax: number
}

type Controller = Dispatcher.DispatchController
type ResponseHeaders = Record<string, string | string[] | undefined>

export class HttpAttempt implements Dispatcher.DispatchHandler, Expiring<HttpAttempt> {
  previous: HttpAttempt | undefined
  next: HttpAttempt | undefined
  expiresAt = 0
  readonly #context: AttemptContext
  readonly #endpoint: HttpEndpoint
  readonly #request: HttpRequest
  readonly #done: (result: AttemptResult) => void
  readonly #startedAt: number
  readonly #deadlines: Deadlines<HttpAttempt>
  /** Of the response's body, where that is asked for. */
  #chunks: Buffer[] | undefined
  #cut: (() => void) | undefined
  #connection: Connection | undefined
  /** Of the present exchange; calls from an earlier one carry another. */
  #controller: Controller | null = null
  #settled = false
  #reused = false
  #answerBegun = false
  #retriedFresh = false
  #authenticated = false
  #authorization: string | undefined
  #statusCode = 0
  #responseBytes = 0
  #keepAlive = true
  #retryAfterSeconds: number | undefined
  #challenge: string | string[] | undefined
  readonly #text: ResponseText | undefined

  constructor(
    context: AttemptContext,
    endpoint: HttpEndpoint,
    request: HttpRequest,
    done: (result: AttemptResult) => void,
  ) {
    this.#context = context
    this.#endpoint = endpoint
    this.#request = request
    this.#done = done
    if (request.textBytesMax !== undefined) this.#text = new ResponseText(request.textBytesMax)
    this.#startedAt = performance.now()
    const { timeoutMs, signal } = request
    this.#deadlines = timeoutMs === undefined ? context.deadlines : context.deadlinesOf(timeoutMs)
    this.#deadlines.add(this, this.#startedAt)
    if (signal) this.#endWith(signal)
    this.#exchange(false)
  }

  /** Called by the deadline; the list has let go of this one already. */
  expire(): void {
    this.#end()
    this.#discard()
    this.#context.ends.push(this.#done, failure('timeout', this.#timeoutDetail(), this.#durationMs()))
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    this.#reused = (this.#connection?.exchanges ?? 0) > 0
  }

  onResponseStarted(): void {
    this.#answerBegun = true
  }

  /** Also called for each 1xx, which says nothing yet. */
  onResponseStart(controller: Controller, statusCode: number, headers: ResponseHeaders): void {
    if (controller !== this.#controller || statusCode < 200) return
    this.#statusCode = statusCode
    this.#keepAlive = headers.connection === undefined || !/\bclose\b/i.test(String(headers.connection))
    this.#text?.begin(headers['content-encoding'])
    if (statusCode === 401) this.#challenge = headers['www-authenticate']
    const retryAfter = headers['retry-after']
    if (retryAfter === undefined || (statusCode !== 429 && statusCode !== 503)) return
    const date = typeof headers.date === 'string' ? headers.date : undefined
    this.#retryAfterSeconds = parseRetryAfter(String(retryAfter), date, Date.now())
  }

  /**
   * What an endpoint says beyond its status is read, so that the connection can be used again, and dropped. Past the bound
   * the connection is cut and the status stands: the endpoint has answered, and asking again would bring the same flood.
   */
  onResponseData(controller: Controller, chunk: Buffer): void {
    if (controller !== this.#controller || this.#settled) return
    this.#responseBytes += chunk.length
    this.#text?.add(chunk)
    const { responseBytesMax: wanted = 0 } = this.#request
    if (this.#chunks && this.#responseBytes <= wanted) this.#chunks.push(chunk)
    else this.#chunks = undefined
    if (this.#responseBytes <= Math.max(this.#context.responseBytesMax, wanted)) return
    this.#discard()
    this.#answered()
  }

  onResponseEnd(controller: Controller): void {
    if (controller !== this.#controller || this.#settled) return
    if (this.#keepAlive && this.#connection) this.#context.connections.release(this.#connection)
    else this.#discard()
    this.#connection = undefined
    this.#answered()
  }

  /** There is no controller where the request was never begun. */
  onResponseError(controller: Controller | null | undefined, error: Error): void {
    if ((controller ?? null) !== this.#controller || this.#settled) return
    this.#discard()
    if (this.#reused && !this.#answerBegun && !this.#retriedFresh && isReset(error)) {
      this.#retriedFresh = true
      this.#exchange(true)
    } else {
      this.#settle(failureOf(error, this.#durationMs()))
    }
  }

  #exchange(fresh: boolean): void {
    const { origin, path, credentials } = this.#endpoint
    this.#controller = null
    this.#answerBegun = false
    this.#reused = false
    this.#statusCode = 0
    this.#responseBytes = 0
    this.#chunks = this.#request.responseBytesMax === undefined ? undefined : []
    this.#authorization = credentials?.authorization('POST', path)
    this.#connection = this.#context.connections.acquire(origin, fresh)
    const { body } = this.#request
    this.#connection.client.dispatch({ path, method: 'POST', headers: this.#headers(), body }, this)
  }

  #headers(): string[] | Record<string, string> {
    const { headers } = this.#request
    const own = this.#endpoint.headers
    if (this.#authorization === undefined && own === undefined) return headers
    const all = Array.isArray(headers) ? [...headers] : Object.entries(headers).flat()
    if (own !== undefined) all.push(...own)
    if (this.#authorization !== undefined) all.push('Authorization', this.#authorization)
    return all
  }

  /** The status stands, unless it asks for credentials that there are. */
  #answered(): void {
    if (this.#statusCode === 401 && this.#takesChallenge()) {
      this.#authenticated = true
      // undici is still inside this response; let it finish before its client is asked again.
      this.#controller = null
      queueMicrotask(() => {
        if (!this.#settled) this.#exchange(false)
      })
      return
    }
    const result: AttemptResult = {
      kind: 'response',
      statusCode: this.#statusCode,
      durationMs: this.#durationMs(),
    }
    if (this.#text) result.text = this.#text.text
    if (this.#retryAfterSeconds !== undefined) result.retryAfterSeconds = this.#retryAfterSeconds
    if (this.#chunks) result.body = Buffer.concat(this.#chunks)
    this.#settle(result)
  }

  #takesChallenge(): boolean {
    const { credentials } = this.#endpoint
    if (this.#authenticated || !credentials || this.#challenge === undefined) return false
    return credentials.challenge(this.#challenge, this.#authorization)
  }

  #settle(result: AttemptResult): void {
    this.#deadlines.remove(this)
    this.#end()
    this.#context.ends.push(this.#done, result)
  }

  #end(): void {
    this.#settled = true
    if (this.#cut) this.#request.signal?.removeEventListener('abort', this.#cut)
  }

  #endWith(signal: AbortSignal): void {
    this.#cut = () => {
      this.#deadlines.remove(this)
      this.expire()
    }
    signal.addEventListener('abort', this.#cut)
  }

  #discard(): void {
    const connection = this.#connection
    this.#connection = undefined
    if (connection) this.#context.connections.discard(connection)
  }

  #durationMs(): number {
    return performance.now() - this.#startedAt
  }

  #timeoutDetail(): string {
    const missing = this.#statusCode > 0 ? 'complete answer' : this.#controller ? 'answer' : 'connection'
    const { signal, timeoutMs = this.#context.timeoutMs } = this.#request
    return signal?.aborted ? `no ${missing} before it was called off` : `no ${missing} within ${timeoutMs} ms`
  }
}
