/** The facts of a run about each endpoint of the standard topic. */
import type { Reply } from '@fantail/test-kit'
import type { Kind } from '../plan/input-plan.ts'
import type { ProviderName } from '../providers/providers.ts'

export const KEPT_QUEUE = 'chaos-kept'

export type Fate =
  | 'delivered'
  /** In the queue KEPT_QUEUE, where it stays. */
  | 'dead'
  /** There is no dead-letter queue. Discarded deliveries are counted. */
  | 'discarded'
  /** In its lane, also at the end of the run. */
  | 'waiting'
  /** Delivered, or dead-lettered as `outcomeUnknown`. */
  | 'unknown'

export interface Endpoint {
  /** Settings as the API takes them. The endpoint is its path at the receiver, or a queue. */
  settings?: Record<string, unknown>
  queue?: string
  /** Set for all kinds except webhooks and queues. */
  protocol?: string
  address?: string
  /** The provider that takes its deliveries. While the provider hangs, they hang too. */
  provider?: ProviderName | 'folder'
  /** An attempt without an answer may end any delivery as `outcomeUnknown`. */
  mayBeUnknown?: true
  paused?: true
  /** The only kind of message that the endpoint's filter matches. */
  kind?: Kind
  /** The most requests per second, by all workers together. */
  perSecond?: number
  answer?(number: number, attempt: number, isCalm: boolean): Reply
  /** Default: delivered. */
  fate?(text: string): Fate
}

export interface Subscribed {
  id: string
  arn: string
}
