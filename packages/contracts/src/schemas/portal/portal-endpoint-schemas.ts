/**
 * Endpoints of a portal session over REST. A session does not see how requests are made: no headers, proxy,
 * certificates or filters. Problems are sentences for customers.
 */
import { z } from 'zod'
import type { VerdictCode } from '../../lanes/lane-words.ts'
import { ENDPOINT_CHARS_MAX, EVENT_TYPE_NAME_CHARS_MAX, SUBSCRIPTION_NAME_CHARS_MAX } from '../../limits.ts'
import { named, namedInput, pageOf, pageQuery, timestamp } from '../shared-schemas.ts'
import { EventTypesChosen } from '../subscriptions/subscription-schemas.ts'

/** Text that endpoints are looked for by. Past it: `validation_failed`. */
const PORTAL_SEARCH_CHARS_MAX = 100

/** The states of endpoints in the portal, which are fewer than the verdicts. */
export const PORTAL_STATES = ['working', 'failing', 'paused', 'pending'] as const
/** Verdicts that customers see. All others are about the operator's side, and show as undispatched. */
export const PORTAL_VERDICTS = [
  'gone',
  'paused',
  'pending',
  'circuitOpen',
  'failing',
  'hung',
  'groupBlocked',
  'tooSlowIn',
  'throttled',
  'undispatched',
  'catchingUp',
  'fine',
] as const satisfies readonly VerdictCode[]

const PortalState = z
  .enum(PORTAL_STATES)
  .describe(
    'failing: attempts fail, or nothing can be sent. working: all others, also before the first message.',
  )

export const PortalEndpointReference = z.string().describe('Id of an endpoint of the portal session.')

export const PortalTopicReference = z.string().describe('Name of a topic of the portal session.')

export const PortalTopicList = named(
  'PortalTopicList',
  z
    .object({
      topics: z.array(z.string()).describe('Names of the topics of the session.'),
      complete: z.boolean().describe('false: there are more than the list has.'),
    })
    .meta({
      description: 'Topics of a portal session.',
      examples: [{ topics: ['acme-orders'], complete: true }],
    }),
)

const ENDPOINT = {
  id: '0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012',
  topic: 'acme-orders',
  endpoint: 'https://acme.example.com/hook',
  pendingEndpoint: null,
  name: null,
  eventTypes: null,
  status: 'active',
  state: 'working',
  maxPerSecond: null,
  perSecond: null,
  waiting: 0,
  inFlight: 0,
  verdict: 'fine',
  lastStatusCode: null,
  nextAttemptAt: null,
  createdAt: '2026-11-21T09:30:00.000Z',
}

const members = {
  id: z.string().describe('Id of the endpoint’s subscription, a UUID.'),
  topic: z.string().describe('Name of the topic whose messages it gets.'),
  endpoint: z.string().describe('The address that its messages go to. Credentials in it are masked.'),
  pendingEndpoint: z
    .string()
    .nullable()
    .describe('The address to which it moves once that address has confirmed; null: nowhere.'),
  name: z.string().nullable().describe('The name that it was given; null: none.'),
  status: z.enum(['pending', 'active', 'paused']).describe('pending: the endpoint must confirm first.'),
  state: PortalState,
  eventTypes: z
    .array(z.string())
    .nullable()
    .describe('Event types that it gets, by names and patterns like `order.*`; null: all messages.'),
  maxPerSecond: z
    .number()
    .nullable()
    .describe('The rate that the customer has set, in requests a second; null: none.'),
  perSecond: z
    .number()
    .nullable()
    .describe('The rate in force: the lower one of the customer’s and the service’s; null: unlimited.'),
  waiting: z.int().describe('Deliveries that wait for an attempt.'),
  inFlight: z.int().describe('Deliveries whose attempt is under way.'),
  verdict: z
    .enum(PORTAL_VERDICTS)
    .describe('Its state, as in the verdict of a subscription. undispatched: messages wait in the service.'),
  lastStatusCode: z
    .int()
    .nullable()
    .describe('HTTP status of the latest failure; null: there was none, or a success came after it.'),
  nextAttemptAt: z.string().nullable().describe('When the next attempt comes, ISO 8601 in UTC; null: none.'),
  createdAt: timestamp('When it was created'),
}

export const PortalEndpoint = named(
  'PortalEndpoint',
  z.object(members).meta({ description: 'An endpoint of a portal session.', examples: [ENDPOINT] }),
)

