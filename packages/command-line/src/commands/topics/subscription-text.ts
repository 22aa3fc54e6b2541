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
    ['groups', groupsText(subscription.groupThrottle)],
    ['event types', eventTypes?.join(', ') ?? null],
    ['filter', filterPolicy === null ? null : JSON.stringify(filterPolicy)],
    ['on failure', subscription.onFailure],
    ['created', subscription.createdAt],
  ])
}

/** The throttle of message groups: `5/s each, gold 50/s`. */
function groupsText(throttle: Subscription['groupThrottle']): string | null {
  if (!throttle) return null
  const each = throttle.maxReceivesPerSecond ? [`${throttle.maxReceivesPerSecond}/s each`] : []
  const own = Object.entries(throttle.overrides ?? {}).map(([group, rate]) => `${group} ${rate}/s`)
  return [...each, ...own].join(', ')
}
