/** Notices: messages that Fantail itself publishes to topics with the setting `notices`. */
import { z } from 'zod'
import { named, Timestamp, timestamp } from '../shared-schemas.ts'
import { VERDICT_CODES } from '../subscriptions/lane-schemas.ts'

/** The `eventType` of each notice. Names never change. */
const NOTICE_TYPES = {
  'endpoint.failing': 'Attempts have failed, or could not be made, for FANTAIL_NOTICE_MINUTES or longer.',
  'endpoint.circuitOpen': 'The circuit of a subscription is open.',
  'endpoint.behind': 'The deliveries that wait need more than an hour.',
  'endpoint.gone': 'The endpoint answered 410 (Gone), so Fantail paused the subscription.',
  'endpoint.disabled':
    'The endpoint failed for the topic’s `disableAfterDays`, so Fantail paused the subscription.',
  'endpoint.recovered': 'Attempts succeed again, or what waits needs less than half an hour.',
  'delivery.deadLettered': 'Deliveries were dead-lettered.',
  'quarantine.added': 'Data that could not be read came into the quarantine.',
  'server.memory': 'Redis has used 65 % of its memory. Publishing stops at 75 %.',
  'server.disk': 'Redis could not write its files.',
  'server.recovered': 'One of the two has ended.',
} as const
export type NoticeType = keyof typeof NOTICE_TYPES

const NOTICE_NAMES = Object.keys(NOTICE_TYPES) as [NoticeType, ...NoticeType[]]
const MEANINGS = Object.entries(NOTICE_TYPES)
  .map(([name, text]) => `${name}: ${text}`)
  .join(' ')

/** Subscriptions, or topics, that one notice names. Past it: the notice only counts the others. */
export const NAMED_PER_NOTICE_MAX = 20

const TopicArn = z.string().describe('The topic that it belongs to, by its ARN.')

export const Notice = named(
  'Notice',
  z
    .object({
      type: z
        .enum(NOTICE_NAMES)
        .describe(`The kind of the notice, which the message attribute \`eventType\` has too. ${MEANINGS}`),
      at: timestamp('When Fantail saw it'),
      message: z.string().describe('The same in words, for people. Mails and text messages have only this.'),
      host: z
        .string()
        .nullable()
        .describe(
          'Host of the endpoints; of mail the domain. null: the notice concerns no host, or several.',
        ),
      count: z
        .int()
        .describe('How many subscriptions, dead letters or entries it is about; 1 for the server.'),
      subscriptions: z
        .array(
          z.object({
            id: z.string().describe('The subscription that the alarm is about, by its id.'),
            topicArn: TopicArn,
            name: z.string().nullable().describe('Name of the subscription; null: it has none.'),
            since: Timestamp.nullable().describe('Since when it holds: ISO 8601 in UTC. null: unknown.'),
            verdict: z.enum(VERDICT_CODES).nullable().describe('Verdict on its lane; null: all is well.'),
          }),
        )
        .describe(`Subscriptions that it is about, at most ${NAMED_PER_NOTICE_MAX}.`),
      topics: z
        .array(z.object({ topicArn: TopicArn, count: z.int().describe('How many of this topic.') }))
        .describe(
          `Topics of the dead letters or entries, those with the most first, at most ${NAMED_PER_NOTICE_MAX}.`,
        ),
    })
    .meta({
      description: 'A notice, which Fantail publishes to a topic with the setting `notices`.',
      examples: [
        {
          type: 'endpoint.failing',
          at: '2026-11-21T09:36:00.000Z',
          message: '1 subscription at hooks.acme.example has failed for 5 minutes or longer.',
          host: 'hooks.acme.example',
          count: 1,
          subscriptions: [
            {
              id: '0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012',
              topicArn: 'arn:aws:sns:us-east-1:000000000000:acme-orders',
              name: 'Acme orders',
              since: '2026-11-21T09:30:12.000Z',
              verdict: 'failing',
            },
          ],
          topics: [],
        },
      ],
    }),
)
