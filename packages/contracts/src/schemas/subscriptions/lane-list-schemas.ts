/** Schemas of the list of lanes, worst first. */
import { z } from 'zod'
import { PROTOCOLS } from '../../protocols.ts'
import { named, pageQuery, TopicReference, timestamp } from '../shared-schemas.ts'
import { LaneView, VERDICT_CODES, VerdictView } from './lane-schemas.ts'
import { SUBSCRIPTION_EXAMPLE } from './subscription-schemas.ts'

/** @limit Characters of a text that lanes are searched for. Past it: the request is refused. */
export const LANE_SEARCH_CHARS_MAX = 256

export const LaneListQuery = z.strictObject({
  sort: z
    .enum(['worst', 'oldest', 'waiting'])
    .default('worst')
    .describe(
      'worst: by verdict, then age times deliveries that wait. oldest: by the oldest that waits. waiting: by how many wait.',
    ),
  state: z
    .enum(['inNeed', ...VERDICT_CODES])
    .optional()
    .describe('Only lanes with this verdict. inNeed: with a verdict that needs attention. Default: all.'),
  topic: TopicReference.optional().describe('Only lanes of this topic, by its name or ARN.'),
  topicPrefix: z
    .string()
    .min(1)
    .max(LANE_SEARCH_CHARS_MAX)
    .optional()
    .describe('Only lanes of topics whose names begin with this.'),
  host: z
    .string()
    .min(1)
    .max(LANE_SEARCH_CHARS_MAX)
    .toLowerCase()
    .optional()
    .describe('Only lanes to this host: `example.com` with all its ports, or `example.com:8443`.'),
  q: z
    .string()
    .min(1)
    .max(LANE_SEARCH_CHARS_MAX)
    .optional()
    .describe('Only lanes whose endpoint, name, topic or subscription id contains this text, in any case.'),
  groupBy: z
    .enum(['host'])
    .optional()
    .describe('host: the answer has `hosts` in place of `lanes`. Default: lanes one by one.'),
  ...pageQuery,
})

export const LaneRow = named(
  'Lane',
  z
    .object({
      subscriptionId: z.string().describe('Id of the subscription whose lane it is.'),
      topicArn: z.string().describe('ARN of the topic whose messages it gets.'),
      endpoint: z.string().describe('URL or ARN that is delivered to; a password in it is masked.'),
      protocol: z.enum(PROTOCOLS).describe('How it is delivered to.'),
      name: z.string().nullable().describe('Name of the subscription for people; null: none.'),
      status: z
        .enum(['pending', 'active', 'paused'])
        .describe(
          'pending: waits for its confirmation; active: gets messages; paused: messages are kept for it.',
        ),
      lane: LaneView,
      verdict: VerdictView,
    })
    .meta({
      description: 'A lane: what waits for a subscription, and why.',
      examples: [
        {
          subscriptionId: SUBSCRIPTION_EXAMPLE.id,
          topicArn: SUBSCRIPTION_EXAMPLE.topicArn,
          endpoint: SUBSCRIPTION_EXAMPLE.endpoint,
          protocol: SUBSCRIPTION_EXAMPLE.protocol,
          name: SUBSCRIPTION_EXAMPLE.name,
          status: SUBSCRIPTION_EXAMPLE.status,
          lane: SUBSCRIPTION_EXAMPLE.lane,
          verdict: SUBSCRIPTION_EXAMPLE.verdict,
        },
      ],
    }),
)

const LaneHost = named(
  'LaneHost',
  z
    .object({
      host: z
        .string()
        .describe(
          'Host and port of the URLs, domain of the mail addresses, or the protocol where neither is there.',
        ),
      lanes: z.int().describe('How many of the lanes that match the filters lead there.'),
      inNeed: z.int().describe('How many of them have a verdict that needs attention.'),
      waiting: z.int().describe('Deliveries that wait for an attempt.'),
      inFlight: z.int().describe('Deliveries whose attempt is under way.'),
      oldestWaitingSeconds: z
        .number()
        .nullable()
        .describe('Seconds since the oldest waiting message was published; null: nothing waits.'),
      subscriptionId: z.string().describe('Id of the subscription whose lane is the worst.'),
      verdict: VerdictView.describe('Verdict on the worst of its lanes.'),
    })
    .meta({
      description: 'The lanes of one host together.',
      examples: [
        {
          host: 'example.com',
          lanes: 12,
          inNeed: 0,
          waiting: 3,
          inFlight: 1,
          oldestWaitingSeconds: 12.5,
          subscriptionId: SUBSCRIPTION_EXAMPLE.id,
          verdict: SUBSCRIPTION_EXAMPLE.verdict,
        },
      ],
    }),
)

export const LaneList = named(
  'LaneList',
  z
    .object({
      lanes: z.array(LaneRow).describe('The lanes of this page; empty if they are grouped.'),
      hosts: z.array(LaneHost).nullable().describe('The hosts of this page; null: lanes are not grouped.'),
      nextCursor: z
        .string()
        .nullable()
        .describe(
          'Give it as `cursor` to read the next page. Lanes may change places between pages. null: the last page.',
        ),
      at: timestamp('When the lanes were read'),
      complete: z
        .boolean()
        .describe('false: more lanes are busy than one list looks at, and the figures leave some out.'),
      looked: z.int().describe('Lanes that were looked at and that the caller may see, before any filter.'),
      matched: z.int().describe('Lanes that the filters match, on all pages.'),
      verdicts: z
        .partialRecord(z.enum(VERDICT_CODES), z.int())
        .describe(
          'How many of the lanes looked at have which verdict. A verdict that is missing has no lane.',
        ),
      waiting: z.int().describe('Deliveries that wait in the lanes that match.'),
      inFlight: z.int().describe('Deliveries in flight from the lanes that match.'),
    })
    .meta({
      description: 'A page of lanes or hosts, worst first, and sums over all pages.',
      examples: [
        {
          lanes: [],
          hosts: null,
          nextCursor: null,
          at: '2026-11-21T09:31:00.000Z',
          complete: true,
          looked: 0,
          matched: 0,
          verdicts: {},
          waiting: 0,
          inFlight: 0,
        },
      ],
    }),
)
