/** The overview over REST. */
import { z } from 'zod'
import { named, timestamp } from '../shared-schemas.ts'
import { LaneRow } from '../subscriptions/lane-list-schemas.ts'
import { VERDICT_CODES } from '../subscriptions/lane-schemas.ts'

const Problem = z.object({
  host: z.string().describe('Host of the lanes, as `listLanes` groups them.'),
  lanes: z.int().describe('How many lanes of this host have this verdict.'),
  waiting: z.int().describe('Deliveries that wait in these lanes.'),
  worst: LaneRow.describe('The worst of these lanes.'),
})

export const OverviewView = named(
  'Overview',
  z
    .object({
      at: timestamp('When the lanes were read'),
      version: z.string().describe('Release that the answering process runs, as in its package.json.'),
      commit: z.string().describe('Commit that it runs; `unknown` where nothing says it.'),
      complete: z
        .boolean()
        .describe('false: there is more than one overview counts, and the figures leave some out.'),
      topics: z.int().describe('Topics that the caller may see.'),
      subscriptions: z.int().describe('Subscriptions of these topics, pending and paused ones included.'),
      queues: z.int().describe('Queues that the caller may see.'),
      waiting: z.int().describe('Deliveries that wait for an attempt.'),
      inFlight: z.int().describe('Deliveries whose attempt is under way.'),
      inNeed: z.int().describe('Lanes with a verdict that needs attention.'),
      verdicts: z
        .partialRecord(z.enum(VERDICT_CODES), z.int())
        .describe('How many busy lanes have which verdict. A verdict that is missing has no lane.'),
      problems: z
        .array(Problem)
        .describe(
          'Problems that need attention, worst first, at most ten. Lanes of one host and verdict are one problem.',
        ),
      deadLetters: z.int().describe('Dead letters in all these queues together.'),
      fullest: z
        .array(
          z.object({
            queueArn: z.string().describe('ARN of a queue that holds dead letters.'),
            deadLetters: z.int().describe('How many it holds.'),
          }),
        )
        .describe('The queues with the most dead letters, at most five.'),
      activeRedrives: z.int().describe('Redrives under way or paused, of these queues.'),
      memory: z
        .object({
          usedBytes: z.int().describe('Bytes that Redis uses.'),
          limitBytes: z.int().nullable().describe('Bytes that it may use; null: unknown.'),
          watermarkBytes: z
            .int()
            .nullable()
            .describe('Bytes past which publishing is refused; null: unknown.'),
        })
        .nullable()
        .describe('How full Redis is. null: the key is bound to names or to another account.'),
    })
    .meta({
      description: 'The server at a glance.',
      examples: [
        {
          at: '2026-11-21T09:31:00.000Z',
          version: '0.1.0',
          commit: '5d41402abc4b2a76b9719d911017c592ae5d4140',
          complete: true,
          topics: 12,
          subscriptions: 340,
          queues: 3,
          waiting: 0,
          inFlight: 0,
          inNeed: 0,
          verdicts: {},
          problems: [],
          deadLetters: 3,
          fullest: [{ queueArn: 'arn:aws:sqs:us-east-1:000000000000:dead', deadLetters: 3 }],
          activeRedrives: 0,
          memory: { usedBytes: 104857600, limitBytes: 1073741824, watermarkBytes: 805306368 },
        },
      ],
    }),
)
