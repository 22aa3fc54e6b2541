/** Makes, changes and deletes endpoints of platform applications, for both APIs. */
import {
  PLATFORM_USER_DATA_BYTES_MAX,
  type PlatformApplicationRecord,
  type PlatformEndpointRecord,
  parsePlatformEndpointArn,
} from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { AttributeError } from './attribute-error.ts'
import type { EndpointEvents } from './endpoint-events.ts'
import { readToken } from './push-token.ts'

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
  deps.log.info({ requestId, endpointArn }, 'push.endpointCreated')
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
  deps.log.info({ ...about, members: Object.keys(given) }, 'push.endpointChanged')
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
  deps.log.info(about, 'push.endpointDeleted')
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
