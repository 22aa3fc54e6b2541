import type { SubscriptionRecord, TopicRecord } from '@fantail/contracts'
import { effectivePolicy } from '@fantail/policy'
import { expect, test } from 'vitest'
import { SharedPolicies } from './compiled-slice.ts'

const TOPIC = {
  deliveryPolicy: { healthyRetryPolicy: { numRetries: 7 } },
  disableSubscriptionOverrides: false,
} as TopicRecord
const OWN = { throttlePolicy: { maxReceivesPerSecond: 5 } }
const RECORDS = (['http', 'https', 'sqs', 'email'] as const).flatMap((protocol) =>
  [undefined, 'native' as const].flatMap((origin) =>
    [true, false].flatMap((rawMessageDelivery) =>
      [null, OWN].map((deliveryPolicy) => ({ protocol, origin, rawMessageDelivery, deliveryPolicy })),
    ),
  ),
) as SubscriptionRecord[]

test('every kind of subscription has its policy, and shares it only without one of its own', () => {
  const policies = new SharedPolicies(TOPIC)
  for (const record of [...RECORDS, ...RECORDS]) {
    expect(policies.of(record)).toEqual(effectivePolicy(TOPIC, record))
    if (!record.deliveryPolicy) expect(policies.of({ ...record })).toBe(policies.of(record))
  }
})
