/** Makes, changes and deletes endpoints of platform applications, for both APIs. */
import {
  APNS_TOKEN_CHARS_MAX,
  isObject,
  objectOf,
  PLATFORM_TOKEN_BYTES_MAX,
  PLATFORM_USER_DATA_BYTES_MAX,
  type Platform,
  type PlatformApplicationRecord,
  type PlatformEndpointRecord,
  parsePlatformEndpointArn,
} from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { refusedHost, unreachable } from '../subscriptions/outbound.ts'
import type { EndpointEvents } from './endpoint-events.ts'
import { AttributeError } from './platform-credentials.ts'

interface Tools {
  deps: Pick<ApiDeps, 'platformApplications' | 'platformEndpoints' | 'addressGuard' | 'log' | 'clock'>
  events: EndpointEvents
}

/** Where a request came from. */
interface Request {
  requestId: string
  /** Base of the links in envelopes. */
  publicUrl: string
}

/** Settings of an endpoint. A setting is absent if the request does not have it. */
export interface EndpointSettings {
  token?: string | undefined
  userData?: string | undefined
  enabled?: boolean | undefined
}

interface NewEndpoint extends Request {
  application: PlatformApplicationRecord
  given: EndpointSettings
}

interface Change extends Request {
  arn: string
  given: EndpointSettings
}

interface Made {
  endpoint: PlatformEndpointRecord
  created: boolean
  /** The endpoint existed, with the given settings. */
  isSame: boolean
}

/** Throws an AttributeError if a member is wrong. An existing endpoint of the token stays unchanged. */
export async function createEndpoint(
  { deps, events }: Tools,
  { application, given, requestId, publicUrl }: NewEndpoint,
): Promise<Made> {
  const { token = '', userData, enabled } = checked(deps, application, { token: '', ...given })
  const wanted = { token, enabled: enabled ?? true, ...(userData !== undefined && { userData }) }
  const { endpoint, created } = await deps.platformEndpoints.create(application.arn, {
    ...wanted,
    createdAt: deps.clock(),
  })
  if (!created) {
    const isEnabled = enabled ?? endpoint.enabled
    return { endpoint, created, isSame: endpoint.userData === userData && endpoint.enabled === isEnabled }
  }
  const { arn: endpointArn } = endpoint
  deps.log.info({ requestId, endpointArn }, 'push.endpoint_created')
  await events.announce({ type: 'EndpointCreated', application, endpointArn, requestId, publicUrl })
  return { endpoint, created, isSame: true }
}

/** Throws an AttributeError, `not_found`, or a TokenTakenError. */
export async function changeEndpoint(
  { deps, events }: Tools,
  { arn, given, requestId, publicUrl }: Change,
): Promise<PlatformEndpointRecord> {
  const application = await applicationOf(deps, arn)
  const set = application ? checked(deps, application, given) : given
  // This change has an event of its own, so an older one is no longer owed.
  const endpoint = await deps.platformEndpoints.update(arn, ({ isEventOwed: _, ...current }) => ({
    ...current,
    token: set.token ?? current.token,
    enabled: set.enabled ?? current.enabled,
    ...(set.userData !== undefined && { userData: set.userData }),
  }))
  const about = { requestId, endpointArn: arn }
  deps.log.info({ ...about, members: Object.keys(given) }, 'push.endpoint_changed')
  if (application) await events.announce({ type: 'EndpointUpdated', application, publicUrl, ...about })
  return endpoint
}

/** Returns whether there was one. */
export async function deleteEndpoint(
  { deps, events }: Tools,
  { arn, requestId, publicUrl }: Omit<Change, 'given'>,
): Promise<boolean> {
  const application = await applicationOf(deps, arn)
  if (!(await deps.platformEndpoints.delete(arn))) return false
  const about = { requestId, endpointArn: arn }
  deps.log.info(about, 'push.endpoint_deleted')
  if (application) await events.announce({ type: 'EndpointDeleted', application, publicUrl, ...about })
  return true
}

function applicationOf(
  { platformApplications }: Pick<ApiDeps, 'platformApplications'>,
  arn: string,
): Promise<PlatformApplicationRecord | null> {
  return platformApplications.get(parsePlatformEndpointArn(arn)?.application ?? '')
}

function checked(
  { addressGuard }: Pick<ApiDeps, 'addressGuard'>,
  { platform }: PlatformApplicationRecord,
  { token: text, userData, enabled }: EndpointSettings,
): EndpointSettings {
  if (userData !== undefined && Buffer.byteLength(userData) > PLATFORM_USER_DATA_BYTES_MAX) {
    const message = `must be at most ${PLATFORM_USER_DATA_BYTES_MAX} bytes long in UTF-8 encoding`
    throw new AttributeError('value', 'CustomUserData', message)
  }
  if (text === undefined) return { userData, enabled }
  const read = readToken(platform, text, addressGuard)
  if ('message' in read) throw new AttributeError('value', 'Token', read.message)
  return { token: read.token, userData, enabled }
}

/** The token, or what is wrong with it. */
type ReadToken = { token: string } | { message: string }

const HEXADECIMAL = /^[0-9a-f]+$/

/**
 * Tokens of platform endpoints, in the form in which they are stored. Two spellings of one token must belong to one
 * endpoint. So Apple's tokens are stored in lower case, and browsers' tokens with their members in a fixed order.
 */
function readToken(platform: Platform, text: string, guard: ApiDeps['addressGuard']): ReadToken {
  if (text === '') return { message: 'cannot be empty' }
  if (Buffer.byteLength(text) > PLATFORM_TOKEN_BYTES_MAX) {
    return { message: `must be at most ${PLATFORM_TOKEN_BYTES_MAX} bytes long in UTF-8 encoding` }
  }
  if (platform === 'WEBPUSH') return readBrowser(text, guard)
  return platform === 'GCM' ? { token: text } : readAppleToken(text)
}

function readAppleToken(text: string): ReadToken {
  const token = text.toLowerCase()
  if (token.length <= APNS_TOKEN_CHARS_MAX && HEXADECIMAL.test(token)) return { token }
  return { message: `iOS device tokens must be no more than ${APNS_TOKEN_CHARS_MAX} hexadecimal characters` }
}

function readBrowser(text: string, guard: ApiDeps['addressGuard']): ReadToken {
  const { endpoint, keys } = objectOf(text) ?? {}
  const { p256dh, auth } = isObject(keys) ? keys : {}
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null
  if (url?.username !== '' || url.password !== '' || bytes(p256dh) !== 65 || bytes(auth) !== 16) {
    return { message: "must be the JSON of a browser's PushSubscription: endpoint, keys.p256dh, keys.auth" }
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { message: 'must have an https endpoint' }
  const refused = refusedHost(guard, url.href)
  if (refused) return { message: unreachable(refused) }
  return { token: JSON.stringify({ endpoint: url.href, keys: { p256dh, auth } }) }
}

function bytes(text: unknown): number {
  if (typeof text !== 'string' || !/^[A-Za-z0-9_+/-]+={0,2}$/.test(text)) return 0
  return Buffer.from(text, 'base64url').length
}
