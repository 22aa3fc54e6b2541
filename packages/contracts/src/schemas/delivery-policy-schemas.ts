/**
 * Delivery policies. Their rules cross members, so `checkDeliveryPolicy` (policy) judges them; these shapes document.
 */
import { z } from 'zod'
import type { DeliveryPolicy } from '../records.ts'
import { named, TopicReference } from './shared-schemas.ts'

const retry = {
  minDelayTarget: z
    .int()
    .min(1)
    .max(3_600)
    .describe('Seconds; pre-backoff retries and the first backoff retry'),
  maxDelayTarget: z
    .int()
    .min(1)
    .max(3_600)
    .describe('Seconds; the last backoff retry and post-backoff retries'),
  numRetries: z.int().min(0).max(100).describe('Retries over all phases'),
}

const shape = {
  numNoDelayRetries: z.int().min(0).describe('Retries in the immediate phase'),
  numMinDelayRetries: z.int().min(0).describe('Retries in the pre-backoff phase'),
  numMaxDelayRetries: z.int().min(0).describe('Retries in the post-backoff phase'),
  backoffFunction: z.enum(['linear', 'arithmetic', 'geometric', 'exponential']),
}

const throttlePolicy = z.strictObject({ maxReceivesPerSecond: z.int().min(1) })
const requestPolicy = z.strictObject({ headerContentType: z.string() })

export const DeliveryPolicyShape = named(
  'DeliveryPolicy',
  z.strictObject({
    healthyRetryPolicy: z.strictObject({ ...retry, ...z.object(shape).partial().shape }).optional(),
    throttlePolicy: throttlePolicy.optional(),
    requestPolicy: requestPolicy.optional(),
  }),
)

export const EffectiveDeliveryPolicyShape = named(
  'EffectiveDeliveryPolicy',
  z.object({
    healthyRetryPolicy: z.object({
      ...retry,
      ...shape,
      numRetries: z.int().min(0).describe('Retries over all phases; queues have a fixed policy with more'),
    }),
    throttlePolicy: throttlePolicy.nullable(),
    requestPolicy,
  }),
)

const documented = z.toJSONSchema(DeliveryPolicyShape.nullable())
delete documented.$schema

/** A policy as a client gives it: anything here, documented by its shape, judged by the policy package. */
export const DeliveryPolicyInput = z
  .custom<DeliveryPolicy | null>(() => true)
  .meta(documented as Record<string, unknown>)

export const PreviewInput = z.strictObject({
  deliveryPolicy: DeliveryPolicyInput,
  topic: TopicReference.describe('Whose policy fills the groups that are left out').optional(),
})

export const PreviewAnswer = named(
  'RetryPreview',
  z.object({
    retries: z.array(
      z.object({
        retry: z.int(),
        phase: z.enum(['immediate', 'preBackoff', 'backoff', 'postBackoff']),
        delaySeconds: z.number(),
        atSeconds: z.number(),
      }),
    ),
    totalSeconds: z.number(),
    jitter: z.number().describe('Share by which each delay is varied'),
  }),
)
