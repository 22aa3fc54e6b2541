/** Checks of parameters that many operations of SNS take, and refusals with texts of SNS (checklist 191). */
import { type AwsCall, AwsError } from '@fantail/aws-wire'
import { FantailError, LIST_LIMIT_MAX, parseArn, parseBounded } from '@fantail/contracts'
import type { Page } from '@fantail/store'

/** Elements of an ARN. Below it: the request is refused. */
const ARN_ELEMENTS_MIN = 6

type Region = Pick<AwsCall, 'region' | 'signed'>

/**
 * Checks the ARNs that SNS's operations take (checklist 62, 110, 145, 213), before anything is looked up. Order and
 * texts of the checks are recorded from AWS. Checks a topic's ARN and returns it. `parameter`: its name in the request,
 * for the refusal.
 */
export function checkTopicArn(value: unknown, call: Region, parameter = 'TopicArn'): string {
  const arn = elementsChecked(value, parameter)
  const parsed = parseArn(arn)
  if (parsed?.service !== 'sns' || parsed.subscriptionId !== undefined) throw invalidParameter(parameter)
  if (isElsewhere(parsed.region, call)) throw invalidParameter(parameter)
  return arn
}

const PLATFORM_ENDPOINT = /^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:endpoint\//

/** Whether a TargetArn names a platform endpoint and no topic. */
export function isOfEndpoint(arn: string): boolean {
  return PLATFORM_ENDPOINT.test(arn)
}

interface SubscriptionName {
  arn: string
  /** The subscription id in the ARN. The subscription may not exist. */
  id: string
  /** The account in the ARN, which is the topic's. */
  account: string
}

/** Checks a subscription's ARN. A topic's ARN is refused with the name of the missing part. */
export function checkSubscriptionArn(value: unknown, call: Region): SubscriptionName {
  const parameter = 'SubscriptionArn'
  const arn = elementsChecked(value, parameter)
  const elements = arn.split(':', ARN_ELEMENTS_MIN + 1)
  if (elements.length === ARN_ELEMENTS_MIN) throw invalidParameter('SubscriptionId')
  const parsed = parseArn(arn)
  if (parsed?.service !== 'sns' || parsed.subscriptionId === undefined) throw invalidParameter(parameter)
  if (isElsewhere(parsed.region, call)) throw invalidParameter(parameter)
  return { arn, id: parsed.subscriptionId, account: parsed.account }
}

/** Returns the text if it has enough parts for an ARN. */
export function elementsChecked(value: unknown, parameter: string): string {
  if (typeof value !== 'string') throw missingParameter(parameter)
  const count = value.split(':', ARN_ELEMENTS_MIN).length
  if (count >= ARN_ELEMENTS_MIN) return value
  throw invalidParameter(`${parameter} Reason: An ARN must have at least 6 elements, not ${count}`)
}

/** Whether the ARN is of another region than the call. Only a signed call has a region; links in messages have none. */
function isElsewhere(region: string, call: Region): boolean {
  return call.signed && region !== call.region
}

/** Makes a refusal from a text that names the attribute. */
export type Refuse = (text: string) => AwsError

/** Refusals with SNS's texts (checklist 191). `text` follows `Invalid parameter: `. */
export function invalidParameter(text: string): AwsError {
  return new AwsError('InvalidParameter', `Invalid parameter: ${text}`)
}

export function missingParameter(name: string): AwsError {
  return invalidParameter(`${name} Reason: no value for required parameter`)
}

export function noSuchTopic(): AwsError {
  return new AwsError('NotFound', 'Topic does not exist', { status: 404 })
}

export function noSuchSubscription(): AwsError {
  return new AwsError('NotFound', 'Subscription does not exist', { status: 404 })
}

/** `action` as in `SNS:Unsubscribe`. */
export function notAuthorized(principal: string, action: string, resource: string): AwsError {
  const message = `User: ${principal} is not authorized to perform: ${action} on resource: ${resource}`
  return new AwsError('AuthorizationError', message, { status: 403 })
}

/** A page of a list. A token that the list did not give is refused. */
export async function listPage<T>(
  token: unknown,
  read: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
): Promise<{ items: T[]; NextToken: string | undefined }> {
  const cursor = token === undefined ? {} : { cursor: String(token) }
  try {
    const { items, nextCursor } = await read({ limit: LIST_LIMIT_MAX, ...cursor })
    return { items, NextToken: nextCursor ?? undefined }
  } catch (error) {
    const isBad = error instanceof FantailError && error.code === 'validation_failed'
    throw isBad ? invalidParameter('NextToken') : error
  }
}

/** `text` is the whole text. SNS writes a few without `Invalid parameter: ` before them. */
export function unprefixed(text: string): AwsError {
  return new AwsError('InvalidParameter', text)
}

export function parseJsonAttribute(name: string, text: string, refuse: Refuse): unknown {
  try {
    return parseBounded(text)
  } catch (error) {
    throw refuse(`${name}: failed to parse JSON. ${(error as Error).message}`)
  }
}
