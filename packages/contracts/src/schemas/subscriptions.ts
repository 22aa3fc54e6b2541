/** Subscriptions over REST. */
import { z } from 'zod'
import { ENDPOINT_CHARS_MAX, MAX_IN_FLIGHT_DEFAULT, MAX_IN_FLIGHT_MAX } from '../limits.ts'
import {
  DeliveryPolicyInput,
  DeliveryPolicyShape,
  EffectiveDeliveryPolicyShape,
} from './delivery-policies.ts'
import { OutboundInput, OutboundView } from './outbound.ts'
import { named, pageOf, pageQuery, QueueReference, Timestamp, TopicReference } from './shared.ts'

const FilterPolicy = z.record(z.string(), z.unknown())
const FilterPolicyScope = z.enum(['MessageAttributes', 'MessageBody'])

const settings = {
  deliveryPolicy: DeliveryPolicyInput.optional(),
  rawMessageDelivery: z.boolean().nullish(),
  redrivePolicy: z.strictObject({ deadLetterTargetArn: QueueReference }).nullish(),
  filterPolicy: FilterPolicy.nullish().describe(
    'Which messages it gets, in SNS’s filter language; default all',
  ),
  filterPolicyScope: FilterPolicyScope.nullish().describe(
    'What the filter looks at; default MessageAttributes',
  ),
  maxInFlight: z
    .int()
    .min(1)
    .max(MAX_IN_FLIGHT_MAX)
    .nullish()
    .describe(`Attempts at a time per worker; default ${MAX_IN_FLIGHT_DEFAULT}`),
  outbound: OutboundInput.nullish().describe('How the endpoint is reached beyond its URL; default plainly'),
}

const Protocol = z.enum(['http', 'https', 'sqs'])
const Status = z.enum(['pending', 'active', 'paused'])
const Confirmation = z.enum(['none', 'handshake'])

export const NewSubscriptionInput = z.strictObject({
  endpoint: z.string().min(1).max(ENDPOINT_CHARS_MAX).describe('An http(s) URL or a queue’s ARN'),
  protocol: Protocol.optional().describe('Follows from the endpoint'),
  confirmation: Confirmation.optional().describe(
    'handshake: pending until the endpoint confirms; default none',
  ),
  ...settings,
})

/** `null` resets a member. */
export const SubscriptionInput = z.strictObject(settings)

export const SUBSCRIPTION_FIXED = ['endpoint', 'protocol', 'confirmation', 'status'] as const

export const LaneView = z.object({
  waiting: z.int(),
  inFlight: z.int(),
  oldestWaitingSeconds: z.number().nullable(),
  nextAttemptAt: Timestamp.nullable(),
  drainSeconds: z.number().nullable().describe('Until a throttled lane is empty, at its rate'),
  rate: z.number().nullable().describe('Deliveries a second; null without a throttle'),
  lastError: z.string().nullable(),
  lastStatusCode: z.int().nullable(),
})

export const SubscriptionView = named(
  'Subscription',
  z.object({
    id: z.string(),
    arn: z.string(),
    topicArn: z.string(),
    protocol: Protocol,
    endpoint: z.string().describe('A password in it is masked'),
    status: Status,
    rawMessageDelivery: z.boolean(),
    deliveryPolicy: DeliveryPolicyShape.nullable(),
    effectiveDeliveryPolicy: EffectiveDeliveryPolicyShape,
    redrivePolicy: z.object({ deadLetterTargetArn: z.string() }).nullable(),
    filterPolicy: FilterPolicy.nullable(),
    filterPolicyScope: FilterPolicyScope,
    maxInFlight: z.int(),
    outbound: OutboundView.nullable(),
    confirmation: Confirmation,
    confirmationExpiresAt: Timestamp.nullable().describe(
      'Of a pending one: when it is removed unless confirmed',
    ),
    createdAt: Timestamp,
    lane: LaneView,
  }),
)

export const SubscriptionListQuery = z.strictObject({
  topic: TopicReference.optional(),
  endpoint: z.string().optional(),
  status: Status.optional(),
  ...pageQuery,
})
export const SubscriptionList = pageOf('subscriptions', SubscriptionView)

export const ConfirmInput = z.strictObject({ token: z.string().min(1).max(1_024) })
export const RetryInput = z.strictObject({
  maxPerSecond: z.number().positive().max(100_000).optional().describe('Spreads the attempts out'),
})
export const MovedAnswer = z.object({ moved: z.int() })
export const DiscardedAnswer = z.object({ discarded: z.int() })
export const TestAnswer = z.object({
  statusCode: z.int().nullable(),
  durationMs: z.number(),
  error: z.string().optional(),
})
