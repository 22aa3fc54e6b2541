/**
 * Delivery policies. Their rules cross members, so `checkDeliveryPolicy` (policy) judges them; these shapes document.
 */
import { z } from 'zod'
import type { DeliveryPolicy } from '../records.ts'
import { named, namedInput, TopicReference } from './shared-schemas.ts'

const retry = {
  minDelayTarget: z
    .int()
    .min(1)
    .max(3_600)
    .describe('Delay in seconds of pre-backoff retries and of the first backoff retry.'),
  maxDelayTarget: z
    .int()
    .min(1)
    .max(3_600)
    .describe(
      'Delay in seconds of the last backoff retry and of post-backoff retries; at least minDelayTarget.',
    ),
  numRetries: z
    .int()
    .min(0)
    .max(100)
    .describe('Retries over all four phases. Those that the other phases leave over are backoff retries.'),
}

const shape = {
  numNoDelayRetries: z.int().min(0).describe('Retries of the first phase, without any delay. Default 0.'),
  numMinDelayRetries: z
    .int()
    .min(0)
    .describe('Retries of the second phase, minDelayTarget apart (pre-backoff). Default 0.'),
  numMaxDelayRetries: z
    .int()
    .min(0)
    .describe('Retries of the last phase, maxDelayTarget apart (post-backoff). Default 0.'),
  backoffFunction: z
    .enum(['linear', 'arithmetic', 'geometric', 'exponential'])
    .describe('How delays rise from minDelayTarget to maxDelayTarget in the third phase. Default linear.'),
}

const RETRY_RULE =
  'When failed deliveries are retried: immediate, pre-backoff, backoff and post-backoff retries, in this order.'

const throttlePolicy = z
  .strictObject({
    maxReceivesPerSecond: z
      .int()
      .min(1)
      .describe('Attempts per second at most, over all workers; retries count, too.'),
  })
  .describe('Bounds the rate of attempts at one endpoint. Without it nothing is throttled.')
const requestPolicy = z
  .strictObject({
    headerContentType: z
      .string()
      .describe(
        'Value of the `Content-Type` header of notifications; default `application/json` where the body is JSON, else, and over the AWS protocols always, `text/plain; charset=UTF-8`.',
      ),
  })
  .describe('How the request of a notification is made. Confirmations are always `text/plain`.')

const EXAMPLE: DeliveryPolicy = {
  healthyRetryPolicy: {
    minDelayTarget: 1,
    maxDelayTarget: 60,
    numRetries: 10,
    backoffFunction: 'exponential',
  },
  throttlePolicy: { maxReceivesPerSecond: 50 },
}

export const DeliveryPolicyShape = named(
  'DeliveryPolicy',
  z
    .strictObject({
      healthyRetryPolicy: z
        .strictObject({ ...retry, ...z.object(shape).partial().shape })
        .optional()
        .describe(RETRY_RULE),
      throttlePolicy: throttlePolicy.optional(),
      requestPolicy: requestPolicy.optional(),
    })
    .meta({
      description:
        'A delivery policy as Amazon SNS has it. A group that is left out is taken from the topic, then from the system. ' +
        'All delays of one message together may be 3,600 seconds unless the server allows more.',
      examples: [EXAMPLE],
    }),
)

export const EffectiveDeliveryPolicyShape = named(
  'EffectiveDeliveryPolicy',
  z
    .object({
      healthyRetryPolicy: z
        .object({
          ...retry,
          ...shape,
          numRetries: z
            .int()
            .min(0)
            .describe('Retries over all phases. Queues have a fixed policy with more than 100.'),
        })
        .describe(RETRY_RULE),
      throttlePolicy: throttlePolicy
        .nullable()
        .describe('The throttle in force; null: attempts are not throttled.'),
      requestPolicy,
    })
    .describe(
      'The policy in force: each group from the subscription, else from its topic, else from the system.',
    ),
)

const documented = z.toJSONSchema(DeliveryPolicyShape.nullable())
delete documented.$schema
delete documented.description

/** A policy as a client gives it: anything here, documented by its shape, judged by the policy package. */
export const DeliveryPolicyInput = z
  .custom<DeliveryPolicy | null>(() => true)
  .meta({
    ...(documented as Record<string, unknown>),
    description:
      'Retries, throttle and content type of attempts at webhooks. It replaces the policy as a whole; null removes it.',
  })

export const PreviewInput = namedInput(
  'RetryPreviewInput',
  z
    .strictObject({
      deliveryPolicy: DeliveryPolicyInput,
      topic: TopicReference.describe(
        'A topic by name or ARN. Its policy fills the groups that are left out; without it the system’s does.',
      ).optional(),
    })
    .meta({
      description: 'A policy to try, as a subscription would have it.',
      examples: [{ deliveryPolicy: EXAMPLE }],
    }),
)

export const PreviewAnswer = named(
  'RetryPreview',
  z
    .object({
      retries: z
        .array(
          z.object({
            retry: z.int().describe('Number of the retry; the first one after the first attempt is 1.'),
            phase: z
              .enum(['immediate', 'preBackoff', 'backoff', 'postBackoff'])
              .describe('Which of the four phases the retry belongs to.'),
            delaySeconds: z
              .number()
              .describe('Nominal wait before this retry, from the end of the attempt before.'),
            atSeconds: z.number().describe('Sum of the delays so far: seconds after the first attempt.'),
          }),
        )
        .describe('Every retry of a delivery that keeps failing, in order.'),
      totalSeconds: z
        .number()
        .describe('Sum of all delays in seconds; the retry policy’s bound applies to it.'),
      jitter: z
        .number()
        .describe(
          'Share by which each delay varies at random: 0.1 means 0.9 to 1.1 times the nominal delay.',
        ),
    })
    .meta({
      description: 'The nominal times of all retries under a policy.',
      examples: [
        {
          retries: [
            { retry: 1, phase: 'immediate', delaySeconds: 0, atSeconds: 0 },
            { retry: 2, phase: 'backoff', delaySeconds: 20, atSeconds: 20 },
          ],
          totalSeconds: 20,
          jitter: 0.1,
        },
      ],
    }),
)
