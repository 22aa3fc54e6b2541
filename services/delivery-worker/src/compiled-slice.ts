/** A slice made ready for attempts: effective policies, targets, and each subscription by id. */
import type { EffectiveDeliveryPolicy, Message, SubscriptionRecord, TopicRecord } from '@fantail/contracts'
import { compileTarget, type SignatureVersion, signatureVersionOf, type Target } from '@fantail/delivery'
import { type CompiledFilter, compileFilter, effectivePolicy } from '@fantail/policy'
import type { SliceData } from '@fantail/store'
import { type Feedback, feedbackOf } from './delivery-status.ts'
import { SliceFilters } from './slice-filters.ts'

export interface CompiledSubscription {
  record: SubscriptionRecord
  policy: EffectiveDeliveryPolicy
  /** maxReceivesPerSecond, or null where unthrottled. */
  rate: number | null
  target: Target
  /** What the topic's messages are signed with; undefined: nothing. */
  signature: SignatureVersion | undefined
  /** What of its deliveries is to be logged; undefined: nothing. */
  feedback: Feedback | undefined
  /** null: every message. */
  filter: CompiledFilter | null
  topicName: string
  sliceId: string
  shard: number
}

export interface CompiledSlice {
  sliceId: string
  shard: number
  revision: string
  topic: TopicRecord
  /** Those that messages are matched against: confirmed, active or paused. */
  subscriptions: CompiledSubscription[]
  /** null: none of them has a filter. */
  filters: SliceFilters | null
  /** All of them, the unconfirmed too (their lanes carry confirmations). */
  byId: Map<string, CompiledSubscription>
  /** One more than the highest slot in use: the length of this slice's bitmaps in bits. */
  slots: number
}

/** A subscription that cannot be compiled is told and left out; its neighbours are not affected. */
export function compileSlice(
  data: SliceData,
  onUnusable: (subscriptionId: string, error: unknown) => void,
): CompiledSlice {
  const compiled = data.subscriptions.flatMap((record) => {
    try {
      return [compile(record, data)]
    } catch (error) {
      onUnusable(record.id, error)
      return []
    }
  })
  const subscriptions = compiled.filter(({ record }) => record.status !== 'pending' && !record.unsubscribed)
  const slots = data.subscriptions.reduce((most, record) => Math.max(most, record.slot + 1), 0)
  return {
    sliceId: data.sliceId,
    shard: data.shard,
    revision: data.revision,
    topic: data.topic,
    subscriptions,
    filters: SliceFilters.of(subscriptions, slots),
    byId: new Map(compiled.map((subscription) => [subscription.record.id, subscription])),
    slots,
  }
}

function compile(record: SubscriptionRecord, { topic, sliceId, shard }: SliceData): CompiledSubscription {
  const policy = effectivePolicy(topic, record)
  const rate = policy.throttlePolicy?.maxReceivesPerSecond ?? null
  return {
    record,
    policy,
    rate,
    target: compileTarget(record, policy),
    signature: signatureVersionOf(topic),
    feedback: feedbackOf(topic, record.protocol === 'sqs' ? 'SQS' : 'HTTP'),
    filter: filterOf(record),
    topicName: topic.name,
    sliceId,
    shard,
  }
}

function filterOf({ filterPolicy, filterPolicyScope }: SubscriptionRecord): CompiledFilter | null {
  return filterPolicy ? compileFilter(filterPolicy, filterPolicyScope ?? 'MessageAttributes') : null
}

/** To one that is unsubscribed by its link only the question goes whether that was meant, however the others came there. */
export function mayGo({ unsubscribed }: SubscriptionRecord, { kind = 'Notification' }: Message): boolean {
  return !unsubscribed || kind !== 'Notification'
}

/** About how many bytes the slice takes, for the cache's bound. */
export function weightOf(slice: CompiledSlice): number {
  let bytes = 2_000 + slice.byId.size * 2_500
  if (!slice.filters) return bytes
  // Conditions, and their place in an index.
  for (const { filter } of slice.subscriptions)
    for (const rule of filter?.rules ?? [])
      for (const { conditions } of rule) bytes += 300 + conditions.length * 250
  return bytes
}
