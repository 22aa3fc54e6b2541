/**
 * Schemas of delivery policies. Their rules compare several members, so `checkDeliveryPolicy` (policy) checks them.
 * These schemas only document.
 */
import { z } from 'zod'
import { RETENTION_SECONDS_MAX, RETRY_ON_DEFAULT, RETRY_ON_MEMBERS_MAX } from '../limits.ts'
import type { DeliveryPolicy } from '../records.ts'
import { named, namedInput, shownAs, TopicReference } from './shared-schemas.ts'

const retry = {
  minDelayTarget: z
    .int()
    .min(1)
    .max(RETENTION_SECONDS_MAX)
    .describe('Delay in seconds of pre-backoff retries and of the first backoff retry.'),
  maxDelayTarget: z
    .int()
    .min(1)
    .max(RETENTION_SECONDS_MAX)
    .describe(
      'Delay in seconds of the last backoff retry and of post-backoff retries; at least minDelayTarget.',
    ),
  numRetries: z
    .int()
    .min(0)
    .max(100)
    .describe('Retries over all four phases. Retries that belong to no other phase are backoff retries.'),
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

const defaults = RETRY_ON_DEFAULT.map((status) => `\`${status}\``)
/** `Intl` would load all languages when a service starts. */
const usuallyRetried = `${defaults.slice(0, -1).join(', ')} and ${defaults.at(-1)}`
const RetriedStatus = named(
  'RetriedStatus',
  z
    .union([z.int().min(100).max(599), z.string().regex(/^[1345](\d\d|xx)$/i)])
    .describe('A status like 404, or a class of statuses like `5xx`.'),
)
const retryOn = z
  .array(RetriedStatus)
  .max(RETRY_ON_MEMBERS_MAX)
  .describe(
    'Statuses that are retried, like 404, or classes of them, like `5xx`; no others are. ' +
      `Default ${usuallyRetried}. An attempt without an answer is always retried.`,
  )
const preset = z
  .string()
  .describe(
    'A named curve: `quick` (a minute), `steady` (an hour) or `patient` (a day). It sets the numbers. Other ' +
      'members replace them. POST /v1/delivery-policies/preview lists the presets.',
  )

const RETRY_RULE =
  'When failed deliveries are retried: immediate, pre-backoff, backoff and post-backoff retries, in this order.'

const throttlePolicy = z
  .strictObject({
    maxReceivesPerSecond: z
      .number()
      .min(0.001)
      .describe(
        'The most attempts per second, over all workers and with retries. A value below 1 means a pause, such as 5 s for ' +
          '0.2. From 1 on it is a whole number.',
      ),
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
  .describe(
    'How the request of a notification is made. Confirmations are `application/json`; over the AWS protocols `text/plain`.',
  )

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
        .strictObject({ ...z.object({ ...retry, ...shape }).partial().shape, retryOn: retryOn.optional() })
        .optional()
        .describe(`${RETRY_RULE} The default, 3 retries 20 s apart, fills members that are left out.`),
      throttlePolicy: throttlePolicy.optional(),
      requestPolicy: requestPolicy.optional(),
    })
    .meta({
      description:
        'A delivery policy as Amazon SNS has it, and more. A group that is left out is taken from the topic, then from the ' +
        'system. All delays of one message together may be 14 days; deliveries end when the topic’s retention does.',
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
          retryOn: retryOn.optional(),
        })
        .describe(RETRY_RULE),
      throttlePolicy: throttlePolicy
        .nullable()
        .describe('The throttle in force; null: attempts are not throttled.'),
      requestPolicy: z
        .object({
          headerContentType: z
            .string()
            .nullable()
            .describe(
              'Content type of notifications. null: `application/json` if the body is JSON, else ' +
                '`text/plain; charset=UTF-8`. Subscriptions of the AWS protocols without one of their own, or of their ' +
                'topic, have `text/plain; charset=UTF-8`.',
            ),
        })
        .describe('How the request of a notification is made.'),
    })
    .describe(
      'The policy in force: each group from the subscription, else from its topic, else from the system.',
    ),
)

/** A policy as clients give it. It may name a preset, whose numbers are stored instead. */
const GivenPolicy = namedInput(
  'DeliveryPolicyInput',
  DeliveryPolicyShape.extend({
    healthyRetryPolicy: z
      .strictObject({ preset, ...z.object({ ...retry, ...shape }).shape, retryOn })
      .partial()
      .optional()
      .describe(
        `${RETRY_RULE} The preset, or the default of 3 retries 20 s apart, fills members that are left out.`,
      ),
  }).meta({
    description:
      'A delivery policy that is to be set. It may name a preset, whose numbers are stored instead.',
    examples: [EXAMPLE],
  }),
)

/** The policy package checks it. */
export const DeliveryPolicyInput = shownAs(
  GivenPolicy,
  z.custom<DeliveryPolicy>(() => true),
)
  .nullable()
  .describe(
    'Retries, throttle and content type of attempts at webhooks. It replaces the policy as a whole; null removes it.',
  )

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
      retentionSeconds: z
        .int()
        .describe('How long the topic keeps messages. Without a topic: the default of topics.'),
      retentionEndsFirst: z
        .boolean()
        .describe('true: the topic’s retention ends before the last retry, and the delivery with it.'),
      jitter: z
        .number()
        .describe(
          'Share by which each delay varies at random: 0.1 means 0.9 to 1.1 times the nominal delay.',
        ),
      presets: z
        .array(
          z.object({
            name: z.string().describe('Name for `preset` of a retry policy.'),
            description: z.string().describe('How long it lasts, and what it is for.'),
            healthyRetryPolicy: z.object({ ...retry, ...shape }).describe('The numbers that it sets.'),
            totalSeconds: z.number().describe('Sum of its delays in seconds.'),
          }),
        )
        .describe('The named curves. They are the same in every answer.'),
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
          retentionSeconds: 345_600,
          retentionEndsFirst: false,
          jitter: 0.1,
          presets: [
            {
              name: 'quick',
              description: 'About a minute, growing: for messages that are worth little when they come late.',
              healthyRetryPolicy: {
                minDelayTarget: 1,
                maxDelayTarget: 30,
                numRetries: 6,
                numNoDelayRetries: 0,
                numMinDelayRetries: 0,
                numMaxDelayRetries: 0,
                backoffFunction: 'exponential',
              },
              totalSeconds: 59.323,
            },
          ],
        },
      ],
    }),
)
