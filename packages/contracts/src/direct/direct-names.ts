/**
 * Direct messages: those that were published to one phone number or platform endpoint. They go through topics that only
 * Fantail sees. Each platform application has DIRECT_LANES such topics, and so do the phone numbers of each account.
 * Each has one subscription, whose lane holds the messages for many targets.
 *
 * No request can name such a topic, because names of topics have no colon and no slash.
 */
import type { ArnDefaults } from '../arn.ts'
import type { Message, SubscriptionRecord } from '../records.ts'

/** @limit Lanes for direct messages of one platform application or account. Past it: targets share lanes. */
export const DIRECT_LANES = 8
const NUMBERS = 'direct/sms'
const DIRECT = /^(arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}):direct-\d:((?:direct|app)\/.+)$/

/** The owner of the topics for an account's phone numbers. It has the form of a platform application's ARN. */
export function numbersArn({ partition, region, account }: ArnDefaults): string {
  return `arn:${partition}:sns:${region}:${account}:${NUMBERS}`
}

/** `owner`: the ARN of a platform application, or a `numbersArn`. */
export function directTopicArn(owner: string, lane: number): string {
  const name = owner.lastIndexOf(':')
  return `${owner.slice(0, name)}:direct-${lane}${owner.slice(name)}`
}

/** The owner of a topic for direct messages. Undefined if the topic is an ordinary one. */
export function directOwnerOf(topicArn: string): string | undefined {
  const [, place, name] = DIRECT.exec(topicArn) ?? []
  return place && name && `${place}:${name}`
}

/** Whether the owner of direct messages is the phone numbers of an account. */
export function areNumbers(owner: string): boolean {
  return owner.endsWith(`:${NUMBERS}`)
}

/** Where the message goes: the target of a direct message, otherwise the subscription's endpoint. */
export function endpointOf(record: Pick<SubscriptionRecord, 'endpoint'>, { target }: Message): string {
  return target ?? record.endpoint
}
