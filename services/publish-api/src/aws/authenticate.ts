/** Who may call: anybody, or, where access keys are configured, who signs with the secret of one. */

import { parseParameters, verifySignature } from '@fantail/aws-wire'
import type { AwsCredential } from '@fantail/config'
import type { ApiDeps } from '../deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import type { WireRequest } from './wire-request.ts'

/** What the links in messages ask for: whoever holds one may follow it. */
const UNSIGNED = new Set(['ConfirmSubscription', 'Unsubscribe'])

/** Rejects what may not be served; answers the account that the access key is configured for. */
export type Authenticate = (request: ApiRequest, wire: WireRequest) => Promise<string | undefined>

export function createAuthenticate({ settings, clock }: Pick<ApiDeps, 'settings' | 'clock'>): Authenticate {
  const credentials = settings.awsCredentials
  if (!credentials) return async () => undefined
  const byKey = new Map(credentials.map((credential) => [credential.accessKeyId, credential]))
  return (request, wire) => authenticate({ request, wire, byKey, now: clock() })
}

interface Authentication {
  request: ApiRequest
  wire: WireRequest
  byKey: Map<string, AwsCredential>
  now: number
}

async function authenticate({ request, wire, byKey, now }: Authentication): Promise<string | undefined> {
  const { authorization, service, action = '', path, search, body } = wire
  if (!authorization && service === 'sns' && UNSIGNED.has(action)) return undefined
  const header = (name: string) => request.header(name)
  await verifySignature({
    request: { method: request.method, path, search, header, body },
    query: parseParameters(search),
    authorization,
    service,
    secretOf: (accessKeyId) => byKey.get(accessKeyId)?.secret,
    now,
  })
  return byKey.get(authorization?.scope?.accessKeyId ?? '')?.account
}
