/** Subscriptions over REST. */
import { z } from 'zod'
import {
  CIRCUIT_FAILURES_DEFAULT,
  CIRCUIT_FAILURES_MAX,
  CIRCUIT_PROBE_SECONDS_DEFAULT,
  CIRCUIT_PROBE_SECONDS_MAX,
  ENDPOINT_CHARS_MAX,
  EVENT_TYPES_CHOSEN_MAX,
  GROUP_RATE_MIN,
  GROUP_RATES_MAX,
  MAX_IN_FLIGHT_DEFAULT,
  MAX_IN_FLIGHT_MAX,
  METADATA_KEY_CHARS_MAX,
  METADATA_MEMBERS_MAX,
  METADATA_VALUE_CHARS_MAX,
  SUBSCRIPTION_NAME_CHARS_MAX,
} from '../../limits.ts'
import { PROTOCOLS } from '../../protocols.ts'
import { ON_GONE, PAUSE_CAUSES, RETRY_MODES } from '../../records.ts'
import { SYSTEM_POLICY } from '../../system-policy.ts'
import {
  DeliveryPolicyInput,
  DeliveryPolicyShape,
  EffectiveDeliveryPolicyShape,
} from '../delivery-policy-schemas.ts'
import { FifoId } from '../messages/message-schemas.ts'
import { OutboundInput, OutboundView } from '../outbound-schemas.ts'
import {
  Attributes,
  attributesInput,
  CreatedAt,
  EventTypePattern,
  givenMap,
  MetadataMember,
  named,
  namedInput,
  pageOf,
  pageQuery,
  QueueReference,
  Timestamp,
  TopicReference,
} from '../shared-schemas.ts'
import { LANE_EXAMPLE, LaneView, VERDICT_EXAMPLE, VerdictView } from './lane-schemas.ts'

const FilterPolicy = z.record(z.string(), z.unknown())
const FilterPolicyInput = givenMap(z.string(), z.unknown())
const FilterPolicyScope = z.enum(['MessageAttributes', 'MessageBody'])

const EVENT_TYPES =
  'Which event types it gets, in addition to what its filter policy asks: names, `order.*` for every type below `order.`, ' +
  'or `*` for every message with a type.'

export const EventTypesChosen = z.array(EventTypePattern).min(1).max(EVENT_TYPES_CHOSEN_MAX)

const RETRY_MODE =
  'policy: retries follow the retry policy alone. standard: they also draw on a quota. adaptive: and the rate of ' +
  'attempts falls and recovers with the endpoint.'

const ON_GONE_TEXT =
  'After a 410 (Gone) of the endpoint. pause: the subscription is paused, and its messages wait. deadLetter: the ' +
  'delivery has failed permanently.'
const ON_GONE_DEFAULT = 'Default pause, or deadLetter if an AWS protocol made the subscription.'
const SVIX_HEADERS =
  'Whether the signatures of webhook keys are also sent as `svix-id`, `svix-timestamp` and `svix-signature`.'

const CircuitBreakerInput = z.strictObject({
  failures: z
    .int()
    .min(1)
    .max(CIRCUIT_FAILURES_MAX)
    .default(CIRCUIT_FAILURES_DEFAULT)
    .describe(`Failures in a row that open the circuit. Default ${CIRCUIT_FAILURES_DEFAULT}.`),
  probeSeconds: z
    .int()
    .min(1)
    .max(CIRCUIT_PROBE_SECONDS_MAX)
    .default(CIRCUIT_PROBE_SECONDS_DEFAULT)
    .describe(
      `Seconds between two attempts while the circuit is open. Default ${CIRCUIT_PROBE_SECONDS_DEFAULT}.`,
    ),
})

const GroupRate = z
  .number()
  .min(GROUP_RATE_MIN)
  .refine((rate) => rate < 1 || Number.isInteger(rate), 'must be a whole number from 1 on, or less than 1')

const GroupThrottleInput = z
  .strictObject({
    maxReceivesPerSecond: GroupRate.nullish().describe(
      'The most attempts per second for each message group without an override. Default: no bound.',
    ),
    overrides: givenMap(FifoId, GroupRate)
      .refine(
        (rates) => Object.keys(rates).length <= GROUP_RATES_MAX,
        `must have at most ${GROUP_RATES_MAX} groups`,
      )
      .optional()
      .describe(`Rates of single groups, at most ${GROUP_RATES_MAX}.`),
  })
  .refine(
    ({ maxReceivesPerSecond, overrides = {} }) =>
      typeof maxReceivesPerSecond === 'number' || Object.keys(overrides).length > 0,
    'must have maxReceivesPerSecond or overrides',
  )

