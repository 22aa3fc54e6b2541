/**
 * Sends to the Apple Push Notification service. An application's signing key makes a token, which is used for 45
 * minutes.
 */
import { createPrivateKey } from 'node:crypto'
import type { Platform } from '@fantail/contracts'
import type { Connector } from '../connections/connector.ts'
import { AccessTokens } from '../tokens/access-tokens.ts'
import { AppleConnection } from './apple-connection.ts'
import { appleRequest, type Unsendable } from './mobile-notification.ts'
import type { MobilePushProvider, Push, Pushed } from './mobile-push-provider.ts'
import { judgeApple } from './provider-answers.ts'
import { signToken } from './signed-tokens.ts'

/** APNs refuses tokens that are older than an hour, and applications that make one more often than in 20 minutes. */
const TOKEN_MS = 45 * 60_000

export class Apple implements MobilePushProvider {
  readonly #platform: Platform
  readonly #connection: AppleConnection
  readonly #tokens = new AccessTokens()

  constructor({ platform, url, dial }: { platform: Platform; url: string; dial: Connector }) {
    this.#platform = platform
    this.#connection = new AppleConnection(url, dial)
  }

  async push(push: Push): Promise<Pushed | Unsendable> {
    const { message, endpoint, credential, now } = push
    const given = { message, token: endpoint.token, now }
    const { bundleId = '' } = credential
    const request = appleRequest(given, { platform: this.#platform, bundleId })
    if ('unsendable' in request) return request
    const first = await this.#send(push, request)
    // The expired token has been dropped, so the second request gets another one.
    return first.resultClass === 'stale' ? this.#send(push, request) : first
  }

  close(): void {
    this.#connection.close()
  }

  async #send(
    { application, endpoint, credential, now, signal }: Push,
    { body, headers }: { body: string; headers: Record<string, string> },
  ): Promise<Pushed> {
    const { principal: kid, credential: pem, teamId: iss = '' } = credential
    const token = await this.#tokens.get(application.sealed, now, async () => {
      const claims = { iss, iat: Math.floor(now / 1_000) }
      const made = signToken({ alg: 'ES256', claims, key: createPrivateKey(pem), kid })
      return { token: made, expiresAt: now + TOKEN_MS }
    })
    const call = {
      path: `/3/device/${endpoint.token}`,
      headers: { ...headers, 'content-type': 'application/json', authorization: `bearer ${token}` },
      body,
    }
    const result = await this.#connection.post(call, signal)
    if (result.kind !== 'response') return { result }
    const judged = judgeApple({ statusCode: result.statusCode, body: result.body })
    if (judged.resultClass === 'stale') this.#tokens.drop(application.sealed, token)
    return { result, ...judged }
  }
}
