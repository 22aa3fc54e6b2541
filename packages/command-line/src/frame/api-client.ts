/** The client of the API that every command uses. Failures become errors with an exit code. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from '@fantail/client/api'
import { ApiRefusal, Unreachable } from '../output/exit-codes.ts'

interface ApiOptions {
  url: string
  apiKey: string | undefined
  /** Ends every request. */
  signal: AbortSignal
}

export function connectApi({ url, apiKey, signal }: ApiOptions): Client {
  const client = createClient({
    baseUrl: url,
    throwOnError: true,
    responseStyle: 'data',
    signal,
    fetch: fetchAgain(signal),
    ...(apiKey !== undefined && { auth: apiKey }),
  })
  client.interceptors.error.use((error, response) => failureOf(error, response, { url, signal }))
  return client
}

/** A client whose requests may go on for this time after the signal, for what has to be ended in an orderly way. */
export function connectLate({ signal, graceMs, ...server }: ApiOptions & { graceMs: number }): Client {
  const late = new AbortController()
  const end = () => setTimeout(() => late.abort(signal.reason), graceMs).unref()
  signal.addEventListener('abort', end, { once: true })
  return connectApi({ ...server, signal: late.signal })
}

interface Asked {
  url: string
  signal: AbortSignal
}

function failureOf(error: unknown, response: Response | undefined, { url, signal }: Asked): unknown {
  if (signal.aborted) return signal.reason
  if (!response) return new Unreachable(`${url} does not answer: ${causeOf(error)}`, { cause: error })
  return refusalOf(error, response.status, url)
}

/** The refusal in the body of an answer. Other servers have another body. */
export function refusalOf(answer: unknown, status: number, url: string): ApiRefusal | Unreachable {
  const body = answer as
    | { error?: { code?: string; message?: string; details?: [] }; requestId?: string }
    | undefined
  const { code, message, details = [] } = body?.error ?? {}
  if (code === undefined || message === undefined) {
    return new Unreachable(`${url} answers ${status}, but it is not the API of Fantail`)
  }
  return new ApiRefusal(status, { code, message, details, requestId: body?.requestId })
}

/** fetch hides the reason in the cause. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof AggregateError) return causeOf(error.cause.errors[0])
  return error.cause === undefined ? error.message : causeOf(error.cause)
}

/** Attempts of a request. Past it: the command fails with the last failure. */
const REQUEST_ATTEMPTS_MAX = 4
/** The wait for an answer, long polls included. Past it: the attempt has failed. */
const ANSWER_MS_MAX = 60_000
const FIRST_WAIT_MS = 200
/** The wait before another attempt, if the server asks for a longer wait. Past it: the wait is shortened to this. */
const RETRY_AFTER_MS_MAX = 10_000
const PASSING = [429, 502, 503, 504]
const REPEATABLE = ['GET', 'HEAD', 'PUT', 'DELETE']

/**
 * Repeats requests after temporary failures: no connection, 429, 502, 503, 504. Only requests that change nothing when
 * they arrive twice are repeated: GET, PUT, DELETE, and those with an idempotency key.
 */
export function fetchAgain(signal: AbortSignal): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const attempts = isRepeatable(request) ? REQUEST_ATTEMPTS_MAX : 1
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= attempts
      const answer = await once(request.clone(), signal).catch((error: unknown) => {
        if (isLast || signal.aborted) throw error
        return undefined
      })
      if (answer && (isLast || !PASSING.includes(answer.status))) return answer
      await answer?.body?.cancel()
      await delay(waitMs(attempt, answer), undefined, { signal })
    }
  }
}

function isRepeatable({ method, headers }: Request): boolean {
  return REPEATABLE.includes(method) || headers.has('idempotency-key')
}

function once(request: Request, signal: AbortSignal): Promise<Response> {
  return fetch(request, { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]) })
}

/**
 * The time that the server asks for. If it asks for none: a random time up to a bound that doubles with each attempt.
 */
function waitMs(attempt: number, answer: Response | undefined): number {
  const asked = Number(answer?.headers.get('retry-after') ?? Number.NaN) * 1_000
  if (Number.isFinite(asked)) return Math.min(asked, RETRY_AFTER_MS_MAX)
  return Math.min(FIRST_WAIT_MS * 2 ** attempt, RETRY_AFTER_MS_MAX) * Math.random()
}
