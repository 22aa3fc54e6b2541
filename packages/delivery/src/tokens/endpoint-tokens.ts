/**
 * Access tokens for endpoints, by OAuth 2 client credentials (RFC 6749 §4.4).
 *
 *   none ── asked ──▶ being asked for ── answer ──▶ kept until shortly before its end
 *    ▲                      │ away, refused: the attempt cannot be made, and its lane waits
 *    └── the endpoint answers 401 to a kept token, at most every 30 s
 *
 * A process asks once for each credential, whatever the number of attempts that wait. Rejected: to share tokens through
 * Redis. It would save one request an hour and worker, and would cost a round trip and secrets in Redis that a worker
 * without the master key cannot open.
 */
import { type AttemptResult, isObject, jsonOf } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import type { HttpSender } from '../http/http-sender.ts'
import type { OAuthClient } from '../outbound/oauth-client.ts'
import { AccessTokens, type MadeToken } from './access-tokens.ts'

/** Credentials of endpoints whose tokens a process keeps. Past it: the least recently used one is asked for again. */
const CREDENTIALS_MAX = 5_000
/** Time for the answer of a token server. Past it: the lane waits as `noToken`. */
const TOKEN_TIMEOUT_MS = 5_000
/** Body of the answer of a token server. Past it: the lane waits as `noToken`. */
const TOKEN_ANSWER_BYTES_MAX = 16_384
/** Life of a token whose answer names none. */
const TOKEN_SECONDS_DEFAULT = 300
/** The shortest life of a token, also if its answer names a shorter one. */
const TOKEN_SECONDS_MIN = 10
/** The longest life of a token. Past it: the token is replaced, although its answer names a longer one. */
const TOKEN_SECONDS_MAX = 86_400
/** Time before its end at which a token is replaced. A tenth of its life, if that is less. */
const TOKEN_LEFT_SECONDS_MAX = 60
/** A failure holds for this long, so that many subscriptions do not all ask a server that cannot be reached. */
const FAILURE_HOLDS_MS = 1_000
/** An endpoint that answers 401 to every token causes no more requests for tokens than this. */
const RENEW_EVERY_MS = 30_000

/** Printable ASCII, so that no token ends the header. */
const TOKEN = /^[\x21-\x7e]+$/
/** Codes of RFC 6749 §5.2. Any other text may repeat a secret. */
const ERROR_CODE = /^[a-z_]{1,40}$/

/** Its message is for operators, and has no secret and no token. */
class NoTokenError extends Error {}

export class EndpointTokens {
  readonly #sender: Pick<HttpSender, 'send'>
  /** The longest that `get` takes. */
  readonly timeoutMs: number
  readonly #tokens = new AccessTokens({ max: CREDENTIALS_MAX })
  /** By the name of the credential, like `#renewedAt`. */
  readonly #failed = new LRUCache<string, { error: unknown; until: number }>({ max: CREDENTIALS_MAX })
  readonly #renewedAt = new LRUCache<string, number>({ max: CREDENTIALS_MAX })

  /** `attemptMs`: the time of a whole attempt, half of which is left for the request to the endpoint. */
  constructor(sender: Pick<HttpSender, 'send'>, attemptMs: number) {
    this.#sender = sender
    this.timeoutMs = Math.min(TOKEN_TIMEOUT_MS, attemptMs / 2)
  }

  /** Rejects with a NoTokenError. */
  get(client: OAuthClient): Promise<string> {
    return this.#tokens.get(client.name, performance.now(), () => this.#askUnlessFailed(client))
  }

  /** Called when the endpoint has refused this token. Whether the next attempt gets another one. */
  renew({ name }: OAuthClient, token: string): boolean {
    if (!this.#tokens.isCurrent(name, token)) return true
    const now = performance.now()
    if (now - (this.#renewedAt.get(name) ?? Number.NEGATIVE_INFINITY) < RENEW_EVERY_MS) return false
    this.#renewedAt.set(name, now)
    this.#tokens.drop(name, token)
    return true
  }

  async #askUnlessFailed(client: OAuthClient): Promise<MadeToken> {
    const failed = this.#failed.get(client.name)
    if (failed && performance.now() < failed.until) throw failed.error
    try {
      return await this.#ask(client)
    } catch (error) {
      this.#failed.set(client.name, { error, until: performance.now() + FAILURE_HOLDS_MS })
      throw error
    }
  }

  async #ask(client: OAuthClient): Promise<MadeToken> {
    const { tokenUrl: url, route, authorization, body } = client
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      authorization,
    }
    const { timeoutMs } = this
    const bounds = { timeoutMs, responseBytesMax: TOKEN_ANSWER_BYTES_MAX, needsBody: true }
    const result = await new Promise<AttemptResult>((resolve) =>
      this.#sender.send({ url, route, headers, body, ...bounds }, resolve),
    )
    return tokenIn(client, result)
  }
}

function tokenIn({ host }: OAuthClient, result: AttemptResult): MadeToken {
  if (result.kind === 'misconfigured') throw new NoTokenError(`the token server ${host} was not asked`)
  if (result.kind === 'failure')
    throw new NoTokenError(`the token server ${host} did not answer: ${result.error}`)
  const given = result.body && jsonOf(result.body.toString())
  const { access_token: token, token_type: type, expires_in: seconds, error } = isObject(given) ? given : {}
  if (result.statusCode !== 200) {
    const code = typeof error === 'string' && ERROR_CODE.test(error) ? ` ${error}` : ''
    throw new NoTokenError(`the token server ${host} answered ${result.statusCode}${code}`)
  }
  if (typeof token !== 'string' || !TOKEN.test(token) || !isBearer(type))
    throw new NoTokenError(`the token server ${host} answered no usable bearer token`)
  return { token, expiresAt: performance.now() + lifeMs(seconds) }
}

/** Some servers leave the type out. */
function isBearer(type: unknown): boolean {
  return type === undefined || (typeof type === 'string' && type.toLowerCase() === 'bearer')
}

function lifeMs(given: unknown): number {
  const named = given === undefined ? Number.NaN : Number(given)
  const seconds = Number.isFinite(named) ? named : TOKEN_SECONDS_DEFAULT
  const life = Math.min(Math.max(seconds, TOKEN_SECONDS_MIN), TOKEN_SECONDS_MAX)
  return (life - Math.min(TOKEN_LEFT_SECONDS_MAX, life / 10)) * 1_000
}
