/**
 * One attempt: the request, its result, and the handler that undici calls. States: dialling → writing → waiting for an
 * answer → reading it → settled. If the send time has passed when undici would write the request, it is not written
 * (`SendMoment`).
 *
 * An attempt makes another request after either of two events:
 *
 * - The endpoint resets a reused connection before any byte of an answer, or answers 408 and closes it. The server may
 * have closed it while it was idle.
 * - The endpoint answers 401 and asks for the URL's credentials.
 *
 * The other request follows at once, within the same deadline. A throttled request needs a send time of its own. This
 * part of the attempt then ends as `FurtherRequest`, and the caller continues from there. RESETS_MAX and CHALLENGES_MAX
 * bound the requests of an attempt.
 */
import type { AttemptResult, AttemptStage } from '@fantail/contracts'
import type { Dispatcher } from 'undici'
import { type Connection, UNSENT } from '../connections/connection.ts'
import type { Connections } from '../connections/connections.ts'
import { stageOfDial } from '../connections/dial-facts.ts'
import type { AnswerHeaders, AnswerSink } from '../connections/tolerant-answer.ts'
import { failure, isReset, stagedFailure } from './attempt-failure.ts'
import type { Challenge } from './challenges.ts'
import type { Authorization } from './credentials.ts'
import type { Deadlines, Expiring } from './deadlines.ts'
import type {
  AttemptCallbacks,
  FurtherCause,
  FurtherRequest,
  HttpEndpoint,
  HttpRequest,
} from './http-request.ts'
import { isKept, KeptAnswer } from './kept-answer.ts'
import { ResponseText } from './response-text.ts'
import type { ResultQueue } from './result-queue.ts'
import { parseRetryAfter } from './retry-after.ts'

/**
 * Resets of reused connections that an attempt forgives. Past it: the attempt has failed. The request after a reset
 * gets a new connection, so it cannot fail for the same reason.
 */
const RESETS_MAX = 1
/**
 * Challenges that an attempt answers. Past it: the 401 is the attempt's result. A second challenge is answered if the
 * first answer was lost with its connection.
 */
const CHALLENGES_MAX = 2

/** Objects that all attempts of one sender share. */
export interface AttemptContext {
  connections: Connections
  deadlines: Deadlines<HttpAttempt>
  /** The list of deadlines for a time-out that differs from the default. */
  deadlinesOf: (timeoutMs: number) => Deadlines<HttpAttempt>
  results: ResultQueue
  timeoutMs: number
  responseBytesMax: number
}

type Controller = Dispatcher.DispatchController

export class HttpAttempt implements Dispatcher.DispatchHandler, AnswerSink, Expiring<HttpAttempt> {
  previous: HttpAttempt | undefined
  next: HttpAttempt | undefined
  expiresAt = 0
  readonly #context: AttemptContext
  readonly #endpoint: HttpEndpoint
  readonly #request: HttpRequest
  readonly #callbacks: AttemptCallbacks
  readonly #startedAt: number
  readonly #deadlines: Deadlines<HttpAttempt>
  /** Chunks of the response's body, if it is wanted. */
  #chunks: Buffer[] | undefined
  #cut: (() => void) | undefined
  #connection: Connection | undefined
  /** The controller of the present exchange. undici may still call for an earlier exchange, with another controller. */
  #controller: Controller | null = null
  #settled = false
  /** Why this request is made. Undefined: it is the attempt's first. */
  #cause: FurtherCause | undefined
  /** The connection was reused, so the server may have closed it meanwhile. */
  #reused = false
  #resets: number
  #challenges: number
  /** The latest challenge of this attempt. */
  #challenge: Challenge | undefined
  #sent: Authorization | undefined
  #statusCode = 0
  #responseBytes = 0
  #keepAlive = true
  #retryAfterSeconds: number | undefined
  /** `WWW-Authenticate` of a 401. */
  #asks: string | string[] | undefined
  /** `Authentication-Info` of an answer that is no 401. */
  #info: string | undefined
  /** The response headers that were requested. */
  #wantedHeaders: Record<string, string> | undefined
  readonly #text: ResponseText | undefined
  /** The beginning of the answer, if it is wanted. */
  #answer: KeptAnswer | undefined

