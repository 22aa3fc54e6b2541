/** Platform applications in the words of REST: the names of a path, and members for the attributes of SNS. */
import {
  EVENT_ATTRIBUTES,
  FantailError,
  isPlatform,
  isPlatformApplicationName,
  PLATFORMS,
  type Platform,
  platformApplicationArn,
} from '@fantail/contracts'
import type { PlatformApplicationInput } from '@fantail/contracts/schemas/push-schemas'
import { inWords } from '@fantail/policy'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'
import { AttributeError } from './attribute-error.ts'
import { CREDENTIAL_MEMBERS } from './platform-credentials.ts'

/** The application that the path names. Throws `validation_failed`. */
export function applicationNamed(
  { params, caller }: Pick<Call, 'params' | 'caller'>,
  { settings }: Pick<ApiDeps, 'settings'>,
): { arn: string; platform: Platform } {
  const { platform = '', name = '' } = params
  if (!isPlatform(platform)) throw FantailError.invalid('platform', `must be ${inWords(PLATFORMS, 'or')}`)
  if (!isPlatformApplicationName(name)) {
    throw FantailError.invalid('name', 'must have 1 to 256 of A-Z a-z 0-9 _ - .')
  }
  const place = { ...settings.arn, account: caller?.account ?? settings.arn.account }
  return { arn: platformApplicationArn(platform, name, place), platform }
}

/** The body as attributes of SNS. */
export function attributesIn({
  enabled,
  events = {},
  ...credential
}: z.output<typeof PlatformApplicationInput>): Record<string, string> {
  const set: [string, string | null | undefined][] = [
    ...Object.entries(CREDENTIAL_MEMBERS).map(
      ([name, member]) => [name, credential[member]] as [string, string | undefined],
    ),
    ['Enabled', enabled === undefined ? undefined : String(enabled)],
    ...Object.entries(EVENT_MEMBERS).map(
      ([name, member]) => [name, events[member]] as [string, string | null | undefined],
    ),
  ]
  return Object.fromEntries(set.flatMap(([name, text]) => (text === undefined ? [] : [[name, text ?? '']])))
}

export const EVENT_MEMBERS = {
  [EVENT_ATTRIBUTES.EndpointCreated]: 'endpointCreated',
  [EVENT_ATTRIBUTES.EndpointUpdated]: 'endpointUpdated',
  [EVENT_ATTRIBUTES.EndpointDeleted]: 'endpointDeleted',
  [EVENT_ATTRIBUTES.DeliveryFailure]: 'deliveryFailure',
} as const

/** Members of the bodies, by the attributes of SNS. */
const MEMBERS: Record<string, string> = {
  ...CREDENTIAL_MEMBERS,
  ...Object.fromEntries(Object.entries(EVENT_MEMBERS).map(([name, member]) => [name, `events.${member}`])),
  Enabled: 'enabled',
  Token: 'token',
  CustomUserData: 'userData',
}

/** Runs `work`. A refused attribute becomes `validation_failed` of the body's member. */
export async function inMembers<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AttributeError)) throw error
    throw FantailError.invalid(MEMBERS[error.attribute] ?? error.attribute, error.message)
  }
}
