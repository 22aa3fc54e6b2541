/**
 * The request that takes one message to one endpoint: its secrets opened, rendered and signed. Deliveries and tests of
 * a subscription are made of it alike, so that a test shows what a delivery would do.
 */
import type { AttemptResult } from '@fantail/contracts'
import type { HttpRequest } from '../http/http-request.ts'
import type { Sealing } from '../outbound/outbound-secrets.ts'
import { type Envelope, renderBody } from './envelope.ts'
import { renderHeaders } from './request-headers.ts'
import { type Target, unlockTarget } from './target.ts'

export interface AttemptRequestOptions {
  /** Opens secrets; undefined: there is no master key. */
  vault: Pick<Sealing, 'open'> | undefined
  /** Epoch ms, for the timestamp of a signed request. */
  clock: () => number
  /** The trace context of the attempt's own span. */
  traceparent?: string | undefined
  /** User agent of requests to native subscriptions (FANTAIL_USER_AGENT); default: SNS's. */
  userAgent?: string | undefined
}

type AttemptRequest = Pick<HttpRequest, 'url' | 'route' | 'memo' | 'body'> & { headers: string[] }

/**
 * The request, or what keeps it from being made, as the attempt's result: nothing goes out unsigned. The envelope's own
 * signature has been prepared (EnvelopeSigning).
 */
export function renderRequest(
  envelope: Envelope,
  target: Target,
  { vault, clock, traceparent, userAgent }: AttemptRequestOptions,
): AttemptRequest | AttemptResult {
  if (target.locked !== undefined) {
    const problem = unlockTarget(target, vault)
    if (problem !== undefined) return secretsFailure(problem)
  }
  const { url, memo, route, webhook } = target
  const headers = renderHeaders(envelope, target, { traceparent, userAgent })
  const body = renderBody(envelope, target)
  if (webhook !== undefined) {
    try {
      const { messageId } = envelope.message
      headers.push(...webhook.headers({ messageId, now: clock(), body }, vault))
    } catch (error) {
      return secretsFailure(`it cannot be signed: ${reasonOf(error)}`)
    }
  }
  return { url, route, memo, headers, body }
}

/** Outcome of an attempt whose secrets cannot be opened now. It is retried, since the master key may still arrive. */
export function secretsFailure(detail: string): AttemptResult {
  return { kind: 'failure', error: 'secrets', detail, durationMs: 0, permanent: false }
}

/** Outcome of an attempt whose envelope could not be signed. The endpoint is not to blame. */
export function unsignedFailure(error: unknown): AttemptResult {
  const detail = `could not be signed: ${error instanceof Error ? error.message : String(error)}`
  return { kind: 'failure', error: 'storage', detail, durationMs: 0, permanent: false }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