  constructor(
    context: AttemptContext,
    endpoint: HttpEndpoint,
    request: HttpRequest,
    callbacks: AttemptCallbacks,
  ) {
    this.#context = context
    this.#endpoint = endpoint
    this.#request = request
    this.#callbacks = callbacks
    const { earlier } = request
    this.#resets = earlier?.resets ?? 0
    this.#challenges = earlier?.challenges ?? 0
    this.#challenge = earlier?.challenge
    if (request.textBytesMax !== undefined) this.#text = new ResponseText(request.textBytesMax)
    this.#startedAt = performance.now()
    const { timeoutMs, signal } = request
    this.#deadlines = timeoutMs === undefined ? context.deadlines : context.deadlinesOf(timeoutMs)
    this.#deadlines.add(this, this.#startedAt)
    if (signal) this.#endWith(signal)
    this.#exchange(earlier?.cause)
  }

  /** Called at the deadline. The list has already removed this attempt. */
  expire(): void {
    this.#end()
    const stage = this.#stage()
    this.#discard()
    const result = failure('timeout', this.#timeoutDetail(), this.#durationMs())
    this.#context.results.push(this.#callbacks.done, { ...result, stage })
  }

  /** Called right before undici writes the request. If it throws, undici drops the request and keeps the connection. */
  onRequestStart(controller: Controller): void {
    this.#controller = controller
    this.#reused = this.#connection?.hasWaited ?? false
    if (this.#request.moment?.isPast()) throw UNSENT
    this.#connection?.begin(this)
    this.#request.onRequest?.(this.#cause)
    this.#request.trace?.written(this.#reused)
  }

  onResponseStarted(): void {
    this.#request.trace?.answered()
  }

  get isHeadRead(): boolean {
    return this.#statusCode > 0
  }

  get bodyBytes(): number {
    return this.#responseBytes
  }

  get needsBody(): boolean {
    return this.#request.needsBody === true
  }

  /** A status below 200 is none, and undici reports an error for it. */
  onResponseStart(controller: Controller, statusCode: number, headers: AnswerHeaders): void {
    if (controller !== this.#controller || statusCode < 200) return
    this.begun(statusCode, headers)
  }

  begun(statusCode: number, headers: AnswerHeaders): void {
    this.#statusCode = statusCode
    this.#responseBytes = 0
    this.#chunks = this.#request.responseBytesMax === undefined ? undefined : []
    this.#keepAlive = headers.connection === undefined || !/\bclose\b/i.test(String(headers.connection))
    // Chunks are not part of HTTP/1.0, so another program may divide the bytes in another way (RFC 9112 §6.1).
    if (headers['transfer-encoding'] !== undefined && this.#connection?.isOldAnswer) this.#keepAlive = false
    this.#text?.begin(headers['content-encoding'])
    const { responseHeaders } = this.#request
    if (responseHeaders) this.#wantedHeaders = pickHeaders(headers, responseHeaders)
    if (this.#request.keepAnswer) this.#keep(statusCode, headers)
    if (statusCode === 401) this.#asks = headers['www-authenticate']
    else if (this.#sent) this.#info = textOf(headers['authentication-info'])
    const retryAfter = headers['retry-after']
    // The retry policy may retry any other status than 2xx.
    if (retryAfter === undefined || statusCode < 300) return
    const date = typeof headers.date === 'string' ? headers.date : undefined
    this.#retryAfterSeconds = parseRetryAfter(String(retryAfter), date, Date.now())
  }

  /**
   * The response's body is read and dropped, so that the connection can be reused. Past the limit the connection is
   * closed, and the status still counts. The endpoint has answered, and another request would get the same large body.
   */
  onResponseData(controller: Controller, chunk: Buffer): void {
    if (controller === this.#controller) this.data(chunk)
  }

  data(chunk: Buffer): void {
    if (this.#settled) return
    this.#responseBytes += chunk.length
    this.#text?.add(chunk)
    this.#answer?.add(chunk)
    const { responseBytesMax: wanted = 0 } = this.#request
    if (this.#chunks && this.#responseBytes <= wanted) this.#chunks.push(chunk)
    else this.#chunks = undefined
    if (this.#responseBytes <= Math.max(this.#context.responseBytesMax, wanted)) return
    this.#discard()
    this.#answered(performance.now())
  }

  onResponseEnd(controller: Controller): void {
    if (controller === this.#controller) this.ended()
  }

  ended(): void {
    if (this.#settled) return
    const now = performance.now()
    if (this.#connection) this.#context.connections.release(this.#connection, this.#keepAlive, now)
    this.#connection = undefined
    this.#answered(now)
  }

  /** undici passes no controller if the request never began. */
  onResponseError(controller: Controller | null | undefined, error: Error): void {
    if ((controller ?? null) !== this.#controller || this.#settled) return
    if (error === UNSENT) {
      this.#missed()
      return
    }
    const stage = this.#stage()
    const isAnswering = this.#connection?.isAnswering ?? false
    this.#discard()
    if (!isAnswering && isReset(error) && this.#mayRepeat()) {
      this.#resets++
      this.#goOn('reset')
    } else if (this.isHeadRead && !this.needsBody) {
      this.#chunks = undefined
      this.#answered(performance.now())
    } else {
      this.#settle(stagedFailure(error, this.#durationMs(), stage))
    }
  }

  #mayRepeat(): boolean {
    return this.#reused && !this.#request.isSentOnce && this.#resets < RESETS_MAX
  }

  /** A server says so before it closes an idle connection. The request was on its way then (RFC 9110 §15.5.9). */
  #isUnread(): boolean {
    return !this.#keepAlive && this.#mayRepeat()
  }

  /**
   * Makes a request. `again` is the reason for a request that is not the attempt's first. After a reset the request
   * gets a new connection.
   */
  #exchange(again: FurtherCause | undefined): void {
    const { origin } = this.#endpoint
    const { isSentOnce = false, moment } = this.#request
    this.#controller = null
    this.#sent = undefined
    this.#cause = again
    this.#reused = false
    this.#statusCode = 0
    this.#retryAfterSeconds = undefined
    this.#responseBytes = 0
    this.#asks = undefined
    this.#info = undefined
    this.#answer = undefined
    this.#chunks = undefined
    const { connections } = this.#context
    const now = again === undefined ? this.#startedAt : performance.now()
    const isFresh = again === 'reset' || isSentOnce
    const connection =
      isFresh || moment
        ? connections.acquire(origin, isFresh, now)
        : connections.request(origin, now, (free) => this.#take(free))
    if (connection) this.#sendOver(connection)
  }

  /** False: the attempt has ended while it waited for a connection. */
  #take(connection: Connection): boolean {
    if (this.#settled) return false
    this.#sendOver(connection)
    return true
  }

  #sendOver(connection: Connection): void {
    const { origin, path, credentials } = this.#endpoint
    const { method = 'POST', body, trace } = this.#request
    this.#connection = connection
    this.#sent = credentials?.authorization(method, path, this.#challenge)
    const headers = this.#headers()
    if (trace) {
      const own = this.#endpoint.headers ?? []
      trace.begin({ method, origin: origin.name, path, headers, body, own }, () => connection.dialled)
    }
    connection.client.dispatch({ path, method, headers, body }, this)
  }

  #headers(): string[] | Record<string, string> {
    const { headers } = this.#request
    const own = this.#endpoint.headers
    if (this.#sent === undefined && own === undefined) return headers
    const all = Array.isArray(headers) ? [...headers] : Object.entries(headers).flat()
    if (own !== undefined) addOwn(all, own)
    if (this.#sent !== undefined) all.push('Authorization', this.#sent.header)
    return all
  }

  /** The status is final, unless it is a 401 that the URL's credentials can answer. `now`: by performance.now(). */
  #answered(now: number): void {
    if (this.#statusCode === 401 && this.#takesChallenge()) {
      this.#goOn('challenge')
      return
    }
    if (this.#statusCode === 408 && this.#isUnread()) {
      this.#resets++
      this.#goOn('reset')
      return
    }
    if (this.#sent && this.#statusCode !== 401) this.#endpoint.credentials?.accepted(this.#sent, this.#info)
    const result: AttemptResult = {
      kind: 'response',
      statusCode: this.#statusCode,
      durationMs: now - this.#startedAt,
    }
    if (this.#text) result.text = this.#text.text
    if (this.#wantedHeaders) result.headers = this.#wantedHeaders
    if (this.#answer) result.answer = this.#answer
    if (this.#retryAfterSeconds !== undefined) result.retryAfterSeconds = this.#retryAfterSeconds
    if (this.#chunks) result.body = Buffer.concat(this.#chunks)
    this.#settle(result)
  }

  /**
   * Whether the next request answers the 401. False if the endpoint has refused an answer to this attempt's challenge,
   * because the credentials are then wrong.
   */
  #takesChallenge(): boolean {
    const { credentials } = this.#endpoint
    if (!credentials || this.#asks === undefined || this.#challenges === CHALLENGES_MAX) return false
    const sent = this.#sent
    const challenge = credentials.challenge(this.#asks, sent)
    if (challenge === undefined) return false
    if (sent && sent.challenge === this.#challenge && sent.use === 1) return false
    this.#challenge = challenge
    this.#challenges++
    return true
  }

  /** Makes another request at once, or asks the caller to make it. */
  #goOn(cause: FurtherCause): void {
    const { again } = this.#callbacks
    // undici is still in this exchange. Let it finish before its client gets the next request.
    this.#controller = null
    if (!again) {
      queueMicrotask(() => {
        if (!this.#settled) this.#exchange(cause)
      })
      return
    }
    const next: FurtherRequest = {
      cause,
      durationMs: this.#durationMs(),
      resets: this.#resets,
      challenges: this.#challenges,
      challenge: this.#challenge,
    }
    this.#deadlines.remove(this)
    this.#end()
    this.#context.results.push(again, next)
  }

  #missed(): void {
    const { moment } = this.#request
    const dialMs = this.#reused ? 0 : (this.#connection?.dialMs ?? 0)
    if (this.#connection) this.#context.connections.giveBack(this.#connection)
    this.#connection = undefined
    // If the attempt was challenged, its next request uses the nonce. Otherwise another request may use it.
    if (this.#sent && !this.#challenge) this.#endpoint.credentials?.unsent(this.#sent)
    this.#deadlines.remove(this)
    this.#end()
    this.#context.results.push((ms: number) => moment?.missed(ms), dialMs)
  }

  #settle(result: AttemptResult): void {
    this.#deadlines.remove(this)
    this.#end()
    this.#context.results.push(this.#callbacks.done, result)
  }

  #end(): void {
    this.#settled = true
    if (this.#cut) this.#request.signal?.removeEventListener('abort', this.#cut)
  }

  #endWith(signal: AbortSignal): void {
    const cut = () => {
      this.#deadlines.remove(this)
      this.expire()
    }
    this.#cut = cut
    signal.addEventListener('abort', cut)
  }

  #discard(): void {
    const connection = this.#connection
    this.#connection = undefined
    if (connection) this.#context.connections.discard(connection)
  }

  #keep(statusCode: number, headers: AnswerHeaders): void {
    const { keepAnswer } = this.#request
    if (!keepAnswer || !isKept(keepAnswer, statusCode)) return
    this.#answer = new KeptAnswer(headers, keepAnswer, this.#connection?.dialled)
  }

  /** The part of the attempt that is under way. */
  #stage(): AttemptStage {
    if (this.#statusCode > 0) return 'body'
    return this.#controller ? 'answer' : stageOfDial(this.#connection?.dialled)
  }

  #durationMs(): number {
    return performance.now() - this.#startedAt
  }

  #timeoutDetail(): string {
    const missing = this.#statusCode > 0 ? 'complete answer' : this.#controller ? 'answer' : 'connection'
    const { signal, timeoutMs = this.#context.timeoutMs } = this.#request
    if (!signal?.aborted) return `no ${missing} within ${timeoutMs} ms`
    const isLate = signal.reason?.name === 'TimeoutError'
    return `no ${missing} before ${isLate ? 'the deadline of the attempt' : 'it was called off'}`
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header
}

function pickHeaders(headers: AnswerHeaders, names: readonly string[]): Record<string, string> {
  const found = names.map((name) => [name, textOf(headers[name])] as const)
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Adds the subscription's own headers. Its User-Agent replaces the usual one. No other header can occur twice. */
function addOwn(headers: string[], own: string[]): void {
  const isAgent = (word: string, at: number) => at % 2 === 0 && word.toLowerCase() === 'user-agent'
  const at = own.some(isAgent) ? headers.findIndex(isAgent) : -1
  if (at >= 0) headers.splice(at, 2)
  headers.push(...own)
}
