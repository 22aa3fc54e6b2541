/**
 * Repeats requests after temporary failures: no connection, 429, 502, 503, 504. Only requests that change nothing when
 * they arrive twice are repeated: GET, PUT, DELETE, and those with an idempotency key.
 */
import { setTimeout as delay } from 'node:timers/promises'

/** Attempts of a request. Past it: the command fails with the last failure. */
const REQUEST_ATTEMPTS_MAX = 4
/** The wait for an answer, long polls included. Past it: the attempt has failed. */
const ANSWER_MS_MAX = 60_000
const FIRST_WAIT_MS = 200
/** The wait before another attempt, if the server asks for a longer wait. Past it: the wait is shortened to this. */
const RETRY_AFTER_MS_MAX = 10_000
const PASSING = [429, 502, 503, 504]
const REPEATABLE = ['GET', 'HEAD', 'PUT', 'DELETE']

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
