/**
 * Calls AWS's services, and other services with the same API, by their JSON protocols. All steps of a call share the
 * deadline of its attempt.
 */
import { type AttemptResult, objectOf } from '@fantail/contracts'
import { withoutTokens } from '@fantail/policy'
import { untilAborted } from '../bounds/attempt-deadline.ts'
import { failure } from '../http/attempt-failure.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { TRUSTED_ROUTE } from '../outbound/outbound-route.ts'
import { errorNameOf, isCredentialError, NAME_HEADERS } from './aws-credentials.ts'
import type { AwsSigner } from './aws-signer.ts'

export interface AwsCaller {
  sender: Pick<HttpSender, 'send'>
  /** Epoch ms. A signature contains this time. */
  clock: () => number
}

export interface AwsPlace {
  /** The URL of the service's API. */
  url: string
  region: string
  /** The operator has set the URL, so its host may be private. */
  isMapped: boolean
  /** Undefined: requests are not signed, because the operator's URL has no credentials. */
  signer: Pick<AwsSigner, 'sign'> | undefined
  /** Name of the credentials for this place, without a secret. */
  credential: string
}

interface AwsCall {
  service: string
  /** Version of the JSON protocol. */
  version: '1.0' | '1.1'
  /** Name of the operation with its service, as in the header `x-amz-target`. */
  target: string
  body: string
  /** Answer that is read. */
  answerBytesMax: number
  /** Aborted at the attempt's deadline. */
  signal: AbortSignal
}

export type AwsResponse = Extract<AttemptResult, { kind: 'response' }>

/**
 * - ended: the service has not answered, or it refuses the operator's credentials. `isOfProxy`: a proxy has answered
 * - name: the service has refused the call. Undefined if it gave no name. `said` has its name and its message
 * - otherwise the operation's result
 */
export type AwsAnswer =
  | { ended: AttemptResult; response?: AwsResponse; isOfProxy?: true }
  | { response: AwsResponse; name: string | undefined; message: unknown; said: string }
  | { response: AwsResponse; value: Record<string, unknown> | undefined }

/** Never rejects. */
export async function callAws(caller: AwsCaller, place: AwsPlace, call: AwsCall): Promise<AwsAnswer> {
  const { credential } = place
  const signed = await signedBy(credential, untilAborted(call.signal, signedHeaders(caller, place, call)))
  if ('ended' in signed) return signed
  const { headers } = signed
  const { url, isMapped } = place
  const { body, answerBytesMax: responseBytesMax, signal } = call
  const route = isMapped ? TRUSTED_ROUTE : undefined
  const request = { url, route, headers, body, signal, responseHeaders: NAME_HEADERS, responseBytesMax }
  const result = await new Promise<AttemptResult>((resolve) => caller.sender.send(request, resolve))
  return result.kind === 'response' ? read(result, credential) : { ended: result }
}

/**
 * The headers of a signed request, or the result of an attempt that cannot sign. Credentials that do not come in time
 * (`within`) may come at the next attempt, so they do not count as broken. Never rejects.
 */
export async function signedBy(
  credential: string,
  signing: Promise<Record<string, string>>,
): Promise<{ headers: Record<string, string> } | { ended: AttemptResult }> {
  const startedAt = performance.now()
  try {
    return { headers: await signing }
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: '', message: 'unknown' }
    const durationMs = performance.now() - startedAt
    if (name === 'TimeoutError')
      return { ended: failure('timeout', `no credentials: ${message}`, durationMs) }
    if (name === 'AbortError')
      return { ended: failure('timeout', 'no credentials before it was called off', durationMs) }
    const detail = `the request cannot be signed: ${message}`
    return { ended: { kind: 'misconfigured', credential, detail, durationMs } }
  }
}

async function signedHeaders({ clock }: AwsCaller, { signer, region, url }: AwsPlace, call: AwsCall) {
  const { service, version, target, body } = call
  const headers = {
    'content-type': `application/x-amz-json-${version}`,
    'user-agent': 'Fantail',
    'x-amz-target': target,
  }
  return signer ? signer.sign({ service, region, url, headers, body, now: clock() }) : headers
}

function read(response: AwsResponse, credential: string): AwsAnswer {
  const { statusCode, body, headers = {}, durationMs } = response
  const value = body === undefined ? undefined : objectOf(body.toString())
  if (statusCode >= 200 && statusCode < 300) return { response, value }
  const name = errorNameOf(headers, value)
  const message = value?.message ?? value?.Message
  const words = typeof message === 'string' ? [name ?? statusCode, message] : [name ?? statusCode]
  const said = withoutTokens(words.join(': '))
  if (isCredentialError(statusCode, name))
    return { response, ended: { kind: 'misconfigured', credential, detail: said, durationMs } }
  const ended = proxyRefusal(response, name)
  return ended ? { response, ended, isOfProxy: true } : { response, name, message, said }
}

const AWS_TOO_MANY = 429

/**
 * The result if a proxy or a load balancer refused the call, which may succeed later. AWS names each of its errors and
 * does not redirect, so it has not written a 3xx or 4xx without a name. Undefined: AWS may have answered.
 */
export function proxyRefusal(response: AwsResponse, name: string | undefined): AttemptResult | undefined {
  const { statusCode, durationMs, retryAfterSeconds } = response
  const isRefusal = statusCode >= 300 && statusCode < 500 && statusCode !== AWS_TOO_MANY
  if (name !== undefined || !isRefusal) return undefined
  const detail = `HTTP ${statusCode} without the name of an AWS error`
  const refused = failure('invalid_response', detail, durationMs)
  return retryAfterSeconds === undefined ? refused : { ...refused, retryAfterSeconds }
}
