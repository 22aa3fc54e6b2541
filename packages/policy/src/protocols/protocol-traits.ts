/** The part of an endpoint kind that is data or a pure function. `PROTOCOL_TRAITS` has one for each protocol. */
import type { ArnDefaults, EffectiveDeliveryPolicy, ResultClass } from '@fantail/contracts'

export interface ProtocolTraits {
  endpoint: EndpointSyntax
  /**
   * Applies where neither topic nor subscription sets a policy. Where the kind takes no policy, it always applies, and
   * stands in `fixed-policies.ts`. It is shared, hence frozen.
   */
  defaultPolicy: EffectiveDeliveryPolicy
  takes: TakenSettings
  confirmedBy: ConfirmedBy
  /** Deliveries are kept at least so long, even if the topic keeps its messages for a shorter time. */
  retentionFloorSeconds: number
  /** The class of a response. A failure without a response says itself whether it is permanent. */
  classifyStatus(statusCode: number): ResultClass
  fifo: FifoTraits
  /** Endpoints are queues of this service, so sending to them needs the permission SQS:SendMessage. */
  isQueue: boolean
  reports: ReportTraits
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
}

/** The full form of an endpoint, or a message that says why it cannot be used. */
export type ReadEndpoint = { endpoint: string } | { message: string }

/**
 * endpoint: it confirms by the token that it is sent, unless a native caller waives that. person: the same, and nobody
 * may waive it. account: subscribing an endpoint of one's own account confirms it, and only an endpoint of another
 * account is sent a token. subscriber: subscribing confirms it.
 */
type ConfirmedBy = 'endpoint' | 'person' | 'account' | 'subscriber'

/** Settings of a subscription that only some kinds take. Others refuse them. */
export interface TakenSettings {
  rawDelivery: boolean
  /** A policy of its own. A topic's policy applies to these kinds alone. */
  deliveryPolicy: boolean
  /** A throttle. Without `deliveryPolicy`: the native API takes a policy that has nothing else. */
  throttle: boolean
  /** Retry modes and circuit breakers. */
  pacing: boolean
  outbound: boolean
  webhookKeys: boolean
}

interface FifoTraits {
  /**
   * sns: FIFO topics of SNS deliver to it, too. extension: only here, so the AWS API refuses it unless configured.
   * never: FIFO topics do not deliver to it.
   */
  topics: 'sns' | 'extension' | 'never'
  /** One attempt may send several messages of a group, and delivers all of them or none. */
  sendsRuns: boolean
}

export interface ReportTraits {
  /** Prefix of the names of feedback attributes, as in `HTTPSuccessFeedbackRoleArn`. null: topics have none for it. */
  feedback: 'Application' | 'Firehose' | 'HTTP' | 'Lambda' | 'SQS' | null
  /** Whether the failure metric counts attempts, or deliveries that were given up (checklist 197). */
  failures: 'attempts' | 'deliveries'
  /** The member `providerResponse` in delivery status logs. `text`: the beginning of the endpoint's answer. */
  providerResponse(text: string | undefined, deliveryId: string): string
}
