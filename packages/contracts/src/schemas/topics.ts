/** Topics over REST. */
import { z } from 'zod'
import {
  DISPLAY_NAME_CHARS_MAX,
  RETENTION_SECONDS_DEFAULT,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
} from '../limits.ts'
import {
  DeliveryPolicyInput,
  DeliveryPolicyShape,
  EffectiveDeliveryPolicyShape,
} from './delivery-policies.ts'
import { named, pageOf, pageQuery, Timestamp } from './shared.ts'

/** `null` resets a member. */
export const TopicInput = z.strictObject({
  displayName: z.string().max(DISPLAY_NAME_CHARS_MAX).nullish(),
  deliveryPolicy: DeliveryPolicyInput.optional(),
  disableSubscriptionOverrides: z
    .boolean()
    .nullish()
    .describe('Ignore the delivery policies of subscriptions'),
  retentionSeconds: z
    .int()
    .min(RETENTION_SECONDS_MIN)
    .max(RETENTION_SECONDS_MAX)
    .nullish()
    .describe(`Deliveries of messages older than this expire; default ${RETENTION_SECONDS_DEFAULT}`),
})

/** Members that come with later versions: refused by name. */
export const TOPIC_UNSUPPORTED = ['fifo', 'contentBasedDeduplication', 'signing'] as const

export const TopicView = named(
  'Topic',
  z.object({
    name: z.string(),
    arn: z.string(),
    displayName: z.string(),
    deliveryPolicy: DeliveryPolicyShape.nullable(),
    effectiveDeliveryPolicy: EffectiveDeliveryPolicyShape,
    disableSubscriptionOverrides: z.boolean(),
    retentionSeconds: z.int(),
    signing: z.enum(['none', 'sns']),
    subscriptions: z.object({ active: z.int(), pending: z.int(), paused: z.int() }),
    createdAt: Timestamp,
  }),
)

export const TopicListQuery = z.strictObject({ prefix: z.string().max(256).optional(), ...pageQuery })
export const TopicList = pageOf('topics', TopicView)
