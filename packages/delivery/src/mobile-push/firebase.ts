/**
 * Sends to Firebase Cloud Messaging (HTTP v1). Google exchanges a service account for an access token, which is valid
 * for an hour. The URL of this exchange comes from the operator's settings. The account's own `token_uri` is not used,
 * because a caller of the API has chosen it.
 */
import { createPrivateKey } from 'node:crypto'
import { type AttemptResult, isObject, jsonOf } from '@fantail/contracts'
import type { HttpRequest } from '../http/http-request.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { TRUSTED_ROUTE } from '../outbound/outbound-route.ts'
import { AccessTokens, type MadeToken } from '../tokens/access-tokens.ts'
import { firebaseBody, type Unsendable } from './mobile-notification.ts'
import {
  type MobilePushProvider,
  type Push,
  type Pushed,
  RefusedCredentialError,
} from './mobile-push-provider.ts'
import { judgeFirebase } from './provider-answers.ts'
import { signToken } from './signed-tokens.ts'

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** Life of the signed request that is exchanged for an access token. Past it: Google refuses the request. */
const GRANT_SECONDS = 3_600
/** Answer of FCM that is read. Past it: the body is ignored, and only the status counts. */
const FCM_ANSWER_BYTES_MAX = 16_384
/** Remaining life that an access token must have. Below it: another token is made for the next notification. */
const FCM_TOKEN_LEFT_SECONDS = 300

interface FirebaseOptions {
  sender: Pick<HttpSender, 'send'>
  /** Origin of FCM. */
  url: string
  /** URL at which service accounts are exchanged for access tokens. */
  tokenUrl: string
}

interface ServiceAccount {
  project_id: string
  client_email: string
  private_key: string
  private_key_id?: string
}

type Answer = Extract<AttemptResult, { kind: 'response' }>

/** The exchange failed in a way that says nothing about the account: without an answer, or with a temporary error. */
class ExchangeError extends Error {
  readonly result: AttemptResult

  constructor(result: AttemptResult) {
    super('the token could not be had')
    this.name = 'ExchangeError'
    this.result = result
  }
}

export class Firebase implements MobilePushProvider {
  readonly #options: FirebaseOptions
  readonly #tokens = new AccessTokens()

  constructor(options: FirebaseOptions) {
    this.#options = options
  }

  async push({
    message,
    application,
    endpoint,
    credential,
    now,
    signal,
  }: Push): Promise<Pushed | Unsendable> {
    const body = firebaseBody({ message, token: endpoint.token, now })
    if (typeof body !== 'string') return body
    const account = JSON.parse(credential.credential) as ServiceAccount
    const name = application.sealed
    try {
      const token = await this.#tokens.get(name, now, () => this.#exchange(account, now))
      const result = await this.#send(account.project_id, { token, body, signal })
      if (result.kind !== 'response') return { result }
      if (result.statusCode === 401) this.#tokens.drop(name, token)
      return { result, ...judgeFirebase({ statusCode: result.statusCode, body: result.body }) }
    } catch (error) {
      if (error instanceof ExchangeError) return { result: error.result }
      throw error
    }
  }

  #send(
    project: string,
    { token, body, signal }: { token: string; body: string; signal: AbortSignal },
  ): Promise<AttemptResult> {
    const url = new URL(`/v1/projects/${encodeURIComponent(project)}/messages:send`, this.#options.url)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    return this.#post({ url: url.href, headers, body, signal })
  }

  async #exchange(account: ServiceAccount, now: number): Promise<MadeToken> {
    const { tokenUrl } = this.#options
    const iat = Math.floor(now / 1_000)
    const claims = { iss: account.client_email, scope: SCOPE, aud: tokenUrl, iat, exp: iat + GRANT_SECONDS }
    const key = createPrivateKey(account.private_key)
    const assertion = signToken({ alg: 'RS256', claims, key, kid: account.private_key_id })
    const body = new URLSearchParams({ grant_type: GRANT, assertion }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const result = await this.#post({ url: tokenUrl, headers, body, needsBody: true })
    if (result.kind !== 'response' || result.statusCode >= 500 || result.statusCode === 429) {
      throw new ExchangeError(result)
    }
    return tokenIn(result, now)
  }

  /** Many attempts may wait for the same token, so the deadline of one attempt does not end the exchange. */
  #post(
    asked: Pick<HttpRequest, 'url' | 'headers' | 'body' | 'signal' | 'needsBody'>,
  ): Promise<AttemptResult> {
    const request = { ...asked, route: TRUSTED_ROUTE, responseBytesMax: FCM_ANSWER_BYTES_MAX }
    return new Promise((resolve) => this.#options.sender.send(request, resolve))
  }
}

function tokenIn({ statusCode, body }: Answer, now: number): MadeToken {
  const given = body && jsonOf(body.toString())
  const { access_token: token, expires_in: seconds, error } = isObject(given) ? given : {}
  if (statusCode === 200 && typeof token === 'string' && token !== '') {
    const life = typeof seconds === 'number' ? seconds : GRANT_SECONDS
    return { token, expiresAt: now + Math.max(0, life - FCM_TOKEN_LEFT_SECONDS) * 1_000 }
  }
  const word = typeof error === 'string' ? error : 'no token'
  throw new RefusedCredentialError(`the service account is refused: ${statusCode} ${word}`)
}
