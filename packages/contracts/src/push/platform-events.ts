/** Events of platform endpoints, published to the topics that their application names. */
import type { PlatformApplicationRecord } from './platforms.ts'

/** The application's attributes that name the topics. */
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
