/**
 * Refusals with SQS's texts. JSON clients choose an exception by the shape, and Query clients get the code (checklist
 * 161).
 */
import { AwsError } from '@fantail/aws-wire'

const PREFIX = 'AWS.SimpleQueueService.'

/** By shape: the Query code if it differs from the shape, and the HTTP status if it is not 400. */
const SHAPES = {
  QueueDoesNotExist: { code: `${PREFIX}NonExistentQueue` },
  QueueNameExists: { code: 'QueueAlreadyExists' },
  QueueDeletedRecently: { code: `${PREFIX}QueueDeletedRecently` },
  PurgeQueueInProgress: { code: `${PREFIX}PurgeQueueInProgress`, status: 403 },
  BatchEntryIdsNotDistinct: { code: `${PREFIX}BatchEntryIdsNotDistinct` },
  BatchRequestTooLong: { code: `${PREFIX}BatchRequestTooLong` },
  EmptyBatchRequest: { code: `${PREFIX}EmptyBatchRequest` },
  InvalidBatchEntryId: { code: `${PREFIX}InvalidBatchEntryId` },
  TooManyEntriesInBatchRequest: { code: `${PREFIX}TooManyEntriesInBatchRequest` },
  MessageNotInflight: { code: `${PREFIX}MessageNotInflight` },
  UnsupportedOperation: { code: `${PREFIX}UnsupportedOperation` },
  ReceiptHandleIsInvalid: { status: 404 },
  OverLimit: { status: 403 },
  InvalidAttributeName: {},
  InvalidAttributeValue: {},
  InvalidMessageContents: {},
  InvalidAddress: { status: 404 },
  RequestThrottled: { status: 403 },
  ResourceNotFoundException: { status: 404 },
  InvalidParameterValueException: { code: 'InvalidParameterValue' },
  MissingRequiredParameterException: { code: 'MissingParameter' },
} satisfies Record<string, { code?: string; status?: number }>

type SqsShape = keyof typeof SHAPES

export function sqsError(shape: SqsShape, message: string, cause?: unknown): AwsError {
  const { code = shape, status = 400 }: { code?: string; status?: number } = SHAPES[shape]
  return new AwsError(code, message, { status, shape, cause })
}

export function missingParameter(name: string): AwsError {
  return sqsError('MissingRequiredParameterException', `The request must contain the parameter ${name}.`)
}

export function invalidParameterValue(message: string): AwsError {
  return sqsError('InvalidParameterValueException', message)
}

/** `Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be …` */
export function invalidValue(parameter: string, value: unknown, reason: string): AwsError {
  return invalidParameterValue(`Value ${value} for parameter ${parameter} is invalid. Reason: ${reason}`)
}
