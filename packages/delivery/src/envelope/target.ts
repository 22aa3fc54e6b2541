/** A target: the data of a subscription that every attempt needs, computed once per snapshot. */
import type { EffectiveDeliveryPolicy, Protocol, SubscriptionRecord, TopicRecord } from '@fantail/contracts'
import { saysWhatIsJson } from '@fantail/policy'
import type { HttpEndpoint } from '../http/http-request.ts'
import { compileOAuth, type OAuthClient } from '../outbound/oauth-client.ts'
import { compileRoute, type Route } from '../outbound/outbound-route.ts'
import { openOutbound, type Sealing } from '../outbound/outbound-secrets.ts'
import { type WebhookSigner, webhookSignerOf } from '../signing/standard-webhooks.ts'

export interface EndpointTarget {
  subscriptionId: string
  subscriptionArn: string
  /**
   * The ARN and its token in bytes, copied into every envelope's UnsubscribeURL. They are made for the first one, so
   * that large topics load without an HMAC for each subscription.
   */
  leaveQuery: Buffer | undefined
  protocol: Protocol
  /**
   * The endpoint: a URL, an ARN, a mail address or a phone number. Once opened, a URL contains credentials, so it
   * must never be logged. Log `maskCredentials` of it instead.
   */
  url: string
  /** Proxy, client certificate and other outbound settings. Undefined if there are none. */
  route: Route | undefined
  /**
   * Secrets or a route that must be opened before an attempt. Undefined after they were opened, or if there are
   * none.
   */
  secrets: SealedSecrets | undefined
  /** Gets access tokens for the endpoint. Undefined until the target is open, or if it needs none. */
  oauth: OAuthClient | undefined
  /** Signs each request. undefined: requests are not signed. */
  webhook: WebhookSigner | undefined
  /** A cache for the sender (see HttpRequest). */
  memo: { endpoint?: HttpEndpoint | undefined }
  raw: boolean
  /** Content-Type of notifications. */
  contentType: string
  /** Raw bodies that are JSON get the content type of JSON. */
  saysWhatIsJson: boolean
  /** The subscription was made through the native API. */
  isNative: boolean
  /** The topic's display name: the name of the sender in mails. */
  displayName: string
}

type SealedSecrets = Pick<SubscriptionRecord, 'topicArn' | 'endpoint' | 'outbound' | 'sealed'>

export function compileTarget(
  subscription: SubscriptionRecord,
  policy: EffectiveDeliveryPolicy,
  { displayName }: Partial<Pick<TopicRecord, 'displayName'>> = {},
): EndpointTarget {
  return {
    subscriptionId: subscription.id,
    subscriptionArn: subscription.arn,
    leaveQuery: undefined,
    protocol: subscription.protocol,
    url: subscription.endpoint,
    route: undefined,
    secrets: subscription.outbound || subscription.sealed ? subscription : undefined,
    oauth: undefined,
    webhook: webhookSignerOf(subscription),
    memo: { endpoint: undefined },
    raw: subscription.rawMessageDelivery,
    contentType: policy.requestPolicy.headerContentType,
    saysWhatIsJson: saysWhatIsJson(policy),
    isNative: subscription.origin === 'native',
    displayName: displayName ?? '',
  }
}

/**
 * Opens the target's secrets, once. If they cannot be opened, it throws an error that contains no secret. The target
 * then stays sealed, because the missing key may be set later.
 */
export function openTarget(target: EndpointTarget, vault: Pick<Sealing, 'open'> | undefined): void {
  if (target.secrets === undefined) return
  const { url, ...options } = openOutbound(target.secrets, vault)
  target.route = compileRoute(options)
  target.oauth = options.oauth && compileOAuth(options.oauth, options)
  target.url = url
  target.secrets = undefined
}

/**
 * For the dead letters of a subscription. Their link to unsubscribe has no token, because other people than the
 * subscriber read dead letters.
 */
export function targetOfLetters(target: EndpointTarget): EndpointTarget {
  return { ...target, leaveQuery: Buffer.from(target.subscriptionArn) }
}

/** The endpoint without its credentials. */
export function redactEndpoint(endpoint: string): string {
  return endpoint.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1')
}
