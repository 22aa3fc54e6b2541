/**
 * Makes attempts at webhooks. An attempt makes one request, and repeats it after a reset, a challenge, or a 401 to an
 * access token that was kept from earlier attempts.
 */
import { ATTEMPT_DEADLINE_MS, type AttemptResult } from '@fantail/contracts'
import { type AttemptRequestOptions, renderRequest } from '../envelope/attempt-request.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import { failure } from '../http/attempt-failure.ts'
import type { FurtherRequest, HttpRequest } from '../http/http-request.ts'
import type { HttpSender } from '../http/http-sender.ts'
import type { OAuthClient } from '../outbound/oauth-client.ts'
import { EndpointTokens } from '../tokens/endpoint-tokens.ts'
import type { Attempt, AttemptDone, Attempter } from './attempter.ts'

export interface WebhookAttempterOptions
  extends Pick<AttemptRequestOptions, 'vault' | 'clock' | 'userAgent'> {
  sender: Pick<HttpSender, 'send' | 'openAhead'> & Partial<Pick<HttpSender, 'timeoutMs'>>
}

/** The rest of an attempt's time is rounded down, because a sender keeps a list for each different deadline. */
const STEP_MS = 1_000
/** A token that was kept comes within this time, and the request then has the usual deadline. */
const TOKEN_READY_MS = 100

interface Authorized {
  client: OAuthClient
  request: HttpRequest & { headers: string[] }
  done: AttemptDone
  again: ((further: FurtherRequest) => void) | undefined
  /** Monotonic ms. */
  endsAt: number
}

export class WebhookAttempter implements Attempter {
  readonly #options: WebhookAttempterOptions
  readonly #tokens: EndpointTokens
  readonly #timeoutMs: number

  constructor(options: WebhookAttempterOptions) {
    this.#options = options
    this.#timeoutMs = options.sender.timeoutMs ?? ATTEMPT_DEADLINE_MS
    this.#tokens = new EndpointTokens(options.sender, this.#timeoutMs)
  }

  openAhead(target: EndpointTarget): void {
    if (target.secrets === undefined) this.#options.sender.openAhead(target)
  }

  attempt(attempt: Attempt, done: AttemptDone, again?: (further: FurtherRequest) => void): void {
    const { envelope, target, delivery, traceparent, textBytesMax, keepAnswer, trace, earlier } = attempt
    const { onRequest, moment } = attempt
    const { vault, clock, userAgent, sender } = this.#options
    const request = renderRequest(envelope, target, { vault, clock, traceparent, userAgent, delivery })
    if ('kind' in request) {
      setImmediate(done, request)
      return
    }
    const { url, route, memo, headers, body } = request
    // Written out, because a spread that is not the first member takes a slow path of V8.
    const sent: HttpRequest & { headers: string[] } = {
      url,
      route,
      memo,
      headers,
      body,
      textBytesMax,
      keepAnswer,
      trace,
      earlier,
      onRequest,
      moment,
    }
    if (target.oauth === undefined) sender.send(sent, done, again)
    else {
      const endsAt = performance.now() + this.#timeoutMs
      this.#authorize({ client: target.oauth, request: sent, done, again, endsAt })
    }
  }

  /** Does nothing. Push consumers use the same sender, and its creator closes it. */
  async close(): Promise<void> {}

  /** Sends with an access token. If there is none, nothing is sent, and the attempt does not count. */
  #authorize(asked: Authorized): void {
    const { client, done } = asked
    const startedAt = performance.now()
    this.#tokens.get(client).then(
      (token) => this.#send(asked, token),
      (error: Error) => {
        const durationMs = performance.now() - startedAt
        done({ kind: 'misconfigured', credential: client.name, detail: error.message, durationMs })
      },
    )
  }

  #send(asked: Authorized, token: string): void {
    const { client, request, done, again, endsAt } = asked
    const leftMs = endsAt - performance.now()
    const isWhole = leftMs > this.#timeoutMs - TOKEN_READY_MS
    const timeoutMs = isWhole ? undefined : Math.max(1, Math.floor(leftMs / STEP_MS)) * STEP_MS
    const ended: AttemptDone = (result) => {
      const isExpired = isRefused(result) && !wasRenewed(request) && this.#tokens.renew(client, token)
      if (!isExpired) return done(result)
      const earlier = renewed(request, result)
      if (again) again(earlier)
      else if (performance.now() + this.#tokens.timeoutMs > endsAt - STEP_MS) done(lateFor(result))
      else this.#authorize({ ...asked, request: { ...request, earlier } })
    }
    const headers = [...request.headers, 'Authorization', `Bearer ${token}`]
    this.#options.sender.send({ ...request, headers, ...(timeoutMs && { timeoutMs }) }, ended, again)
  }
}

type Response = AttemptResult & { kind: 'response' }

function isRefused(result: AttemptResult): result is Response {
  return result.kind === 'response' && result.statusCode === 401
}

/** An endpoint with an access token has no credentials in its URL, so it has no other challenge. */
function wasRenewed({ earlier }: HttpRequest): boolean {
  return (earlier?.challenges ?? 0) > 0
}

function renewed({ earlier }: HttpRequest, { durationMs }: Response): FurtherRequest {
  return { cause: 'challenge', durationMs, resets: earlier?.resets ?? 0, challenges: 1, challenge: undefined }
}

/** The retry gets another token. */
function lateFor({ durationMs }: Response): AttemptResult {
  return failure('timeout', 'no time was left to get another access token', durationMs)
}
