/**
 * Authenticates callers of the AWS protocols. If keys are required, the caller must sign with the secret of a known
 * access key.
 */
import { type Caller, type KnownKey, keyOf } from '@fantail/access'
import { AwsError, parseParameters, verifySignature } from '@fantail/aws-wire'
import type { AwsCredential } from '@fantail/config'
import { KEY_ID, KEY_SCOPES } from '@fantail/contracts'
import { passingTime } from '@fantail/store'
import { createForeignPages, type ForeignPages } from '../auth/foreign-page.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import {
  AWS_REQUEST_BYTES_MAX,
  readWireRequest,
  type WireHead,
  type WireRequest,
  withoutBody,
} from './wire/wire-request.ts'

/** Operations of the links in messages. Everybody who has a link may use it. */
const UNSIGNED = new Set(['ConfirmSubscription', 'Unsubscribe'])

/**
 * Finds the caller, and rejects if the request must not be served. null: an anonymous caller. The caller's limit is
 * checked afterwards, so that audit lines name the caller.
 */
type Authenticate = (request: ApiRequest, wire: WireRequest) => Promise<Caller>

/** Accepts the access keys of the settings, and those that were created. */
export function createAuthenticate(deps: Pick<ApiDeps, 'settings' | 'clock' | 'keyCache'>): Authenticate {
  const { settings, keyCache, clock } = deps
  const { awsCredentials = [], auth, arn } = settings
  const foreign = createForeignPages(settings)
  if (!auth && awsCredentials.length === 0) return unasked(foreign)
  const configured = new Map(awsCredentials.map((one) => [one.accessKeyId, configuredKey(one, arn.account)]))
  return async (request, wire) => {
    const { authorization, service, action = '' } = wire
    if (!authorization && service === 'sns' && UNSIGNED.has(action)) {
      foreign.refuseHost(request)
      return null
    }
    const id = authorization?.scope?.accessKeyId ?? ''
    const known = configured.get(id) ?? (KEY_ID.test(id) ? await keyCache.knownKey(id) : undefined)
    await verify(request, wire, { secret: known?.secret, now: passingTime.realOf(clock()) })
    return known?.key ?? null
  }
}

/**
 * For callers without a known key. It is enough for the operations of links, in any encoding.
 * @limit Body of an AWS request without a known key. Past it: the request is refused.
 */
const STRANGERS_BYTES_MAX = 65_536

/** Reads a request. A large body of a caller without a known key is not read, because the request will be refused. */
type ReadRequest = (request: ApiRequest, head: WireHead) => Promise<WireRequest>

/** A caller without a key whose body is too large gets the error of the missing key. */
export function createReadRequest(
  { settings, keyCache }: Pick<ApiDeps, 'settings' | 'keyCache'>,
  authenticate: Authenticate,
): ReadRequest {
  const { awsCredentials = [], auth } = settings
  if (!auth && awsCredentials.length === 0) return readWireRequest
  const configured = new Set(awsCredentials.map(({ accessKeyId }) => accessKeyId))
  return async (request, head) => {
    const id = head.authorization?.scope?.accessKeyId ?? ''
    const isKnown = configured.has(id) || (KEY_ID.test(id) && (await keyCache.knownKey(id)) !== undefined)
    if (isKnown) return readWireRequest(request, head, AWS_REQUEST_BYTES_MAX)
    return readWireRequest(request, head, STRANGERS_BYTES_MAX).catch(async (error: unknown) => {
      if (error instanceof AwsError && error.code === 'RequestEntityTooLarge')
        await authenticate(request, withoutBody(head))
      throw error
    })
  }
}

/** Accepts every caller except another site's page. A link has a token, so pages of all sites may contain it. */
function unasked(foreign: ForeignPages): Authenticate {
  return async (request, { service, action = '', parameters }) => {
    const isLink = service === 'sns' && UNSIGNED.has(action) && parameters.get('Token') !== undefined
    if (isLink) foreign.refuseHost(request)
    else foreign.refuseBrowsing(request)
    return null
  }
}

const ACCOUNT = /^\d{12}$/

/**
 * A key of the settings. It may do everything in its account. If no account is set and its id has twelve digits, the id
 * is the account.
 */
function configuredKey({ accessKeyId, secret, account }: AwsCredential, fallback: string): KnownKey {
  const key = keyOf({
    id: accessKeyId,
    kind: 'aws',
    account: account ?? (ACCOUNT.test(accessKeyId) ? accessKeyId : fallback),
    scopes: [...KEY_SCOPES],
    prefixes: [],
    maxRequestsPerSecond: null,
  })
  return { key, secret }
}

interface Against {
  secret: string | undefined
  now: number
}

/** Rejects if the signature is wrong, or if there is no secret. */
async function verify(request: ApiRequest, wire: WireRequest, { secret, now }: Against): Promise<void> {
  const { authorization, service, path, search, body } = wire
  const header = (name: string) => request.header(name)
  await verifySignature({
    request: { method: request.method, path, search, header, body },
    query: parseParameters(search),
    authorization,
    service,
    secretOf: () => secret,
    now,
  })
}
