/** What of a subscription every one of its attempts needs, worked out once per plan. */
import type { EffectiveDeliveryPolicy, Protocol, SubscriptionRecord } from '@fantail/contracts'
import type { HttpEndpoint } from './http-attempt.ts'

export interface Target {
  subscriptionId: string
  subscriptionArn: string
  /** The ARN in bytes, copied into every envelope's UnsubscribeURL. */
  subscriptionArnBytes: Buffer
  protocol: Protocol
  /** As subscribed, credentials included: never to be logged; `redactEndpoint` is for people. */
  url: string
  /** The sender's, see HttpRequest. */
  memo: { endpoint?: HttpEndpoint | undefined }
  raw: boolean
  /** Content-Type of Notifications. */
  contentType: string
}

export function compileTarget(subscription: SubscriptionRecord, policy: EffectiveDeliveryPolicy): Target {
  return {
    subscriptionId: subscription.id,
    subscriptionArn: subscription.arn,
    subscriptionArnBytes: Buffer.from(subscription.arn),
    protocol: subscription.protocol,
    url: subscription.endpoint,
    memo: { endpoint: undefined },
    raw: subscription.rawMessageDelivery,
    contentType: policy.requestPolicy.headerContentType,
  }
}

/** The endpoint without its credentials. */
export function redactEndpoint(endpoint: string): string {
  return endpoint.replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
}
