/** Delivery streams: a record is delivered when the stream has accepted it. */
import type { ArnDefaults, ResultClass } from '@fantail/contracts'
import { isStreamName, parseStreamArn, streamArn } from '../endpoints/stream-arn.ts'
import { AWS_MANAGED_POLICY, CUSTOMER_MANAGED_POLICY, MANAGED_FLOOR_SECONDS } from './fixed-policies.ts'
import type { EndpointRight, ProtocolTraits, ReadEndpoint } from './protocol-traits.ts'

const TOO_MANY_REQUESTS = 429

export const STREAM_TRAITS: ProtocolTraits = {
  endpoint: {
    name: 'the ARN of a delivery stream',
    isUrl: false,
    read: readStream,
    snsRefusal: () => 'Invalid parameter: Firehose endpoint ARN',
  },
  defaultPolicy: AWS_MANAGED_POLICY,
  throttledPolicy: CUSTOMER_MANAGED_POLICY,
  takes: {
    rawDelivery: true,
    deliveryPolicy: false,
    // No throttle, because one request has the records of many deliveries, so a delivery has no send time of its own.
    rate: false,
    pacing: false,
    outbound: false,
    webhookKeys: false,
  },
  rightsOf: rightsToPut,
  confirmedBy: 'subscriber',
  needsRole: true,
  retentionFloorSeconds: MANAGED_FLOOR_SECONDS,
  classifyStatus,
  fifo: { topics: 'never', sendsRuns: false },
  isQueue: false,
  reports: {
    feedback: 'Firehose',
    byApplication: false,
    byAccount: false,
    failures: 'deliveries',
    providerResponse: (text) => text ?? '',
  },
}

/** https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html#API_PutRecordBatch_Errors */
function classifyStatus(statusCode: number): ResultClass {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  return statusCode < 200 || statusCode >= 500 || statusCode === TOO_MANY_REQUESTS ? 'retry' : 'permanent'
}

function readStream(text: string, place: ArnDefaults, isNamed: boolean): ReadEndpoint | undefined {
  if (parseStreamArn(text)) return { endpoint: text }
  return isNamed && isStreamName(text) ? { endpoint: streamArn(text, place) } : undefined
}

/** Only the name is checked. The operator's settings decide which streams exist. */
function rightsToPut(endpoint: string): EndpointRight[] {
  return parseStreamArn(endpoint) ? [{ action: 'firehose:PutRecordBatch', arn: endpoint, byName: true }] : []
}
