/** Platforms of mobile push, and the names of their applications and endpoints. */
import type { ArnDefaults } from '../arn.ts'

/** The platforms that Fantail delivers to. WEBPUSH is an extension: SNS has no browsers. */
export const PLATFORMS = ['GCM', 'APNS', 'APNS_SANDBOX', 'WEBPUSH'] as const
export type Platform = (typeof PLATFORMS)[number]

/** Platforms of SNS that Fantail does not deliver to. */
export const UNDELIVERED_PLATFORMS = [
  'ADM',
  'APNS_MDM',
  'APNS_MDM_SANDBOX',
  'APNS_PASSBOOK',
  'APNS_PASSBOOK_SANDBOX',
  'APNS_VOIP',
  'APNS_VOIP_SANDBOX',
  'BAIDU',
  'MACOS',
  'MACOS_SANDBOX',
  'MPNS',
  'WNS',
] as const

/** A platform application: a credential that sends notifications, with its settings. */
export interface PlatformApplicationRecord {
  arn: string
  platform: Platform
  /** Sealed JSON of a PlatformCredential. */
  sealed: string
  /** Attributes of SNS without the credential: `Enabled`, topics of events, feedback. */
  attributes: Record<string, string>
  /** Epoch ms. */
  createdAt: number
}

/** A platform endpoint: an installation of the application on a device or in a browser. */
export interface PlatformEndpointRecord {
  arn: string
  token: string
  enabled: boolean
  /** Absent: never set. */
  userData?: string
  /** A worker has disabled the endpoint, but the application's event about it is not published yet. */
  isEventOwed?: true
  /** Epoch ms. */
  createdAt: number
}

/** The members of the provider's own credential. */
export interface PlatformCredential {
  /** APNs: id of the signing key. Web Push: public VAPID key, base64url. */
  principal?: string
  /** FCM: JSON of a service account. APNs: private key, PEM. Web Push: private VAPID key, base64url. */
  credential: string
  /** APNs. */
  teamId?: string
  /** APNs: the topic of notifications. */
  bundleId?: string
  /** Web Push: `mailto:` or `https:` address of the sender. */
  subject?: string
}

interface PlatformArn extends ArnDefaults {
  platform: string
  name: string
}

interface PlatformEndpointArn extends PlatformArn {
  /** The ARN of the endpoint's application. */
  application: string
  id: string
}

const PLACE = '^arn:([a-z-]{1,32}):sns:([a-z0-9-]{1,32}):(\\d{12})'
const NAME = '([A-Z_]{1,32})/([A-Za-z0-9_.-]{1,256})'
const UUID = '([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})'
const APPLICATION = new RegExp(`${PLACE}:app/${NAME}$`)
const ENDPOINT = new RegExp(`${PLACE}:endpoint/${NAME}/${UUID}$`)
const APPLICATION_NAME = /^[A-Za-z0-9_.-]{1,256}$/

export function isPlatform(name: string): name is Platform {
  return (PLATFORMS as readonly string[]).includes(name)
}

export function isPlatformApplicationName(name: string): boolean {
  return APPLICATION_NAME.test(name)
}

export function platformApplicationArn(platform: string, name: string, place: ArnDefaults): string {
  return `arn:${place.partition}:sns:${place.region}:${place.account}:app/${platform}/${name}`
}

/** `application`: the ARN of the endpoint's application. */
export function platformEndpointArn(application: string, id: string): string {
  return `${application.replace(':app/', ':endpoint/')}/${id}`
}

export function parsePlatformApplicationArn(text: string): PlatformArn | undefined {
  const [, partition, region, account, platform, name] = APPLICATION.exec(text) ?? []
  if (!partition || !region || !account || !platform || !name) return undefined
  return { partition, region, account, platform, name }
}

export function parsePlatformEndpointArn(text: string): PlatformEndpointArn | undefined {
  const [, partition, region, account, platform, name, id] = ENDPOINT.exec(text) ?? []
  if (!partition || !region || !account || !platform || !name || !id) return undefined
  const place = { partition, region, account }
  return { ...place, platform, name, id, application: platformApplicationArn(platform, name, place) }
}

/**
 * Events of platform endpoints, published to the topics that their application names. The application's attributes that
 * name the topics.
 */
export const EVENT_ATTRIBUTES = {
  EndpointCreated: 'EventEndpointCreated',
  EndpointUpdated: 'EventEndpointUpdated',
  EndpointDeleted: 'EventEndpointDeleted',
  DeliveryFailure: 'EventDeliveryFailure',
} as const

type EndpointEventType = keyof typeof EVENT_ATTRIBUTES

/** Why a notification did not reach its device, in the words of SNS. */
export type EndpointFailureType =
  | 'InvalidPlatformToken'
  | 'EndpointDisabled'
  | 'NotificationTTLExpired'
  | 'DeliveryFailedPerm'

export interface EndpointEvent {
  type: EndpointEventType
  endpointArn: string
  /** Only in a DeliveryFailure. */
  failure?: { type: EndpointFailureType; message: string; messageId: string }
}

const SUBJECTS = {
  EndpointCreated: 'Platform endpoint created',
  EndpointUpdated: 'Platform endpoint updated',
  EndpointDeleted: 'Platform endpoint deleted',
  DeliveryFailure: 'Delivery to a platform endpoint failed',
} as const

/** Undefined: the application names no topic for events of this type. */
export function eventTopicOf(
  { attributes }: PlatformApplicationRecord,
  type: EndpointEventType,
): string | undefined {
  return attributes[EVENT_ATTRIBUTES[type]]
}

/** `now`: epoch ms. */
export function endpointEventText(
  { arn }: Pick<PlatformApplicationRecord, 'arn'>,
  { type, endpointArn, failure }: EndpointEvent,
  now: number,
): { subject: string; message: string } {
  const message = JSON.stringify({
    Resource: arn,
    Service: 'SNS',
    EventType: type,
    EndpointArn: endpointArn,
    Time: new Date(now).toISOString(),
    ...(failure && {
      FailureType: failure.type,
      FailureMessage: failure.message,
      MessageId: failure.messageId,
    }),
  })
  return { subject: SUBJECTS[type], message }
}
