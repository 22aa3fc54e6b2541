/** Schemas of a message's deliveries, over REST. */
import { z } from 'zod'
import { DELIVERY_CAUSES, type DeliveryCause } from '../../delivery-causes.ts'
import { named, Timestamp, timestamp } from '../shared-schemas.ts'

const DeliveryCounts = z.object({
  delivered: z.int().describe('Deliveries that their endpoint accepted.'),
  waiting: z.int().describe('Deliveries that wait for an attempt or are in flight.'),
  deadLettered: z.int().describe('Deliveries that ended in a dead-letter queue.'),
  discarded: z
    .int()
    .describe(
      'Deliveries that ended in no queue: purged, unsubscribed, or failed without a dead-letter queue.',
    ),
  expired: z.int().describe('Deliveries that ended because the message got too old.'),
  quarantined: z.int().describe('Deliveries that cannot be decoded and wait for an operator.'),
  filtered: z.int().describe('Subscriptions whose filter policy kept the message back.'),
})

const LOGGED = z
  .boolean()
  .describe(
    'Whether the outcome log has the message. If false, its topic still keeps it (`keepMessages`), and nothing is ' +
      'known of the deliveries that publishing made.',
  )

export const MessageView = named(
  'Message',
  z
    .object({
      messageId: z.uuid().describe('Id of the message, as publishing answered it.'),
      topicArn: z
        .string()
        .nullable()
        .describe('ARN of the topic it was published to; null if it was published to one target.'),
      target: z
        .string()
        .nullable()
        .describe('The phone number, or ARN of the platform endpoint, it was published to; else null.'),
      publishedAt: timestamp('When it was published'),
      sizeBytes: z.int().describe('Bytes of the message’s text and attributes together.'),
      counts: DeliveryCounts.describe('How many of its deliveries are in each state.'),
      logged: LOGGED,
    })
    .meta({
      description: 'The fate of a message, in numbers.',
      examples: [
        {
          messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
          target: null,
          publishedAt: '2026-11-21T09:30:00.000Z',
          sizeBytes: 5,
          counts: {
            delivered: 2,
            waiting: 1,
            deadLettered: 0,
            discarded: 0,
            expired: 0,
            quarantined: 0,
            filtered: 3,
          },
          logged: true,
        },
      ],
    }),
)

const CAUSES = Object.keys(DELIVERY_CAUSES) as [DeliveryCause, ...DeliveryCause[]]

export const DeliveryCauseName = named(
  'DeliveryCause',
  z.enum(CAUSES).describe(
    Object.entries(DELIVERY_CAUSES)
      .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
      .join(' '),
  ),
)

const DeliveryView = named(
  'Delivery',
  z
    .object({
      subscriptionId: z
        .string()
        .nullable()
        .describe('Id of the subscription; null for one target, or where it is known no more.'),
      subscriptionName: z
        .string()
        .nullable()
        .describe('Name of the subscription for people; null: it has none, or is not known any more.'),
      endpoint: z
        .string()
        .nullable()
        .describe(
          'Present endpoint of the subscription, without credentials, also where an earlier endpoint took the delivery; ' +
            'null if unknown, as after the subscription was deleted.',
        ),
      state: z
        .enum([
          'delivered',
          'waiting',
          'inFlight',
          'deadLettered',
          'discarded',
          'expired',
          'quarantined',
          'filtered',
        ])
        .describe('State of the delivery. Only waiting and inFlight deliveries continue by themselves.'),
      attempts: z.int().describe('Attempts made so far; 0 before the first one.'),
      attemptsMax: z
        .int()
        .nullable()
        .describe('The first attempt and the retries of the policy in force; null without a subscription.'),
      lastStatusCode: z
        .int()
        .nullable()
        .describe('HTTP status of the last attempt’s answer; null if it got no answer.'),
      lastError: z
        .string()
        .nullable()
        .describe(
          'How the last attempt failed without an answer, as a code (`timeout`, `dns`, …), or what is wrong with a ' +
            'quarantined message. null otherwise.',
        ),
      nextAttemptAt: Timestamp.nullable().describe(
        'The next attempt comes no earlier: ISO 8601 in UTC. null if nothing is planned.',
      ),
      endedAt: Timestamp.nullable().describe(
        'When the outcome log stored its end, soon after it: ISO 8601 in UTC. First attempts of a message at several ' +
          'endpoints may be stored together, when all have ended. null until it has ended, or if unknown.',
      ),
      delayMs: z
        .int()
        .nullable()
        .describe(
          'How long `cause` made it wait, in milliseconds: from the end of the attempt before, or from publishing. ' +
            'null if unknown.',
        ),
      cause: DeliveryCauseName.nullable().describe(
        'Why it waits, or ended; if delivered, why the last attempt came when it did. null if nothing delayed it.',
      ),
      reason: z.string().nullable().describe('Why it ended, or is in quarantine; null until then.'),
      redrives: z
        .int()
        .describe('How often it was brought back from a dead-letter queue, since it was resent if it was.'),
      resentAt: Timestamp.nullable().describe('When it was last resent: ISO 8601 in UTC. null: never.'),
      deadLetter: z
        .object({
          queueArn: z.string().describe('ARN of the dead-letter queue.'),
          messageId: z.string().describe('Id of the letter in this queue.'),
        })
        .nullable()
        .describe(
          'Its dead letter, which may be gone since. null: it is not dead-lettered, or nobody knows its queue any more.',
        ),
    })
    .meta({
      description: 'The fate of a message for one subscription.',
      examples: [
        {
          subscriptionId: '0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012',
          subscriptionName: 'Billing',
          endpoint: 'https://example.com/hook',
          state: 'delivered',
          attempts: 2,
          attemptsMax: 4,
          lastStatusCode: 200,
          lastError: null,
          nextAttemptAt: null,
          endedAt: '2026-11-21T09:30:07.000Z',
          delayMs: 7_000,
          cause: 'retryAfter',
          reason: null,
          redrives: 0,
          resentAt: null,
          deadLetter: null,
        },
      ],
    }),
)

export const DeliveriesAnswer = named(
  'DeliveryList',
  z
    .object({
      deliveries: z
        .array(DeliveryView)
        .describe(
          'One entry per subscription of the topic at dispatch; a redriven one shows its latest end.',
        ),
      logged: LOGGED,
    })
    .meta({
      description: 'The fate of a message, delivery by delivery.',
      examples: [{ deliveries: DeliveryView.meta()?.examples, logged: true }],
    }),
)
