import type { Subscription } from '@fantail/client/api'
import { durationText } from '../../output/durations.ts'
import { fieldsText } from '../../output/text-table.ts'

export function subscriptionText(subscription: Subscription): string {
  const { lane, effectiveDeliveryPolicy, filterPolicy, eventTypes } = subscription
  const { healthyRetryPolicy, throttlePolicy } = effectiveDeliveryPolicy
  return fieldsText([
    ['subscription', subscription.id],
    ['name', subscription.name],
    ['topic', subscription.topicArn],
    ['endpoint', subscription.endpoint],
    ['status', subscription.status],
    [
      'waiting',
      `${lane.waiting}${lane.oldestWaitingSeconds ? `, oldest ${durationText(lane.oldestWaitingSeconds * 1_000)}` : ''}`,
    ],
    ['retries', healthyRetryPolicy.numRetries],
    ['throttle', throttlePolicy ? `${throttlePolicy.maxReceivesPerSecond}/s` : null],
    ['event types', eventTypes?.join(', ') ?? null],
    ['filter', filterPolicy === null ? null : JSON.stringify(filterPolicy)],
    ['on failure', subscription.onFailure],
    ['created', subscription.createdAt],
  ])
}
