/** A request in the form for operations: the caller, its origin, and the token of a list. */
import { type Caller, principalOf } from '@fantail/access'
import type { Authorization, AwsCall, AwsInput } from '@fantail/aws-wire'
import type { ApiDeps } from '../../deps/api-deps.ts'
import type { Call } from '../../http/endpoint.ts'
import { publicUrlFor } from '../../http/origin.ts'

const ACCOUNT = /^\d{12}$/
const REGION = /^[a-z0-9-]{1,32}$/

interface Called {
  authorization: Authorization | undefined
  protocol: AwsCall['protocol']
  path: string
}

/**
 * The account is the key's. Without a key, an access key id of twelve digits is the account. A region that no ARN can
 * contain is ignored.
 */
export function awsCallOf(
  { settings }: ApiDeps,
  { request, requestId }: Call,
  { authorization, protocol, path }: Called,
  caller: Caller,
): AwsCall {
  const { accessKeyId = '', region = '' } = authorization?.scope ?? {}
  const traceHeader = request.header('x-amzn-trace-id')
  const call: Omit<AwsCall, 'signal'> = {
    requestId,
    origin: publicUrlFor(settings, { request, caller }),
    account: caller?.account ?? (ACCOUNT.test(accessKeyId) ? accessKeyId : settings.arn.account),
    region: REGION.test(region) ? region : settings.arn.region,
    signed: authorization !== undefined,
    protocol,
    path,
  }
  if (accessKeyId !== '') call.accessKeyId = accessKeyId
  if (caller !== null) call.principal = principalOf(caller)
  if (traceHeader !== undefined) call.traceHeader = traceHeader
  return Object.assign(new SignalOf(request), call)
}

/** Creates the signal only when it is used, because only waiting calls need one. */
class SignalOf {
  readonly #request: Call['request']

  constructor(request: Call['request']) {
    this.#request = request
  }

  get signal(): AwsCall['signal'] {
    return this.#request.signal
  }
}

/** @limit Token of a list over the AWS protocols. Past it: the request is refused. */
const NEXT_TOKEN_CHARS_MAX = 8_192

type Result = Record<string, unknown> | undefined

/**
 * NextToken of lists: the store's cursor (a sealed one for restricted keys) in padded Base64, as AWS does. It is
 * converted here for all operations: before their input is checked, and after their result is filtered. Replaces the
 * token by the cursor that it contains. Any other text stays, so that the operation refuses it.
 */
export function openNextToken(input: AwsInput): void {
  const { NextToken: token } = input
  if (typeof token !== 'string' || token.length > NEXT_TOKEN_CHARS_MAX) return
  const cursor = Buffer.from(token, 'base64')
  if (token !== '' && cursor.toString('base64') === token) input.NextToken = cursor.toString()
}

/** Replaces the result's cursor by a token. */
export function withNextToken(result: Result): Result {
  if (typeof result?.NextToken !== 'string') return result
  return { ...result, NextToken: Buffer.from(result.NextToken).toString('base64') }
}
