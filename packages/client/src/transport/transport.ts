/**
 * Sends the requests of one client: retries with a quota, adaptive rate, deadlines. The generated functions take it as
 * their client.
 *
 * A call waits for the adaptive rate and makes an attempt. It ends with a success, with a final failure, or when
 * attempts, time or quota are used up. Otherwise it waits and tries again.
 */
import { type FailureKind, FantailError, failureKind, isUntouched } from '../failures/client-error.ts'
import type { Client } from '../generated/client/index.ts'
import { AdaptiveRate } from '../retries/adaptive-rate.ts'
import { RetryQuota, retryDelayMs } from '../retries/retry-quota.ts'
import type { ClientSettings } from '../settings/client-settings.ts'
import { type AttemptResult, attempt, openStream, reasonOf } from './attempt.ts'
import { bodyOf, type CoreRequest, headersOf, isRepeatable, type Method, urlOf } from './core-request.ts'
import { framesIn } from './event-frames.ts'

interface Call {
  method: Method
  request: CoreRequest
  url: string
  headers: Headers
  body: string | undefined
  /** A signal that aborts with the caller's signal or at the deadline. */
  signal: AbortSignal
  /** Monotonic ms. Infinity without a deadline. */
  endsAt: number
  attempts: number
  /** Tokens of the last retry, undefined before it. */
  taken: number | undefined
}

export class Transport {
  readonly #settings: ClientSettings
  readonly #quota = new RetryQuota()
  readonly #rate: AdaptiveRate | undefined

  constructor(settings: ClientSettings) {
    this.#settings = settings
    this.#rate = settings.retryMode === 'adaptive' ? new AdaptiveRate() : undefined
  }

