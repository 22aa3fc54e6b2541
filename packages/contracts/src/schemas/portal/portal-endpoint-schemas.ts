/**
 * Endpoints of a portal session over REST, with their deliveries and dead letters. A session does not see how requests
 * are made: no headers, proxy or certificates.
 */
import { z } from 'zod'
import { ENDPOINT_CHARS_MAX } from '../../limits.ts'
import { givenMap, named, namedInput, timestamp } from '../shared-schemas.ts'
import { VERDICT_CODES } from '../subscriptions/lane-schemas.ts'

/** @limit Name of an endpoint that a portal session gives. Past it: `validation_failed`. */
const PORTAL_ENDPOINT_NAME_CHARS_MAX = 100

export const PortalEndpointReference = z.string().describe('Id of an endpoint of the portal session.')

export const PortalTopicList = named(
  'PortalTopicList',
  z
    .object({
      topics: z.array(z.string()).describe('Names of topics to which the session may add endpoints.'),
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
  name: null,
  status: 'active',
  filterPolicy: null,
  waiting: 0,
  inFlight: 0,
  verdict: 'fine',
  lastStatusCode: null,
  nextAttemptAt: null,
  createdAt: '2026-11-21T09:30:00.000Z',
}

export const PortalEndpoint = named(
  'PortalEndpoint',
  z
    .object({
      id: z.string().describe('Id of the endpoint’s subscription, a UUID.'),
      topic: z.string().describe('Name of the topic whose messages it gets.'),
      endpoint: z.string().describe('The address that its messages go to. Credentials in it are masked.'),
      name: z.string().nullable().describe('A name that somebody gave it; null: none.'),
      status: z.enum(['pending', 'active', 'paused']).describe('pending: the endpoint must confirm first.'),
      filterPolicy: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe('Which messages it gets; null: all.'),
      waiting: z.int().describe('Deliveries that wait for an attempt.'),
      inFlight: z.int().describe('Deliveries whose attempt is under way.'),
      verdict: z.enum(VERDICT_CODES).describe('Its state, as in the verdict of a subscription.'),
      lastStatusCode: z
        .int()
        .nullable()
        .describe('HTTP status of the latest failure; null: there was none, or a success came after it.'),
      nextAttemptAt: z
        .string()
        .nullable()
        .describe('When the next attempt comes, ISO 8601 in UTC; null: none.'),
      createdAt: timestamp('When it was created'),
    })
    .meta({ description: 'An endpoint of a portal session.', examples: [ENDPOINT] }),
)

export const PortalEndpointList = named(
  'PortalEndpointList',
  z
    .object({
      endpoints: z.array(PortalEndpoint).describe('The endpoints, at most 200.'),
      complete: z.boolean().describe('false: there are more than the list has.'),
    })
    .meta({
      description: 'All endpoints of a portal session.',
      examples: [{ endpoints: [ENDPOINT], complete: true }],
    }),
)

export const PortalEndpointInput = namedInput(
  'PortalEndpointInput',
  z
    .strictObject({
      topic: z.string().min(1).max(256).describe('Name of a topic of the session.'),
      endpoint: z
        .string()
        .max(ENDPOINT_CHARS_MAX)
        .regex(/^https?:\/\//i, 'must be an http or https URL')
        .describe('An http or https URL.'),
      name: z
        .string()
        .min(1)
        .max(PORTAL_ENDPOINT_NAME_CHARS_MAX)
        .optional()
        .describe('A text by which people know the endpoint.'),
      filterPolicy: givenMap(z.string(), z.unknown())
        .optional()
        .describe('Which messages it gets, in SNS’s filter language. Default: all.'),
    })
    .meta({
      description: 'An endpoint to be added.',
      examples: [{ topic: 'acme-orders', endpoint: 'https://acme.example.com/hook' }],
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
    })
    .meta({ description: 'Result of a test.', examples: [{ statusCode: 204, durationMs: 38, error: null }] }),
)

export const PortalDeliveryList = named(
  'PortalDeliveryList',
  z
    .object({
      deliveries: z
        .array(
          z.object({
            messageId: z.string().describe('Id of the message, as publishing answered it.'),
            publishedAt: timestamp('When it was published'),
            at: timestamp('When this was recorded'),
            state: z
              .enum(['delivered', 'parked', 'filtered', 'deadLettered', 'discarded', 'expired'])
              .describe('The state of the delivery. parked: it waits, or has ended since.'),
            attempts: z.int().nullable().describe('Attempts that were made; null: unknown.'),
            statusCode: z.int().nullable().describe('HTTP status of the last answer; null: none or unknown.'),
            error: z
              .string()
              .nullable()
              .describe('Why the last attempt had no answer, as a code; null otherwise.'),
          }),
        )
        .describe('Newest first, at most 50.'),
      scannedTo: z
        .string()
        .nullable()
        .describe('How far back the search looked, ISO 8601 in UTC; null: nowhere.'),
    })
    .meta({
      description: 'The latest deliveries of an endpoint.',
      examples: [
        {
          deliveries: [
            {
              messageId: '01a1fbe2-80fa-72ab-bc08-d682f311b524',
              publishedAt: '2026-11-21T09:30:00.000Z',
              at: '2026-11-21T09:30:00.020Z',
              state: 'delivered',
              attempts: null,
              statusCode: null,
              error: null,
            },
          ],
          scannedTo: '2026-11-21T08:00:00.000Z',
        },
      ],
    }),
)

export const PortalAttemptList = named(
  'PortalAttemptList',
  z
    .object({
      recording: z.boolean().describe('false: the topic records no attempts.'),
      attempts: z
        .array(
          z.object({
            messageId: z.string().describe('Id of the message, as publishing answered it.'),
            attempt: z.int().describe('Number of the attempt; 1 is the first.'),
            startedAt: timestamp('When the attempt began'),
            durationMs: z.number().describe('Milliseconds that it took.'),
            statusCode: z.int().nullable().describe('HTTP status of the answer; null: none came.'),
            error: z.string().nullable().describe('Why no answer came, as a code; null: there was one.'),
            answer: z
              .string()
              .nullable()
              .describe(
                'The first KiB of the endpoint’s answer. null: not recorded, or without the scope bodies.',
              ),
          }),
        )
        .describe('Recorded attempts, newest first, at most 100.'),
    })
    .meta({
      description: 'Recorded attempts at an endpoint.',
      examples: [
        {
          recording: true,
          attempts: [
            {
              messageId: '01a1fbe2-80fa-72ab-bc08-d682f311b524',
              attempt: 1,
              startedAt: '2026-11-21T09:30:00.000Z',
              durationMs: 31,
              statusCode: 503,
              error: null,
              answer: null,
            },
          ],
        },
      ],
    }),
)

export const PortalDeadLetterList = named(
  'PortalDeadLetterList',
  z
    .object({
      total: z.int().describe('Dead letters of this endpoint.'),
      deadLetters: z
        .array(
          z.object({
            messageId: z.string().describe('Id of the message, as it was published.'),
            publishedAt: timestamp('When it was published'),
            deadLetteredAt: timestamp('When it was given up'),
            reason: z.string().describe('Why: permanent, retriesExhausted, expired or outcomeUnknown.'),
            statusCode: z.int().nullable().describe('HTTP status of the last answer; null: there was none.'),
            error: z
              .string()
              .nullable()
              .describe('Why the last attempt had no answer, as a code; null otherwise.'),
            attempts: z.int().describe('Attempts that were made.'),
            body: z.string().nullable().describe('The text; null: the session lacks the scope bodies.'),
            bodyBytes: z.int().describe('Size of the text.'),
          }),
        )
        .describe('Oldest first, at most 50. Large texts make them fewer.'),
    })
    .meta({
      description: 'Messages of an endpoint that could not be delivered.',
      examples: [
        {
          total: 1,
          deadLetters: [
            {
              messageId: '01a1fbe2-80fa-72ab-bc08-d682f311b524',
              publishedAt: '2026-11-21T09:30:00.000Z',
              deadLetteredAt: '2026-11-21T10:30:00.000Z',
              reason: 'permanent',
              statusCode: 404,
              error: null,
              attempts: 1,
              body: null,
              bodyBytes: 35,
            },
          ],
        },
      ],
    }),
)

export const PortalRedriveAnswer = named(
  'PortalRedrive',
  z
    .object({
      matched: z.int().describe('Dead letters that are sent again.'),
      maxMessagesPerSecond: z.number().describe('How many a second, at most.'),
    })
    .meta({
      description: 'A redrive that has begun.',
      examples: [{ matched: 12, maxMessagesPerSecond: 10 }],
    }),
)
