/**
 * Sends to browsers by Web Push (RFC 8030) with VAPID (RFC 8292). Callers of the API choose the URL of a browser, so
 * the address guard checks it.
 */
import type { HttpSender } from '../http/http-sender.ts'
import { AccessTokens } from '../tokens/access-tokens.ts'
import { browserRequest, type Unsendable } from './mobile-notification.ts'
import type { MobilePushProvider, Push, Pushed } from './mobile-push-provider.ts'
import { judgeBrowser } from './provider-answers.ts'
import { signToken, vapidKey } from './signed-tokens.ts'
import { encryptForBrowser } from './web-push-body.ts'

/**
 * Life of a VAPID token. Half of it is used, then another token is made. Past it: push services refuse the token. RFC
 * 8292 allows a day. Half a day leaves time for clocks that differ.
 */
const VAPID_TOKEN_SECONDS = 12 * 3_600

interface Subscription {
  endpoint: string
  keys: { p256dh: string; auth: string }
}

export class Browsers implements MobilePushProvider {
  readonly #sender: Pick<HttpSender, 'send'>
  readonly #tokens = new AccessTokens()

  constructor(sender: Pick<HttpSender, 'send'>) {
    this.#sender = sender
  }

  async push({
    message,
    application,
    endpoint,
    credential,
    now,
    signal,
  }: Push): Promise<Pushed | Unsendable> {
    const { endpoint: url, keys } = JSON.parse(endpoint.token) as Subscription
    const request = browserRequest({ message, token: endpoint.token, now })
    if ('unsendable' in request) return request
    const { principal = '', credential: secret, subject = '' } = credential
    const aud = new URL(url).origin
    const token = await this.#tokens.get(`${aud} ${application.sealed}`, now, async () => {
      const claims = { aud, exp: Math.floor(now / 1_000) + VAPID_TOKEN_SECONDS, sub: subject }
      const made = signToken({ alg: 'ES256', claims, key: vapidKey(principal, secret) })
      return { token: made, expiresAt: now + (VAPID_TOKEN_SECONDS / 2) * 1_000 }
    })
    const headers = {
      'content-type': 'application/octet-stream',
      'content-encoding': 'aes128gcm',
      ttl: String(request.ttlSeconds),
      authorization: `vapid t=${token}, k=${principal}`,
    }
    const body = encryptForBrowser(request.text, keys)
    const result = await new Promise<Pushed['result']>((resolve) =>
      this.#sender.send({ url, headers, body, signal }, resolve),
    )
    if (result.kind !== 'response') return { result }
    return { result, ...judgeBrowser({ statusCode: result.statusCode, body: undefined }) }
  }
}
