/**
 * The effective policies of a slice. Subscriptions of one kind without a policy of their own share one object. This
 * saves 200 bytes of the cache for each.
 */
import type { EffectiveDeliveryPolicy, SubscriptionRecord, TopicRecord } from '@fantail/contracts'
import { effectivePolicy } from '@fantail/policy'

type PolicySource = Pick<SubscriptionRecord, 'protocol' | 'origin' | 'rawMessageDelivery' | 'deliveryPolicy'>

export class SharedPolicies {
  readonly #topic: TopicRecord
  readonly #shared = new Map<string, EffectiveDeliveryPolicy>()

  constructor(topic: TopicRecord) {
    this.#topic = topic
  }

  of(record: PolicySource): EffectiveDeliveryPolicy {
    if (record.deliveryPolicy) return effectivePolicy(this.#topic, record)
    // All members of the record that decide about the policy.
    const kind = `${record.protocol} ${record.origin} ${record.rawMessageDelivery}`
    let policy = this.#shared.get(kind)
    if (!policy) {
      policy = effectivePolicy(this.#topic, record)
      this.#shared.set(kind, policy)
    }
    return policy
  }
}
