/** Statistics over REST. */
import { z } from 'zod'
import { named, SubscriptionReference, TopicReference, timestamp } from '../shared-schemas.ts'

export const STATS_RANGES = {
  '15m': { step: 'minute', steps: 15 },
  '1h': { step: 'minute', steps: 60 },
  '6h': { step: 'minute', steps: 360 },
  '24h': { step: 'minute', steps: 1_440 },
  '7d': { step: 'hour', steps: 168 },
  '30d': { step: 'hour', steps: 720 },
} as const
export type StatsRange = keyof typeof STATS_RANGES

const RANGES = Object.keys(STATS_RANGES) as [StatsRange, ...StatsRange[]]

export const StatsQuery = z.strictObject({
  range: z
    .enum(RANGES)
    .default('1h')
    .describe('Time up to now. Up to 24h the steps are minutes, beyond that hours. Default: 1h.'),
  topic: TopicReference.optional().describe('Only what this topic counted, by its name or ARN.'),
  subscription: SubscriptionReference.optional().describe(
    'Only what this subscription counted, by its id or ARN. Not together with `topic`.',
  ),
})

const counts = (what: string) => z.array(z.int()).describe(`${what}, in each step.`)
const times = (share: string) =>
  z
    .array(z.number().nullable())
    .describe(
      `Time from publishing to arrival that ${share} of the deliveries did not exceed, at most 10 % off, in ms. ` +
        'null: none arrived in this step.',
    )

export const StatsView = named(
  'Stats',
  z
    .object({
      range: z.enum(RANGES).describe('The range that was asked for.'),
      stepSeconds: z.int().describe('Length of a step: 60 or 3600 seconds.'),
      kept: z
        .boolean()
        .describe(
          'false: more topics or subscriptions count than statistics are kept for, and this is not one of those. The ' +
            'lists are empty then.',
        ),
      complete: z
        .boolean()
        .describe(
          'false: the key may see more topics than one answer sums up. Those that counted latest are in it.',
        ),
      at: z
        .array(timestamp('When the step began'))
        .describe(
          'When each step began, oldest first. All lists have one entry per step. The last is under way.',
        ),
      published: counts('Messages accepted')
        .nullable()
        .describe(
          'Messages accepted, in each step. null: of a subscription, as messages are published to topics.',
        ),
      delivered: counts('Deliveries that their endpoint accepted'),
      failed: counts(
        'Failed attempts of http and https, retries included; of other kinds, deliveries that failed permanently',
      ),
      deadLettered: counts('Deliveries stored in a dead-letter queue'),
      p50Ms: times('half'),
      p99Ms: times('99 %'),
    })
    .meta({
      description: 'Counts and times over a range, one entry per step.',
      examples: [
        {
          range: '15m',
          stepSeconds: 60,
          kept: true,
          complete: true,
          at: ['2026-11-21T09:29:00.000Z', '2026-11-21T09:30:00.000Z'],
          published: [1200, 340],
          delivered: [3580, 1020],
          failed: [12, 0],
          deadLettered: [1, 0],
          p50Ms: [8.72, 8.72],
          p99Ms: [166, null],
        },
      ],
    }),
)
