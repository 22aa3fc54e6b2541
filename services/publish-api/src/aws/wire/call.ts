/** The caller and its origin, in the form for operations. */

import { type Caller, principalOf } from '@fantail/access'
import type { Authorization, AwsCall } from '@fantail/aws-wire'
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
