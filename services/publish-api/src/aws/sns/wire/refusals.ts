/** Refusals with SNS's texts (checklist 191). */
import { AwsError } from '@fantail/aws-wire'

/** Makes a refusal from a text that names the attribute. */
export type Refuse = (text: string) => AwsError

/** `text` follows `Invalid parameter: `. */
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

/** `text` is the whole text. SNS writes a few without `Invalid parameter: ` before them. */
export function unprefixed(text: string): AwsError {
  return new AwsError('InvalidParameter', text)
}
