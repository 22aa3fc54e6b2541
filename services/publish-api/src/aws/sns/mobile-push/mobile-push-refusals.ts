/** Refusals of mobile push with SNS's texts (checklist 390), and checks of its ARNs. */
import { AwsError } from '@fantail/aws-wire'
import {
  FantailError,
  isPlatform,
  type Platform,
  parsePlatformApplicationArn,
  parsePlatformEndpointArn,
} from '@fantail/contracts'
import { AttributeError } from '../../../mobile-push/platform-credentials.ts'
import { elementsChecked, invalidParameter } from '../wire/sns-parameters.ts'

type Attributes = Record<string, string>

export function noSuchApplication(): AwsError {
  return new AwsError('NotFound', 'PlatformApplication does not exist', { status: 404 })
}

export function noSuchEndpoint(): AwsError {
  return new AwsError('NotFound', 'Endpoint does not exist', { status: 404 })
}

/** The attributes of a request. SNS refuses a request without any before it looks whether the named thing exists. */
export function givenAttributes(value: unknown): Attributes {
  const given = { ...(value as Attributes | undefined) }
  if (Object.keys(given).length > 0) return given
  const text = "Value null at 'attributes' failed to satisfy constraint: Member must not be null"
  throw new AwsError('ValidationError', `1 validation error detected: ${text}`)
}

export function checkApplicationArn(value: unknown): { arn: string; platform: Platform } {
  const { arn, platform } = checkApplicationForm(value)
  if (!isPlatform(platform)) throw noSuchApplication()
  return { arn, platform }
}

/** Checks the form of an application's ARN alone. */
export function checkApplicationForm(value: unknown): { arn: string; platform: string } {
  const arn = elementsChecked(value, 'PlatformApplicationArn')
  const parsed = parsePlatformApplicationArn(arn)
  if (parsed) return { arn, platform: parsed.platform }
  throw invalidParameter(
    'PlatformApplicationArn Reason: Wrong number of slashes in relative portion of the ARN.',
  )
}

/** The ARN of an endpoint that may exist. */
export function checkEndpointArn(value: unknown): string {
  const arn = checkEndpointForm(value)
  if (!parsePlatformEndpointArn(arn)) throw noSuchEndpoint()
  return arn
}

/** Checks the form of an endpoint's ARN alone. */
export function checkEndpointForm(value: unknown): string {
  const arn = elementsChecked(value, 'EndpointArn')
  const relative = arn.slice(arn.split(':', 5).join(':').length)
  if (relative.split('/', 5).length !== 4) {
    throw invalidParameter('EndpointArn Reason: Wrong number of slashes in relative portion of the ARN.')
  }
  return arn
}

/** Runs `work`, and gives its errors the texts of SNS. */
export async function inSnsWords<T>(missing: () => AwsError, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AttributeError) throw refusalOf(error)
    if (error instanceof FantailError && error.code === 'not_found') throw missing()
    throw error
  }
}

function refusalOf({ kind, attribute, message }: AttributeError): AwsError {
  if (kind === 'name') return invalidParameter(`Attributes Reason: Invalid attribute name: ${attribute}`)
  if (kind === 'credential') return invalidParameter('Attributes Reason: Platform credentials are invalid')
  if (attribute === 'Token') return invalidParameter(`Token Reason: ${message}`)
  return invalidParameter(`Attributes Reason: Invalid value for attribute: ${attribute}: ${message}`)
}