const GROUP_THROTTLE =
  'Bounds the rate of attempts for each message group, over all workers, in addition to the throttle of the whole ' +
  'subscription.'

const MetadataKey = z
  .string()
  .regex(
    new RegExp(`^[A-Za-z0-9_.-]{1,${METADATA_KEY_CHARS_MAX}}$`),
    `must have 1 to ${METADATA_KEY_CHARS_MAX} of A-Z a-z 0-9 _ . -`,
  )
const Metadata = givenMap(MetadataKey, z.string().max(METADATA_VALUE_CHARS_MAX))

const settings = {
  name: z
    .string()
    .min(1)
    .max(SUBSCRIPTION_NAME_CHARS_MAX)
    .nullish()
    .describe(
      `Name for people, up to ${SUBSCRIPTION_NAME_CHARS_MAX} characters; it need not be unique. Default: none.`,
    ),
  metadata: Metadata.refine(
    (metadata) => Object.keys(metadata).length <= METADATA_MEMBERS_MAX,
    `must have at most ${METADATA_MEMBERS_MAX} members`,
  )
    .nullish()
    .describe(
      `Your own words about it, up to ${METADATA_MEMBERS_MAX} texts by key. A change replaces all of them. Default: none.`,
    ),
  deliveryPolicy: DeliveryPolicyInput.optional(),
  rawMessageDelivery: z
    .boolean()
    .nullish()
    .describe('true: the bare message is delivered instead of SNS’s JSON envelope. Default false.'),
  redrivePolicy: z
    .strictObject({
      deadLetterTargetArn: QueueReference.optional().describe(
        'The dead-letter queue, by its name or ARN. It must exist, unless createQueue is true. Default: the topic’s own.',
      ),
      createQueue: z
        .boolean()
        .optional()
        .describe('true: the dead-letter queue is made if there is none. Default false.'),
    })
    .refine(
      ({ deadLetterTargetArn, createQueue }) =>
        deadLetterTargetArn !== undefined || createQueue === undefined,
      { error: 'is for a queue that deadLetterTargetArn names', path: ['createQueue'] },
    )
    .nullish()
    .describe(
      'The queue for deliveries that failed permanently. `{}`, the default of a new one: to the topic’s own dead-letter queue, ' +
        'which the first of them makes. null: they are discarded and counted.',
    ),
  filterPolicy: FilterPolicyInput.nullish().describe(
    'Which messages it gets, in SNS’s filter language: per key a list of alternatives. Default: all.',
  ),
  filterPolicyScope: FilterPolicyScope.nullish().describe(
    'Whether the filter looks at attributes or at the message as JSON. Default MessageAttributes.',
  ),
  eventTypes: EventTypesChosen.nullish().describe(
    `${EVENT_TYPES} At most ${EVENT_TYPES_CHOSEN_MAX}. Default: all messages.`,
  ),
  maxInFlight: z
    .int()
    .min(1)
    .max(MAX_IN_FLIGHT_MAX)
    .nullish()
    .describe(`Attempts at a time per worker, at most. Default ${MAX_IN_FLIGHT_DEFAULT}.`),
  retryMode: z.enum(RETRY_MODES).nullish().describe(`${RETRY_MODE} Webhooks only. Default policy.`),
  circuitBreaker: CircuitBreakerInput.nullish().describe(
    'Stops attempts at a dead endpoint and probes from time to time whether it is back. Webhooks only. Default none.',
  ),
  groupThrottle: GroupThrottleInput.nullish().describe(`${GROUP_THROTTLE} Webhooks only. Default none.`),
  onGone: z.enum(ON_GONE).nullish().describe(`${ON_GONE_TEXT} Webhooks only. ${ON_GONE_DEFAULT}`),
  svixHeaders: z.boolean().nullish().describe(`${SVIX_HEADERS} Webhooks only. Default false.`),
  outbound: OutboundInput.nullish().describe(
    'How the endpoint is reached beyond its URL: proxy, certificates, headers. Webhooks only. Default: plainly.',
  ),
  attributes: attributesInput('`SubscriptionRoleArn`'),
}

const Protocol = z.enum(PROTOCOLS)
const Status = z.enum(['pending', 'active', 'paused'])
const Confirmation = z.enum(['none', 'handshake'])
const Origin = z.enum(['native', 'aws'])
const ORIGIN =
  'native: as made over this API. aws: as made over an AWS protocol, so that webhooks get requests in the form of ' +
  'SNS: its content type, user agent and headers. After a 410 a delivery has failed, and without a redrive policy it ' +
  'is discarded.'

