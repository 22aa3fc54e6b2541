/** Names of SQS's error shapes, with their Query codes (checklist 161). */
import type { AwsError } from './aws-error.ts'

const MODEL = 'com.amazonaws.sqs#'
const OUTSIDE = 'com.amazon.coral.service#'
const CODE_PREFIX = 'AWS.SimpleQueueService.'

/**
 * Shapes by error code, where the shape is not the code without its prefix. `AWS.SimpleQueueService.NonExistentQueue`,
 * for example, has the shape `QueueDoesNotExist`.
 */
const SHAPES = new Map([
  [`${CODE_PREFIX}NonExistentQueue`, 'QueueDoesNotExist'],
  ['QueueAlreadyExists', 'QueueNameExists'],
  ['InvalidParameterValue', 'InvalidParameterValueException'],
  ['MissingParameter', 'MissingRequiredParameterException'],
  ['AccessDenied', 'AccessDeniedException'],
  ['InvalidAction', 'UnknownOperationException'],
  ['ServiceUnavailable', 'ServiceUnavailableException'],
  ['InvalidClientTokenId', 'UnrecognizedClientException'],
  ['SignatureDoesNotMatch', 'InvalidSignatureException'],
  ['IncompleteSignature', 'IncompleteSignatureException'],
  ['MissingAuthenticationToken', 'MissingAuthenticationTokenException'],
  ['KMS.DisabledException', 'KmsDisabled'],
  ['KMS.InvalidStateException', 'KmsInvalidState'],
  ['KMS.NotFoundException', 'KmsNotFound'],
  ['KMS.ThrottlingException', 'KmsThrottled'],
  ['KMS.AccessDeniedException', 'KmsAccessDenied'],
  ['KMS.InvalidKeyUsageException', 'KmsInvalidKeyUsage'],
  ['KMS.OptInRequired', 'KmsOptInRequired'],
])

const IN_MODEL = new Set([
  'BatchEntryIdsNotDistinct',
  'BatchRequestTooLong',
  'EmptyBatchRequest',
  'InvalidAddress',
  'InvalidAttributeName',
  'InvalidAttributeValue',
  'InvalidBatchEntryId',
  'InvalidIdFormat',
  'InvalidMessageContents',
  'InvalidSecurity',
  'KmsAccessDenied',
  'KmsDisabled',
  'KmsInvalidKeyUsage',
  'KmsInvalidState',
  'KmsNotFound',
  'KmsOptInRequired',
  'KmsThrottled',
  'MessageNotInflight',
  'OverLimit',
  'PurgeQueueInProgress',
  'QueueDeletedRecently',
  'QueueDoesNotExist',
  'QueueNameExists',
  'ReceiptHandleIsInvalid',
  'RequestThrottled',
  'ResourceNotFoundException',
  'TooManyEntriesInBatchRequest',
  'UnsupportedOperation',
])

/**
 * `__type` of an error: the shape that it names or that belongs to its code. Some shapes have the model's namespace,
 * and others have no namespace.
 */
export function sqsShapeOf({ code, shape }: AwsError): string {
  const name = shape === code ? (SHAPES.get(code) ?? code.replace(CODE_PREFIX, '')) : shape
  return (IN_MODEL.has(name) ? MODEL : OUTSIDE) + name
}
