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
} from './delivery-policy-schemas.ts'
import { named, pageOf, pageQuery, Timestamp } from './shared-schemas.ts'

const Signing = z.enum(['none', 'sns'])

/** `null` resets a member. */
export const TopicInput = z
  .strictObject({
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
      .describe(
        `Deliveries of messages older than this expire, those to queues after 30 days; default ${RETENTION_SECONDS_DEFAULT}`,
      ),
    fifo: z.boolean().nullish().describe('Follows from a name that ends in .fifo; cannot be changed'),
    contentBasedDeduplication: z
      .boolean()
      .nullish()
      .describe('FIFO: without a deduplicationId the SHA-256 of the message counts. Default false'),
    signing: Signing.nullish().describe(
      'sns: messages carry a signature as those of Amazon SNS do, except of FIFO topics. Default none',
    ),
  })
  .meta({ examples: [{ displayName: 'Orders' }] })

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
    signing: Signing,
    fifo: z.boolean(),
    contentBasedDeduplication: z.boolean().optional().describe('FIFO'),
    subscriptions: z.object({ active: z.int(), pending: z.int(), paused: z.int() }),
    createdAt: Timestamp,
  }),
)

export const TopicListQuery = z.strictObject({ prefix: z.string().max(256).optional(), ...pageQuery })
export const TopicList = pageOf('topics', TopicView)