export const NewSubscriptionInput = namedInput(
  'NewSubscription',
  z
    .strictObject({
      endpoint: z
        .string()
        .min(1)
        .max(ENDPOINT_CHARS_MAX)
        .describe(
          'An http or https URL, the ARN of a queue, function, delivery stream or platform endpoint, a mail address, or a phone number. With the protocol sqs, lambda or firehose its name will do.',
        ),
      protocol: Protocol.optional().describe(
        'Must agree with the endpoint. Default: what the endpoint says.',
      ),
      confirmation: Confirmation.optional().describe(
        'handshake: pending until the endpoint confirms; webhooks and mail, which needs it. Default none, for mail handshake.',
      ),
      origin: Origin.optional().describe(`${ORIGIN} Default native.`),
      status: z
        .literal('paused')
        .optional()
        .describe(
          'paused: messages wait from the beginning. Not with a handshake. It does not change an existing subscription. Default: active.',
        ),
      ...settings,
    })
    .meta({
      description: 'A subscription to be made: an endpoint and how messages are delivered to it.',
      examples: [
        { endpoint: 'https://example.com/hook', filterPolicy: { color: ['red'] }, name: 'Red ones' },
        { endpoint: 'arn:aws:sqs:us-east-1:000000000000:jobs', rawMessageDelivery: true },
      ],
    }),
)

/** `null` resets a member. */
export const SubscriptionInput = namedInput(
  'SubscriptionInput',
  z
    .strictObject({
      endpoint: z
        .string()
        .min(1)
        .max(ENDPOINT_CHARS_MAX)
        .optional()
        .describe(
          'Moves the subscription to this endpoint of the same protocol. Id, settings and what waits stay. Goes with ' +
            '`outbound` alone.',
        ),
      ...settings,
    })
    .meta({
      description: 'Settings of a subscription. Members that are left out stay as they are; null resets one.',
      examples: [
        { maxInFlight: 8, redrivePolicy: { deadLetterTargetArn: 'dead' } },
        { endpoint: 'https://example.com/new-hook' },
      ],
    }),
)

export const SUBSCRIPTION_FIXED = ['protocol', 'confirmation', 'origin', 'status'] as const

