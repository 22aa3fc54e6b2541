/**
 * The ARNs that SNS's operations take (checklist 62, 110, 145, 213): each check in the order and the words recorded
 * from AWS, before anything is looked up.
 */
import type { AwsCall } from '@fantail/aws-wire'
import { parseArn } from '@fantail/contracts'
import { invalidParameter, missingParameter } from './refusals.ts'

/** @limit Elements of an ARN. Below it: the request is refused. */
const ARN_ELEMENTS_MIN = 6

type Region = Pick<AwsCall, 'region' | 'signed'>

/** A topic's ARN as given; `parameter` is its name in the request, for the refusal. */
export function checkTopicArn(value: unknown, call: Region, parameter = 'TopicArn'): string {
  const arn = elementsChecked(value, parameter)
  const parsed = parseArn(arn)
  if (parsed?.service !== 'sns' || parsed.subscriptionId !== undefined) throw invalidParameter(parameter)
  if (isElsewhere(parsed.region, call)) throw invalidParameter(parameter)
  return arn
}

interface SubscriptionName {
  arn: string
  /** The ARN's subscription id, whether or not the subscription exists. */
  id: string
  /** Its topic's account, from the ARN. */
  account: string
}

/** A subscription's ARN; a topic's is refused by the name of what it lacks. */
export function checkSubscriptionArn(value: unknown, call: Region): SubscriptionName {
  const parameter = 'SubscriptionArn'
  const arn = elementsChecked(value, parameter)
  const elements = arn.split(':')
  if (elements.length === ARN_ELEMENTS_MIN) throw invalidParameter('SubscriptionId')
  const parsed = parseArn(arn)
  if (parsed?.service !== 'sns' || parsed.subscriptionId === undefined) throw invalidParameter(parameter)
  if (isElsewhere(parsed.region, call)) throw invalidParameter(parameter)
  return { arn, id: parsed.subscriptionId, account: parsed.account }
}

/** The given text, once it has enough elements for an ARN. */
function elementsChecked(value: unknown, parameter: string): string {
  if (typeof value !== 'string') throw missingParameter(parameter)
  const count = value.split(':').length
  if (count >= ARN_ELEMENTS_MIN) return value
  throw invalidParameter(`${parameter} Reason: An ARN must have at least 6 elements, not ${count}`)
}

/** Only a signature says which region a caller means; the links in messages carry none. */
function isElsewhere(region: string, call: Region): boolean {
  return call.signed && region !== call.region
}
