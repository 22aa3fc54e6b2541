/** Endpoints with an ARN whose retries AWS defines: queues, functions and delivery streams. */
import {
  type ArnDefaults,
  type AttemptResult,
  isQueueName,
  parseArn,
  queueArn,
  type ResultClass,
} from '@fantail/contracts'
import {
  functionArn,
  isFunctionName,
  isStreamName,
  parseFunctionArn,
  parseStreamArn,
  streamArn,
  unqualifiedArn,
} from '../endpoints/service-arns.ts'
import {
  AWS_MANAGED_POLICY,
  CUSTOMER_MANAGED_POLICY,
  FIXED_TRAITS,
  MANAGED_FLOOR_SECONDS,
} from './fixed-traits.ts'
import type { EndpointRight, ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'
import { classifyStatus } from './webhook-traits.ts'

const FORBIDDEN = 403

/** An attempt is an append, or a request to SQS if the queue is outside of this Fantail. */
export const QUEUE_TRAITS: ProtocolTraits = {
  ...FIXED_TRAITS,
  endpoint: {
    name: 'the ARN of a queue',
    isUrl: false,
    read: readQueue,
    snsRefusal: () => 'Invalid parameter: SQS endpoint ARN',
  },
  defaultPolicy: AWS_MANAGED_POLICY,
  // A queue answers at once or not at all, so rate, quota and circuit would have no use.
  takes: { ...FIXED_TRAITS.takes, rawDelivery: true, rate: false },
  rightsOf: rightsToSend,
  confirmedBy: 'account',
  retentionFloorSeconds: MANAGED_FLOOR_SECONDS,
  // A successful append counts as 200, the status that SQS would answer.
  classifyStatus,
  fifo: { topics: 'sns', sendsFollowers: true },
  isQueue: true,
  redisTrips: 2,
  reports: {
    ...FIXED_TRAITS.reports,
    feedback: 'SQS',
    providerResponse: (sent, appended) => JSON.stringify({ sqsMessageId: sent ?? appended }),
    refused: refusedByQueue,
  },
}

function readQueue(text: string, place: ArnDefaults, isNamed: boolean): ReadEndpoint | undefined {
  if (parseArn(text)?.service === 'sqs') return { endpoint: text }
  return isNamed && isQueueName(text) ? { endpoint: queueArn(text, place) } : undefined
}

function rightsToSend(endpoint: string): EndpointRight[] {
  return parseArn(endpoint)?.service === 'sqs' ? [{ action: 'SQS:SendMessage', arn: endpoint }] : []
}

/** SQS's words, as recorded in delivery status logs of SNS. */
function refusedByQueue(
  { error, statusCode, detail }: AttemptResult & { kind: 'failure' },
  endpoint: string,
): string | undefined {
  if (error !== 'queue_refused') return undefined
  const sqsRequestId = 'Unrecoverable'
  if (statusCode !== FORBIDDEN)
    return JSON.stringify({ ErrorCode: 'InvalidParameterValue', ErrorMessage: detail, sqsRequestId })
  const { region, account, name } = parseArn(endpoint) ?? { region: '', account: '', name: endpoint }
  const url = `https://sqs.${region}.amazonaws.com/${account}/${name}`
  const ErrorMessage = `Access to the resource ${url} is denied.`
  return JSON.stringify({ ErrorCode: 'AccessDenied', ErrorMessage, sqsRequestId })
}

/** A delivery ends when the invocation is accepted. The result of the function does not matter. */
export const FUNCTION_TRAITS: ProtocolTraits = {
  ...FIXED_TRAITS,
  endpoint: {
    name: 'the ARN of a function',
    isUrl: false,
    read: readFunction,
    snsRefusal: () => 'Invalid parameter: Lambda endpoint ARN',
  },
  defaultPolicy: AWS_MANAGED_POLICY,
  rightsOf: rightsToInvoke,
  retentionFloorSeconds: MANAGED_FLOOR_SECONDS,
  classifyStatus: classifyInvocation,
  reports: { ...FIXED_TRAITS.reports, feedback: 'Lambda' },
}

function readFunction(text: string, place: ArnDefaults, isNamed: boolean): ReadEndpoint | undefined {
  if (parseFunctionArn(text)) return { endpoint: text }
  return isNamed && isFunctionName(text) ? { endpoint: functionArn(text, place) } : undefined
}

/** Only the name is checked. The operator's settings decide what may be called at all. */
function rightsToInvoke(endpoint: string): EndpointRight[] {
  const named = parseFunctionArn(endpoint)
  return named ? [{ action: 'lambda:InvokeFunction', arn: unqualifiedArn(named), byName: true }] : []
}

/** Refusals that are temporary: throttling, a file system that is being mounted, a function that is being updated. */
const TEMPORARY = new Set([408, 409, 410, 425, 429])

/** https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors */
export function classifyInvocation(statusCode: number): ResultClass {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  return statusCode < 200 || statusCode >= 500 || TEMPORARY.has(statusCode) ? 'retry' : 'permanent'
}

/** A record is delivered when the stream has accepted it. */
export const STREAM_TRAITS: ProtocolTraits = {
  ...FIXED_TRAITS,
  endpoint: {
    name: 'the ARN of a delivery stream',
    isUrl: false,
    read: readStream,
    snsRefusal: () => 'Invalid parameter: Firehose endpoint ARN',
  },
  defaultPolicy: AWS_MANAGED_POLICY,
  throttledPolicy: CUSTOMER_MANAGED_POLICY,
  // No throttle, because one request has the records of many deliveries, so a delivery has no send time of its own.
  takes: { ...FIXED_TRAITS.takes, rawDelivery: true, rate: false },
  rightsOf: rightsToPut,
  needsRole: true,
  retentionFloorSeconds: MANAGED_FLOOR_SECONDS,
  classifyStatus: classifyPut,
  reports: { ...FIXED_TRAITS.reports, feedback: 'Firehose' },
}

function readStream(text: string, place: ArnDefaults, isNamed: boolean): ReadEndpoint | undefined {
  if (parseStreamArn(text)) return { endpoint: text }
  return isNamed && isStreamName(text) ? { endpoint: streamArn(text, place) } : undefined
}

/** Only the name is checked. The operator's settings decide which streams exist. */
function rightsToPut(endpoint: string): EndpointRight[] {
  return parseStreamArn(endpoint) ? [{ action: 'firehose:PutRecordBatch', arn: endpoint, byName: true }] : []
}

const TOO_MANY_REQUESTS = 429

/** https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html#API_PutRecordBatch_Errors */
function classifyPut(statusCode: number): ResultClass {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  return statusCode < 200 || statusCode >= 500 || statusCode === TOO_MANY_REQUESTS ? 'retry' : 'permanent'
}
