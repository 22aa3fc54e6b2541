/** Sends one request, and reads its answer or its failure. */
import { abortedBy, FantailError, type Problem } from '../failures/client-error.ts'
import { retryAfterMs } from '../retries/retry-quota.ts'

interface AttemptRequest {
  url: string
  init: RequestInit
  /** The call's. */
  signal: AbortSignal
  timeoutMs: number
  fetch: typeof globalThis.fetch
}

export interface AttemptResult {
  status?: number | undefined
  requestId?: string | undefined
  error?: FantailError
  /** The answer's JSON, or its text; undefined without a body. */
  value?: unknown
}

/** Resolves with an answer whose body is still open. Every other result rejects. */
export async function openStream({
  url,
  init,
  signal,
  fetch,
}: Omit<AttemptRequest, 'timeoutMs'>): Promise<Response> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    if (response.ok && response.body) return keptOpen(response, signal)
    throw read(response, await response.text()).error ?? unexpected('it has no body', {})
  } catch (cause) {
    throw failureOf(cause, signal)
  }
}

/** The same answer. If its body fails, the error is a FantailError, as for other requests. */
function keptOpen(response: Response, signal: AbortSignal): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (cause) {
        controller.error(failureOf(cause, signal))
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return new Response(body, { headers: response.headers })
}

function failureOf(cause: unknown, signal: AbortSignal): FantailError {
  if (cause instanceof FantailError) return cause
  if (signal.aborted) return reasonOf(signal)
  const said = cause instanceof Error ? cause.message : String(cause)
  return new FantailError('network', `no answer: ${said}`, { cause, retryable: true })
}

export async function attempt(request: AttemptRequest): Promise<AttemptResult> {
  const { url, init, signal, timeoutMs, fetch } = request
  const own = new AbortController()
  const stop = () => own.abort(signal.reason)
  const timer = setTimeout(() => own.abort(), timeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  try {
    // Redirects are not followed, because a redirected POST would become a GET.
    const response = await fetch(url, { ...init, redirect: 'manual', signal: own.signal })
    return read(response, await response.text())
  } catch (cause) {
    if (!signal.aborted && own.signal.aborted) return { error: timedOut(timeoutMs) }
    return { error: failureOf(cause, signal) }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** The call's own error (its deadline), or the caller's reason. */
export function reasonOf(signal: AbortSignal): FantailError {
  return signal.reason instanceof FantailError ? signal.reason : abortedBy(signal)
}

function timedOut(timeoutMs: number): FantailError {
  return new FantailError('timeout', `no answer within ${timeoutMs} ms`, { retryable: true })
}

function read(response: Response, text: string): AttemptResult {
  const { status, headers } = response
  const facts = { status, requestId: headers.get('x-request-id') ?? undefined }
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false
  const parsed = isJson ? parse(text) : { value: text === '' ? undefined : text }
  if (response.ok) {
    return parsed ? { ...facts, ...parsed } : { ...facts, error: unexpected('its JSON is broken', facts) }
  }
  return { ...facts, error: refusal(parsed?.value, { ...facts, retryAfter: headers.get('retry-after') }) }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

type Facts = Pick<AttemptResult, 'status' | 'requestId'>

/** The error after a 2xx that cannot be read. The server has carried out the request, so it must not be repeated. */
function unexpected(what: string, facts: Facts): FantailError {
  return new FantailError('unexpected_answer', `the server answered ${facts.status}: ${what}`, facts)
}

const MAY_PASS = new Set([408, 429, 500, 502, 503, 504, 509])

function refusal(
  body: unknown,
  { retryAfter, ...facts }: Facts & { retryAfter: string | null },
): FantailError {
  const { error } = (body ?? {}) as { error?: { code?: unknown; message?: unknown; details?: Problem[] } }
  const retryable = MAY_PASS.has(facts.status ?? 0)
  const more = { ...facts, retryable, retryAfterMs: retryAfterMs(retryAfter, Date.now()) }
  if (typeof error?.code !== 'string') {
    return new FantailError('unexpected_answer', `the server answered ${facts.status}`, more)
  }
  const { code, message, details } = error
  return new FantailError(code as FantailError['code'], String(message), { ...more, details })
}
