/** Amazon resource names of topics, subscriptions and queues: makes, parses, and completes them from plain names. */
import { FantailError } from './fantail-error.ts'
import type { Message, SubscriptionRecord } from './records.ts'

/** The account and region that a name without an ARN belongs to. */
export interface ArnDefaults {
  partition: string
  region: string
  account: string
}

export const ARN_DEFAULTS: ArnDefaults = { partition: 'aws', region: 'us-east-1', account: '000000000000' }

type ArnService = 'sns' | 'sqs'

interface ParsedArn extends ArnDefaults {
  service: ArnService
  /** Topic or queue name. */
  name: string
  /** Set only if the ARN is a subscription's. */
  subscriptionId: string | undefined
}

const ARN = /^arn:([a-z-]+):(sns|sqs):([a-z0-9-]+):(\d{12}):([A-Za-z0-9_.-]+)(?::([A-Za-z0-9-]+))?$/
const TOPIC_NAME = /^[A-Za-z0-9_-]{1,256}$/
const FIFO_TOPIC_NAME = /^[A-Za-z0-9_-]{1,251}\.fifo$/
const QUEUE_NAME = /^[A-Za-z0-9_-]{1,80}$/
const FIFO_QUEUE_NAME = /^[A-Za-z0-9_-]{1,75}\.fifo$/

export function isTopicName(name: string): boolean {
  return TOPIC_NAME.test(name) || FIFO_TOPIC_NAME.test(name)
}

export function isQueueName(name: string): boolean {
  return QUEUE_NAME.test(name) || FIFO_QUEUE_NAME.test(name)
}

/** The name in a valid ARN of a topic or queue. It only cuts the text; `parseArn` also checks it. */
export function nameOfArn(arn: string): string {
  return arn.slice(arn.lastIndexOf(':') + 1)
}

/** The topic's ARN within a subscription's ARN. Any other ARN is returned unchanged. */
export function withoutSubscription(arn: string): string {
  const id = parseArn(arn)?.subscriptionId
  return id === undefined ? arn : arn.slice(0, -id.length - 1)
}

/**
 * Whether the name or ARN is that of a FIFO topic or queue. Topics for direct messages have a slash in the name and are
 * not FIFO.
 */
export function isFifoName(nameOrArn: string): boolean {
  return nameOrArn.endsWith('.fifo') && !nameOrArn.includes('/')
}

/** A parsed ARN of an SNS topic, an SNS subscription or an SQS queue. Undefined if the text is none of these. */
export function parseArn(text: string): ParsedArn | undefined {
  const match = ARN.exec(text)
  if (!match) return undefined
  const [, partition, service, region, account, name, subscriptionId] = match
  if (!partition || !service || !region || !account || !name) return undefined
  const valid = service === 'sns' ? isTopicName(name) : isQueueName(name) && subscriptionId === undefined
  if (!valid) return undefined
  return { partition, service: service as ArnService, region, account, name, subscriptionId }
}

export function topicArn(name: string, defaults: ArnDefaults = ARN_DEFAULTS): string {
  return `arn:${defaults.partition}:sns:${defaults.region}:${defaults.account}:${name}`
}

export function queueArn(name: string, defaults: ArnDefaults = ARN_DEFAULTS): string {
  return `arn:${defaults.partition}:sqs:${defaults.region}:${defaults.account}:${name}`
}

export function subscriptionArn(topic: string, subscriptionId: string): string {
  return `${topic}:${subscriptionId}`
}

/** The topic ARN for a topic's name or full ARN. Throws `validation_failed` at `path` if the text is neither. */
export function resolveTopic(nameOrArn: string, defaults: ArnDefaults, path = 'topic'): string {
  const arn = parseArn(nameOrArn)
  if (arn?.service === 'sns' && arn.subscriptionId === undefined) return nameOrArn
  if (isTopicName(nameOrArn)) return topicArn(nameOrArn, defaults)
  throw FantailError.invalid(path, 'must be a topic name (1 to 256 of A-Z a-z 0-9 _ -) or a topic ARN')
}

/** The queue ARN for a queue's name or full ARN. Throws `validation_failed` at `path` if the text is neither. */
export function resolveQueue(nameOrArn: string, defaults: ArnDefaults, path = 'queue'): string {
  const arn = parseArn(nameOrArn)
  if (arn?.service === 'sqs') return nameOrArn
  if (isQueueName(nameOrArn)) return queueArn(nameOrArn, defaults)
  throw FantailError.invalid(path, 'must be a queue name (1 to 80 of A-Z a-z 0-9 _ -) or a queue ARN')
}

const SUBSCRIPTION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The subscription id for an id or a subscription ARN. Throws `not_found` if the text can be neither. */
export function resolveSubscription(idOrArn: string): string {
  const id = parseArn(idOrArn)?.subscriptionId ?? idOrArn
  if (SUBSCRIPTION_ID.test(id)) return id
  throw new FantailError('not_found', 'no such subscription')
}

/**
 * Direct messages: those that were published to one phone number or platform endpoint. They go through topics that only
 * Fantail sees. Each platform application has DIRECT_LANES such topics, and so do the phone numbers of each account.
 * Each has one subscription, whose lane holds the messages for many targets.
 * No request can name such a topic, because names of topics have no colon and no slash.
 * @limit Lanes for direct messages of one platform application or account. Past it: targets share lanes.
 */
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
