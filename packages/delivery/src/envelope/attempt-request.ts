/**
 * Makes the request for one message and one endpoint: its secrets are opened, its body is rendered, and it is signed.
 * Deliveries and tests of a subscription use this code, so a test shows what a delivery would do.
 */
import type { AttemptResult } from '@fantail/contracts'
import type { HttpRequest } from '../http/http-request.ts'
import type { Sealing } from '../outbound/outbound-secrets.ts'
import { unopenedSecrets } from '../outbound/unopened-secrets.ts'
import { type Envelope, renderBody } from './envelope.ts'
import { renderHeaders } from './request-headers.ts'
import { type Target, unlockTarget } from './target.ts'

export interface AttemptRequestOptions {
  /** Opens secrets. undefined: there is no master key. */
  vault: Pick<Sealing, 'open'> | undefined
  /** Returns epoch ms, for the timestamp of a signed request. */
  clock: () => number
  /** The trace context of the attempt's own span. */
  traceparent?: string | undefined
  /** User agent of requests to native subscriptions (FANTAIL_USER_AGENT); default: SNS's. */
  userAgent?: string | undefined
}

type AttemptRequest = Pick<HttpRequest, 'url' | 'route' | 'memo' | 'body'> & { headers: string[] }

/**
 * The request. If it cannot be made, the result of the attempt says why, and nothing is sent unsigned. The envelope's
 * own signature has been prepared (EnvelopeSigning).
 */
export function renderRequest(
  envelope: Envelope,
  target: Target,
  { vault, clock, traceparent, userAgent }: AttemptRequestOptions,
): AttemptRequest | AttemptResult {
  if (target.locked !== undefined) {
    try {
      unlockTarget(target, vault)
    } catch (error) {
      return unopenedSecrets(error, target.subscriptionArn)
    }
  }
  const { url, memo, route, webhook } = target
  const headers = renderHeaders(envelope, target, { traceparent, userAgent })
  const body = renderBody(envelope, target)
  if (webhook !== undefined) {
    try {
      const { messageId } = envelope.message
      headers.push(...webhook.headers({ messageId, now: clock(), body }, vault))
    } catch (error) {
      return unopenedSecrets(error, target.subscriptionArn)
    }
  }
  return { url, route, memo, headers, body }
}

/** The result of an attempt whose envelope could not be signed. This failure does not count against the endpoint. */
export function unsignedFailure(error: unknown): AttemptResult {
  const detail = `could not be signed: ${error instanceof Error ? error.message : String(error)}`
  return { kind: 'failure', error: 'storage', detail, durationMs: 0, permanent: false }
}