export const SUBSCRIPTION_EXAMPLE = {
  id: '0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012',
  arn: 'arn:aws:sns:us-east-1:000000000000:orders:0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012',
  topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
  protocol: 'https',
  endpoint: 'https://example.com/hook',
  pendingEndpoint: null,
  name: 'Billing',
  metadata: { team: 'payments' },
  origin: 'native',
  status: 'active',
  pausedBecause: null,
  onGone: 'pause',
  svixHeaders: false,
  rawMessageDelivery: false,
  deliveryPolicy: null,
  effectiveDeliveryPolicy: { ...SYSTEM_POLICY, requestPolicy: { headerContentType: 'application/json' } },
  customerRate: null,
  redrivePolicy: { deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:dead' },
  onFailure: 'after 4 attempts in 1 min to dead; at once if refused permanently',
  filterPolicy: { color: ['red'] },
  filterPolicyScope: 'MessageAttributes',
  eventTypes: ['order.*'],
  maxInFlight: 32,
  retryMode: 'policy',
  circuitBreaker: null,
  groupThrottle: null,
  outbound: null,
  attributes: {},
  confirmation: 'none',
  confirmationExpiresAt: null,
  createdAt: '2026-11-21T09:30:00.000Z',
  lane: LANE_EXAMPLE,
  verdict: VERDICT_EXAMPLE,
}

export const SubscriptionView = named(
  'Subscription',
  z
    .object({
      id: z.string().describe('Id of the subscription: a UUID, which stays for its life.'),
      arn: z.string().describe('Amazon resource name: the topic’s ARN, a colon and the id.'),
      topicArn: z.string().describe('ARN of the topic whose messages it gets.'),
      protocol: Protocol.describe(
        'How it is delivered to: `http` and `https` webhooks, an `sqs` queue, a `lambda` function, a `firehose` stream, mail (`email`, `email-json`), text messages (`sms`), or mobile push (`application`).',
      ),
      endpoint: z
        .string()
        .describe('URL, ARN, mail address or phone number that is delivered to; a password in it is masked.'),
      pendingEndpoint: z
        .string()
        .nullable()
        .describe(
          'The endpoint to which it moves once that endpoint has confirmed; a password is masked. null: nowhere.',
        ),
      name: z.string().nullable().describe('Name for people; null: none.'),
      metadata: z
        .record(z.string(), z.string())
        .describe('The caller’s own words about it by key; empty where there are none.'),
      origin: Origin.describe(ORIGIN),
      status: Status.describe(
        'pending: waits for its confirmation; active: gets messages; paused: messages are kept for it.',
      ),
      pausedBecause: z
        .enum(PAUSE_CAUSES)
        .nullable()
        .describe(
          'Why Fantail itself paused it. gone: the endpoint answered 410. failing: it had failed for the topic’s `disableAfterDays`. A resume ends the pause. null: Fantail did not.',
        ),
      onGone: z.enum(ON_GONE).nullable().describe(`${ON_GONE_TEXT} null: not a webhook.`),
      svixHeaders: z.boolean().describe(SVIX_HEADERS),
      rawMessageDelivery: z
        .boolean()
        .describe('Whether the bare message is delivered instead of SNS’s JSON envelope.'),
      deliveryPolicy: DeliveryPolicyShape.nullable().describe(
        'The policy set on the subscription itself; null: none.',
      ),
      effectiveDeliveryPolicy: EffectiveDeliveryPolicyShape,
      customerRate: z
        .number()
        .nullable()
        .describe(
          'The rate that a customer has set in the portal, in requests a second. The lower one of it and the throttle holds. null: none.',
        ),
      redrivePolicy: z
        .object({
          deadLetterTargetArn: z
            .string()
            .optional()
            .describe('ARN of the dead-letter queue that takes them.'),
        })
        .nullable()
        .describe(
          'The queue for deliveries that failed permanently. `{}`: to the topic’s own queue. null: they are discarded and counted.',
        ),
      onFailure: z
        .string()
        .describe(
          'The fate of a delivery that keeps failing with a retried status, in words: how many attempts, for how long, and ' +
            'where it goes. A delivery that is refused permanently goes there after that attempt.',
        ),
      filterPolicy: FilterPolicy.nullable().describe(
        'Which messages it gets, in SNS’s filter language; null: all.',
      ),
      filterPolicyScope: FilterPolicyScope.describe(
        'Whether the filter looks at attributes or at the message as JSON.',
      ),
      eventTypes: z.array(z.string()).nullable().describe(`${EVENT_TYPES} null: all messages.`),
      maxInFlight: z.int().describe('Attempts at a time per worker, at most.'),
      retryMode: z.enum(RETRY_MODES).describe(RETRY_MODE),
      circuitBreaker: z
        .object({
          failures: z.int().describe('Failures in a row that open the circuit.'),
          probeSeconds: z.int().describe('Seconds between two attempts while the circuit is open.'),
        })
        .nullable()
        .describe('Stops attempts at a dead endpoint; null: there is none.'),
      groupThrottle: z
        .object({
          maxReceivesPerSecond: z
            .number()
            .nullish()
            .describe('The rate of each group without an override; null: no bound.'),
          overrides: z.record(z.string(), z.number()).optional().describe('Rates of single groups.'),
        })
        .nullable()
        .describe(`${GROUP_THROTTLE} null: there is none.`),
      outbound: OutboundView.nullable().describe(
        'How the endpoint is reached beyond its URL; null: plainly.',
      ),
      attributes: Attributes,
      confirmation: Confirmation.describe('Whether the endpoint has to confirm before it gets messages.'),
      confirmationExpiresAt: Timestamp.nullable().describe(
        'When a pending subscription is removed, or a move is given up, unless confirmed: ISO 8601 in UTC. null: nothing is pending.',
      ),
      createdAt: CreatedAt,
      lane: LaneView,
      verdict: VerdictView,
      warning: z
        .string()
        .optional()
        .describe('Only after a change: something that you may not have meant, such as unknown event types.'),
    })
    .meta({
      description: 'A subscription: where a topic’s messages go, and how.',
      examples: [SUBSCRIPTION_EXAMPLE],
    }),
)

export const SubscriptionListQuery = z.strictObject({
  topic: TopicReference.optional().describe('Only subscriptions of this topic, by its name or ARN.'),
  endpoint: z
    .string()
    .optional()
    .describe('Only subscriptions of exactly this URL or queue ARN, credentials included.'),
  status: Status.optional().describe('Only subscriptions with this status. Default: all.'),
  name: z.string().optional().describe('Only subscriptions of exactly this name.'),
  metadata: MetadataMember.optional().describe(
    'Only subscriptions whose metadata has this member: a key, a colon and the value.',
  ),
  ...pageQuery,
})
export const TopicSubscriptionListQuery = SubscriptionListQuery.omit({ topic: true })
export const SubscriptionList = named('SubscriptionList', pageOf('subscriptions', SubscriptionView))