  async send(method: Method, request: CoreRequest): Promise<unknown> {
    const deadlineMs = request.deadlineMs ?? this.#settings.deadlineMs
    const { signal, end } = limitedSignal(request.signal, deadlineMs)
    const headers = headersOf(request, method, this.#settings)
    const url = urlOf(this.#settings.url, request)
    const endsAt = performance.now() + (deadlineMs ?? Number.POSITIVE_INFINITY)
    const call: Call = {
      ...{ method, request, url, headers, body: bodyOf(request), signal, endsAt },
      attempts: 0,
      taken: undefined,
    }
    try {
      return await this.#run(call)
    } catch (error) {
      if (!(error instanceof FantailError)) throw error
      error.attempts = call.attempts
      error.idempotencyKey = headers.get('idempotency-key') ?? undefined
      throw error
    } finally {
      end()
    }
  }

  /** Opens a stream with one attempt. The caller opens it again after a failure. */
  async open({ signal = new AbortController().signal, ...request }: CoreRequest): Promise<Response> {
    const { fetch = globalThis.fetch, url } = this.#settings
    const headers = headersOf(request, 'GET', this.#settings)
    await this.#authorize(headers)
    return openStream({ url: urlOf(url, request), init: { headers }, signal, fetch })
  }

  async #authorize(headers: Headers): Promise<void> {
    const { apiKey } = this.#settings
    const key = typeof apiKey === 'function' ? await apiKey() : apiKey
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
  }

  async #run(call: Call): Promise<unknown> {
    for (;;) {
      await this.#waitForRate(call)
      const startedAt = performance.now()
      const result = await this.#attempt(call)
      const durationMs = performance.now() - startedAt
      const { error } = result
      const kind = error ? failureKind(error) : 'final'
      this.#rate?.note(kind === 'throttling', performance.now() / 1_000)
      if (error === undefined) this.#quota.giveBack(call.taken)
      const retryInMs = error && (await this.#retryDelay(call, error, kind))
      this.#report(call, result, { durationMs, retryInMs })
      if (error === undefined) return result.value
      if (retryInMs === undefined) throw error
      await pause(retryInMs, call.signal)
      // In Node this header closes the connection that failed after this request. Elsewhere the platform decides.
      if (kind === 'transient' && !IS_PAGE) call.headers.set('connection', 'close')
    }
  }

  async #attempt(call: Call): Promise<AttemptResult> {
    const { method, headers, body, signal, request, url } = call
    const { fetch = globalThis.fetch, timeoutMs } = this.#settings
    await this.#authorize(headers)
    if (signal.aborted) return { error: reasonOf(signal) }
    call.attempts += 1
    const init = { method, headers, ...(body !== undefined && { body }) }
    const allowedMs = (request.timeoutMs ?? timeoutMs) + (request.serverWaitMs ?? 0)
    return attempt({ url, init, signal, timeoutMs: allowedMs, fetch })
  }

  /** The ms until the retry, whose tokens are then taken. undefined: there is no retry. */
  async #retryDelay(call: Call, error: FantailError, kind: FailureKind): Promise<number | undefined> {
    const { method, request, headers, signal } = call
    if (kind === 'final' || call.attempts >= (request.maxAttempts ?? this.#settings.maxAttempts)) return
    if (!isRepeatable(method, request.url, headers) && !isUntouched(error)) return
    const asked = error.retryAfterMs ?? 0
    if (asked > this.#settings.retryAfterMsMax) return
    const delayMs = Math.max(asked, retryDelayMs(kind, call.attempts, Math.random()))
    if (performance.now() + delayMs >= call.endsAt) return
    const taken = this.#quota.take(kind)
    if (taken === undefined && this.#settings.emptyQuota === 'fail') {
      // The receiver repeats a failed poll at once, so the pause is made here.
      if (request.serverWaitMs !== undefined) await pause(delayMs, signal)
      return
    }
    call.taken = taken ?? (await this.#quota.wait(kind, signal).catch(() => Promise.reject(reasonOf(signal))))
    return delayMs
  }

  async #waitForRate({ signal, endsAt }: Call): Promise<void> {
    if (!this.#rate) return
    const waitMs = this.#rate.takeAt(performance.now() / 1_000)
    if (waitMs === 0) return
    const isLate = performance.now() + waitMs >= endsAt
    if (isLate || this.#settings.reachedRate === 'fail') {
      this.#rate.return()
      throw new FantailError(
        'rate_reached',
        `adaptive mode allows the next request in ${Math.ceil(waitMs)} ms`,
        {
          retryable: true,
        },
      )
    }
    await pause(waitMs, signal).catch((error) => {
      this.#rate?.return()
      throw error
    })
  }

  #report(
    call: Call,
    { status, requestId, error }: AttemptResult,
    times: { durationMs: number; retryInMs: number | undefined },
  ): void {
    const { onAttempt } = this.#settings
    if (!onAttempt) return
    const { method, request, attempts } = call
    const noted = { method, path: request.url, attempt: attempts, status, requestId, error, ...times }
    // The hook is called later, so that its error does not become the answer of the call.
    queueMicrotask(() => onAttempt(noted))
  }
}

/** Browsers choose connections themselves, and report an error for this header. */
const IS_PAGE = 'document' in globalThis || 'WorkerGlobalScope' in globalThis

/** Resolves after the time, or rejects when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(reasonOf(signal))
    const stop = () => {
      clearTimeout(timer)
      reject(reasonOf(signal))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}

/** A signal that aborts with the caller's, or with `deadline_exceeded` after the time. `end` leaves no timer behind. */
function limitedSignal(
  given: AbortSignal | undefined,
  deadlineMs: number | undefined,
): { signal: AbortSignal; end: () => void } {
  const own = new AbortController()
  const stop = () => own.abort(given?.reason)
  if (given?.aborted) stop()
  given?.addEventListener('abort', stop, { once: true })
  const exceed = () =>
    own.abort(
      new FantailError('deadline_exceeded', `the call took longer than ${deadlineMs} ms`, {
        retryable: true,
      }),
    )
  const timer = deadlineMs === undefined ? undefined : setTimeout(exceed, deadlineMs)
  const end = () => {
    clearTimeout(timer)
    given?.removeEventListener('abort', stop)
  }
  return { signal: own.signal, end }
}

/** Only the data of a stream's events, over one connection. `Fantail.events` also connects again and reports gaps. */
async function* dataOf(transport: Transport, request: CoreRequest): AsyncGenerator<unknown, void, undefined> {
  for await (const { data } of framesIn(await transport.open(request), () => undefined)) yield data
}

/** Gives a transport the form that the generated functions expect. */
export function coreClient(transport: Transport): Client {
  const by = (method: Method) => (request: CoreRequest) => transport.send(method, request)
  const methods = {
    get: by('GET'),
    put: by('PUT'),
    post: by('POST'),
    patch: by('PATCH'),
    delete: by('DELETE'),
    sse: { get: async (request: CoreRequest) => ({ stream: dataOf(transport, request) }) },
  }
  // The generated functions use no other members of a client.
  return methods as unknown as Client
}
