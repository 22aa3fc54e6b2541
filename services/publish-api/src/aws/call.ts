/** Who calls, from where, as operations are told. */
import type { Authorization, AwsCall } from '@fantail/aws-wire'
import type { ApiDeps } from '../deps.ts'
import type { Call } from '../http/endpoint.ts'
import { publicUrlFor } from '../http/public-url.ts'

const ACCOUNT = /^\d{12}$/
const REGION = /^[a-z0-9-]{1,32}$/

export interface Caller {
  authorization: Authorization | undefined
  /** That the access key's secret is configured for. */
  account?: string | undefined
  protocol: AwsCall['protocol']
  path: string
}

/** An access key of twelve digits is the account; a region that no ARN could hold is as good as none. */
export function awsCallOf({ settings }: ApiDeps, { request, requestId }: Call, caller: Caller): AwsCall {
  const { authorization, protocol, path } = caller
  const { accessKeyId = '', region = '' } = authorization?.scope ?? {}
  const traceHeader = request.header('x-amzn-trace-id')
  return {
    requestId,
    origin: publicUrlFor(settings, request),
    account: caller.account ?? (ACCOUNT.test(accessKeyId) ? accessKeyId : settings.arn.account),
    region: REGION.test(region) ? region : settings.arn.region,
    signed: authorization !== undefined,
    ...(accessKeyId !== '' && { accessKeyId }),
    ...(traceHeader !== undefined && { traceHeader }),
    protocol,
    path,
    // Only a wait asks for it, and making one costs.
    get signal() {
      return request.signal
    },
  }
}
