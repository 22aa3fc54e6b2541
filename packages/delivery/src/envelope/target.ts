/** The parts of a subscription that every attempt needs, computed once per snapshot. */
import type { EffectiveDeliveryPolicy, Protocol, SubscriptionRecord } from '@fantail/contracts'
import { saysWhatIsJson } from '@fantail/policy'
import type { HttpEndpoint } from '../http/http-request.ts'
import { compileRoute, type Route } from '../outbound/outbound-route.ts'
import { openOutbound, type Sealing } from '../outbound/outbound-secrets.ts'
import { type WebhookSigner, webhookSignerOf } from '../signing/standard-webhooks.ts'

export interface Target {
  subscriptionId: string
  subscriptionArn: string
  /** The ARN in bytes, copied into every envelope's UnsubscribeURL. */
  subscriptionArnBytes: Buffer
  protocol: Protocol
  /** Credentials included once it is unlocked: never to be logged; `maskCredentials` is for people. */
  url: string
  /** How it is reached, where that is not the plain way. */
  route: Route | undefined
  /** Secrets or a route that must be unlocked before an attempt. Undefined once unlocked, or if there are none. */
  locked: Locked | undefined
  /** Signs each request; undefined: none is signed. */
  webhook: WebhookSigner | undefined
  /** The sender's, see HttpRequest. */
  memo: { endpoint?: HttpEndpoint | undefined }
  raw: boolean
  /** Content-Type of Notifications. */
  contentType: string
  /** Raw bodies that are JSON are sent as such. */
  saysWhatIsJson: boolean
  /** Made through the native API. */
  isNative: boolean
}

type Locked = Pick<SubscriptionRecord, 'topicArn' | 'endpoint' | 'outbound' | 'sealed'>

export function compileTarget(subscription: SubscriptionRecord, policy: EffectiveDeliveryPolicy): Target {
  return {
    subscriptionId: subscription.id,
    subscriptionArn: subscription.arn,
    subscriptionArnBytes: Buffer.from(subscription.arn),
    protocol: subscription.protocol,
    url: subscription.endpoint,
    route: undefined,
    locked: subscription.outbound || subscription.sealed ? subscription : undefined,
    webhook: webhookSignerOf(subscription),
    memo: { endpoint: undefined },
    raw: subscription.rawMessageDelivery,
    contentType: policy.requestPolicy.headerContentType,
    saysWhatIsJson: saysWhatIsJson(policy),
    isNative: subscription.origin === 'native',
  }
}

/**
 * Opens its secrets, once; afterwards it is as any other. Answers what kept it from that, in words without a secret:
 * the target stays locked, since the key may come.
 */
export function unlockTarget(target: Target, vault: Pick<Sealing, 'open'> | undefined): string | undefined {
  if (target.locked === undefined) return undefined
  try {
    const { url, ...options } = openOutbound(target.locked, vault)
    target.route = compileRoute(options)
    target.url = url
    target.locked = undefined
    return undefined
  } catch (error) {
    return `its secrets cannot be used: ${error instanceof Error ? error.message : 'unknown'}`
  }
}

/** The endpoint without its credentials. */
export function redactEndpoint(endpoint: string): string {
  return endpoint.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1')
}
