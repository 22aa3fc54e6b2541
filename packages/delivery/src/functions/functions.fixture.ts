/** A subscription of a function, a message for it, and its event as the function reads it. */
import { createMessageId, type Message, type SubscriptionRecord, SYSTEM_POLICY } from '@fantail/contracts'
import { compileTarget, type EndpointTarget } from '../envelope/target.ts'

export const FUNCTION_ARN = 'arn:aws:lambda:eu-west-1:123456789012:function:hello'
export const TOPIC_ARN = 'arn:aws:sns:eu-west-1:123456789012:orders'
export const SUBSCRIPTION_ARN = `${TOPIC_ARN}:5f8a6f0e-8a4e-4d3f-9d53-0f6c0a5f1f11`
const PUBLISHED_AT = Date.UTC(2026, 10, 22, 10, 0, 0, 7)

export function functionTarget(endpoint = FUNCTION_ARN): EndpointTarget {
  const id = SUBSCRIPTION_ARN.slice(TOPIC_ARN.length + 1)
  const record = { id, arn: SUBSCRIPTION_ARN, topicArn: TOPIC_ARN, protocol: 'lambda', endpoint }
  return compileTarget({ ...record, rawMessageDelivery: false } as SubscriptionRecord, SYSTEM_POLICY)
}

export function testMessage(set: Partial<Message> = {}): Message {
  return {
    messageId: createMessageId(PUBLISHED_AT),
    topicArn: TOPIC_ARN,
    publishedAt: PUBLISHED_AT,
    message: 'hello',
    publicUrl: 'https://sns.example.com/',
    ...set,
  }
}

export const TEST_CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret/+1' }
