/** Traits of endpoints that are queues of this service: an attempt is an append. */
import { type ArnDefaults, type AttemptResult, isQueueName, parseArn, queueArn } from '@fantail/contracts'
import { AWS_MANAGED_POLICY, MANAGED_FLOOR_SECONDS } from './fixed-policies.ts'
import type { EndpointRight, ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'
import { classifyStatus } from './webhook-traits.ts'

const FORBIDDEN = 403

export const QUEUE_TRAITS: ProtocolTraits = {
  endpoint: {
    name: 'the ARN of a queue',
    isUrl: false,
    read: readQueue,
    snsRefusal: () => 'Invalid parameter: SQS endpoint ARN',
  },
  defaultPolicy: AWS_MANAGED_POLICY,
  // A queue answers at once or not at all, so rate, quota and circuit would have no use.
  takes: {
    rawDelivery: true,
    deliveryPolicy: false,
    rate: false,
    pacing: false,
    outbound: false,
    webhookKeys: false,
  },
  rightsOf: rightsToSend,
  confirmedBy: 'account',
  retentionFloorSeconds: MANAGED_FLOOR_SECONDS,
  // A successful append counts as 200, the status that SQS would answer.
  classifyStatus,
  fifo: { topics: 'sns', sendsRuns: true },
  isQueue: true,
  reports: {
    feedback: 'SQS',
    byApplication: false,
    byAccount: false,
    failures: 'deliveries',
    providerResponse: (_, sqsMessageId) => JSON.stringify({ sqsMessageId }),
    refused,
  },
}

function readQueue(text: string, place: ArnDefaults, isNamed: boolean): ReadEndpoint | undefined {
  if (parseArn(text)?.service === 'sqs') return { endpoint: text }
  return isNamed && isQueueName(text) ? { endpoint: queueArn(text, place) } : undefined
}

/** SQS's words, as recorded in delivery status logs of SNS. */
function refused(
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

function rightsToSend(endpoint: string): EndpointRight[] {
  return parseArn(endpoint)?.service === 'sqs' ? [{ action: 'SQS:SendMessage', arn: endpoint }] : []
}
