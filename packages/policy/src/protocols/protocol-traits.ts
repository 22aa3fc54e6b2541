/** The part of an endpoint kind that is data or a pure function. Each protocol has its traits in `PROTOCOL_TRAITS`. */
import type { ArnDefaults, AttemptResult, EffectiveDeliveryPolicy, ResultClass } from '@fantail/contracts'

export interface ProtocolTraits {
  endpoint: EndpointSyntax
  /**
   * Applies if neither topic nor subscription sets a policy. If the kind takes no policy, it always applies, and is
   * defined in `fixed-traits.ts`. All subscriptions share it, so it is frozen.
   */
  defaultPolicy: EffectiveDeliveryPolicy
  /**
   * A policy whose delays apply while the endpoint is throttled (`isThrottled`). The number of retries stays that of
   * the usual policy, because a throttle after an outage must not end deliveries that the outage has delayed.
   */
  throttledPolicy?: EffectiveDeliveryPolicy
  takes: TakenSettings
  /**
   * The rights that a caller needs to have messages sent to the endpoint. A text that is no endpoint of this kind needs
   * none, because the operation itself refuses it by the same rules.
   */
  rightsOf(endpoint: string): EndpointRight[]
  confirmedBy: ConfirmedBy
  /** Subscriptions need a SubscriptionRoleArn, as in SNS. */
  needsRole?: true
  /** The shortest time for which deliveries are kept, even if the topic keeps its messages for a shorter time. */
  retentionFloorSeconds: number
  /** The class of a response. A failure without a response says itself whether it is permanent. */
  classifyStatus(statusCode: number): ResultClass
  fifo: FifoTraits
  /** Endpoints are queues, so sending to them needs the permission SQS:SendMessage. */
  isQueue: boolean
  /** Answers of Redis for which one attempt waits. This time says nothing about the endpoint. */
  redisTrips: number
  reports: ReportTraits
}

/** The right to an action, such as `SQS:SendMessage`, on a resource. */
export interface EndpointRight {
  action: string
  arn: string
  /** A key needs this scope. Nothing else is checked. */
  scope?: 'sms'
  /** Only the name is checked, against the key's prefixes. */
  byName?: true
}

export interface EndpointSyntax {
  /**
   * The name of the endpoint's syntax in error messages, with its article: `an http or https URL`. Several protocols
   * may share a name.
   */
  name: string
  /** The endpoint is a URL, which may hold credentials and a query. */
  isUrl: boolean
  /**
   * The full form of the text. Undefined if it is no endpoint of this kind. `isNamed`: the caller named the protocol,
   * so short forms such as a queue's name are allowed.
   */
  read(text: string, place: ArnDefaults, isNamed: boolean): ReadEndpoint | undefined
  /** SNS's text for an endpoint that `read` does not know (checklist 136 to 139). */
  snsRefusal(text: string): string
}

/** The full form of an endpoint, or a message that says why it cannot be used. */
export type ReadEndpoint = { endpoint: string } | { message: string }

/**
 * How a subscription is confirmed:
 *
 * - endpoint: the endpoint gets a token and returns it. A native caller may waive that.
 * - person: the same, but nobody may waive it.
 * - account: an endpoint of the caller's own account is confirmed at once. Only an endpoint of another account gets a
 *   token.
 * - subscriber: subscribing confirms it.
 */
type ConfirmedBy = 'endpoint' | 'person' | 'account' | 'subscriber'

/** Settings of a subscription that only some kinds take. Others refuse them. */
export interface TakenSettings {
  rawDelivery: boolean
  /** Whether the kind has delivery policies of its own. A topic's policy applies only to such kinds. */
  deliveryPolicy: boolean
  /** Accepts a throttle. Without `deliveryPolicy`, the native API accepts a policy that has only a throttle. */
  rate: boolean
  /** Accepts retry modes and circuit breakers. */
  pacing: boolean
  outbound: boolean
  webhookKeys: boolean
}

interface FifoTraits {
  /**
   * sns: SNS also delivers from FIFO topics to this kind. extension: only Fantail does that, so the AWS API refuses it
   * unless a setting allows it. never: FIFO topics do not deliver to it.
   */
  topics: 'sns' | 'extension' | 'never'
  /** One attempt may send several messages of a group. It delivers all of them or none. */
  sendsFollowers: boolean
}

export interface ReportTraits {
  /**
   * Prefix of the names of feedback attributes, as in `HTTPSuccessFeedbackRoleArn`. null: topics have no such
   * attributes for this kind.
   */
  feedback: 'Application' | 'Firehose' | 'HTTP' | 'Lambda' | 'SQS' | null
  /**
   * Whether endpoints belong to platform applications. Attributes of an application name topics for events, and ask for
   * delivery status logs.
   */
  byApplication: boolean
  /** Whether attributes that belong to no topic ask for delivery status logs, as SetSMSAttributes does. */
  byAccount: boolean
  /** Whether the failure metric counts attempts, or deliveries that were given up (checklist 197). */
  failures: 'attempts' | 'deliveries'
  /** The member `providerResponse` in delivery status logs. `text`: the beginning of the endpoint's answer. */
  providerResponse(text: string | undefined, deliveryId: string): string
  /** The member `providerResponse` for a failure without an answer. Undefined: the failure's own text. */
  refused?(failure: AttemptResult & { kind: 'failure' }, endpoint: string): string | undefined
}