export const NewPortalEndpointView = named(
  'CreatedPortalEndpoint',
  z
    .object({
      ...members,
      secret: z
        .string()
        .describe('The secret of its signatures, `whsec_…`. It is in this answer and in no other.'),
    })
    .meta({
      description: 'An endpoint that was just added. Every request to it is signed.',
      examples: [{ ...ENDPOINT, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }],
    }),
)

export const PortalEndpointList = named(
  'PortalEndpointList',
  pageOf('endpoints', PortalEndpoint).meta({
    description: 'A page of the endpoints of a portal session.',
    examples: [{ endpoints: [ENDPOINT], nextCursor: null }],
  }),
)

export const PortalEndpointQuery = z.strictObject({
  topic: z.string().optional().describe('Only endpoints of the topic with this name.'),
  eventType: z
    .string()
    .min(1)
    .max(EVENT_TYPE_NAME_CHARS_MAX)
    .optional()
    .describe('Only endpoints that get messages of this event type.'),
  state: PortalState.optional(),
  q: z
    .string()
    .min(1)
    .max(PORTAL_SEARCH_CHARS_MAX)
    .optional()
    .describe('Only endpoints with this text in their name or address, in upper or lower case.'),
  ...pageQuery,
})

const Address = z
  .string()
  .max(ENDPOINT_CHARS_MAX)
  .regex(/^https?:\/\//i, 'Enter an https address')
  .describe('An http or https URL.')
const Name = z
  .string()
  .min(1)
  .max(SUBSCRIPTION_NAME_CHARS_MAX)
  .describe('A text by which people know the endpoint.')
const TYPES =
  'Event types that it gets, by names and patterns: `order.paid`, `order.*`, or `*` for every message with a type.'
const Rate = z
  .number()
  .min(0.001)
  .refine((rate) => rate < 1 || Number.isSafeInteger(rate))
  .describe('Requests a second, at most; from 1 on a whole number. A lower rate of the service holds.')

export const PortalEndpointInput = namedInput(
  'PortalEndpointInput',
  z
    .strictObject({
      topic: z.string().min(1).max(256).describe('Name of a topic of the session.'),
      endpoint: Address,
      name: Name.optional(),
      eventTypes: EventTypesChosen.optional().describe(`${TYPES} Default: all messages.`),
      maxPerSecond: Rate.optional(),
    })
    .meta({
      description: 'An endpoint to be added.',
      examples: [{ topic: 'acme-orders', endpoint: 'https://acme.example.com/hook' }],
    }),
)

export const PortalEndpointChange = namedInput(
  'PortalEndpointChange',
  z
    .strictObject({
      endpoint: Address.optional().describe('The new address. It must be the only member.'),
      name: Name.nullable().optional().describe('A text by which people know the endpoint; null: none.'),
      eventTypes: EventTypesChosen.nullable().optional().describe(`${TYPES} null: all messages.`),
      maxPerSecond: Rate.nullable()
        .optional()
        .describe('The rate in requests a second; null: that of the service.'),
    })
    .meta({
      description: 'Members that are left out stay as they are; null removes one.',
      examples: [{ name: 'ERP', maxPerSecond: 5 }, { endpoint: 'https://acme.example.com/new' }],
    }),
)

export const PortalTestAnswer = named(
  'PortalTest',
  z
    .object({
      statusCode: z
        .int()
        .nullable()
        .describe('HTTP status that the endpoint answered; null: it answered nothing.'),
      durationMs: z.number().describe('How long the attempt took, ms.'),
      error: z.string().nullable().describe('Why there was no answer, as a code; null: there was one.'),
      answer: z
        .string()
        .nullable()
        .describe('The first KiB of the endpoint’s answer. null: hidden, or without the scope bodies.'),
    })
    .meta({
      description: 'Result of a test.',
      examples: [{ statusCode: 204, durationMs: 38, error: null, answer: null }],
    }),
)

export const PortalTestInput = namedInput(
  'PortalTestInput',
  z
    .strictObject({
      eventType: z
        .string()
        .min(1)
        .max(EVENT_TYPE_NAME_CHARS_MAX)
        .optional()
        .describe('Sends an example of this event type. Default: a message that says that it is a test.'),
      example: z.int().min(0).optional().describe('Which of its examples, from 0. Default 0.'),
    })
    .meta({ description: 'A message for a test.', examples: [{ eventType: 'order.paid' }] }),
)
