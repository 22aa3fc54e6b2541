/** Subscriptions over REST. */
import { z } from 'zod'
import {
  CIRCUIT_FAILURES_DEFAULT,
  CIRCUIT_FAILURES_MAX,
  CIRCUIT_PROBE_SECONDS_DEFAULT,
  CIRCUIT_PROBE_SECONDS_MAX,
  ENDPOINT_CHARS_MAX,
  MAX_IN_FLIGHT_DEFAULT,
  MAX_IN_FLIGHT_MAX,
} from '../limits.ts'
import { PROTOCOLS } from '../protocols.ts'
import { RETRY_MODES } from '../records.ts'
import {
  DeliveryPolicyInput,
  DeliveryPolicyShape,
  EffectiveDeliveryPolicyShape,
} from './delivery-policy-schemas.ts'
import { OutboundInput, OutboundView } from './outbound-schemas.ts'
import { named, pageOf, pageQuery, QueueReference, Timestamp, TopicReference } from './shared-schemas.ts'

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
  retryMode: z
    .enum(RETRY_MODES)
    .nullish()
    .describe(
      'policy: retries follow the curve alone (default); standard: they also draw on a quota; adaptive: and the rate falls and recovers with the endpoint',
    ),
  circuitBreaker: z
    .strictObject({
      failures: z
        .int()
        .min(1)
        .max(CIRCUIT_FAILURES_MAX)
        .default(CIRCUIT_FAILURES_DEFAULT)
        .describe(`Failures in a row that open it; default ${CIRCUIT_FAILURES_DEFAULT}`),
      probeSeconds: z
        .int()
        .min(1)
        .max(CIRCUIT_PROBE_SECONDS_MAX)
        .default(CIRCUIT_PROBE_SECONDS_DEFAULT)
        .describe(`Between attempts while it is open; default ${CIRCUIT_PROBE_SECONDS_DEFAULT}`),
    })
    .nullish()
    .describe(
      'Stops attempts at a dead endpoint and asks from time to time whether it is back; default none',
    ),
  outbound: OutboundInput.nullish().describe('How the endpoint is reached beyond its URL; default plainly'),
}

const Protocol = z.enum(PROTOCOLS)
const Status = z.enum(['pending', 'active', 'paused'])
const Confirmation = z.enum(['none', 'handshake'])

export const NewSubscriptionInput = z
  .strictObject({
    endpoint: z.string().min(1).max(ENDPOINT_CHARS_MAX).describe('An http(s) URL or a queue’s ARN'),
    protocol: Protocol.optional().describe('Follows from the endpoint'),
    confirmation: Confirmation.optional().describe(
      'handshake: pending until the endpoint confirms; default none',
    ),
    ...settings,
  })
  .meta({ examples: [{ endpoint: 'https://example.com/hook', filterPolicy: { color: ['red'] } }] })

/** `null` resets a member. */
export const SubscriptionInput = z.strictObject(settings)

export const SUBSCRIPTION_FIXED = ['endpoint', 'protocol', 'confirmation', 'status'] as const

const LaneView = z.object({
  waiting: z.int(),
  inFlight: z.int(),
  oldestWaitingSeconds: z.number().nullable(),
  nextAttemptAt: Timestamp.nullable(),
  drainSeconds: z.number().nullable().describe('Until a throttled lane is empty, at its rate'),
  rate: z
    .number()
    .nullable()
    .describe('Deliveries a second, the lower of the throttle and the adaptive rate; null without both'),
  lastError: z.string().nullable(),
  lastStatusCode: z.int().nullable(),
  retryQuota: z.number().nullable().describe('What is left of it, of 500; null where retryMode is policy'),
  circuit: z.enum(['closed', 'open']).nullable().describe('null without a circuit breaker'),
  nextProbeAt: Timestamp.nullable().describe('While the circuit is open'),
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
    retryMode: z.enum(RETRY_MODES),
    circuitBreaker: z.object({ failures: z.int(), probeSeconds: z.int() }).nullable(),
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
export const TopicSubscriptionListQuery = SubscriptionListQuery.omit({ topic: true })
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
