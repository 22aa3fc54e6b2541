/** Schemas of actions on a subscription over REST that do not change its settings. */
import { z } from 'zod'
import { named, namedInput } from '../shared-schemas.ts'

export const ConfirmInput = namedInput(
  'ConfirmInput',
  z
    .strictObject({
      token: z
        .string()
        .min(1)
        .max(1_024)
        .describe('The `Token` of the confirmation request that the endpoint got; good for 48 hours.'),
    })
    .meta({
      description: 'Proof that the endpoint got its confirmation request.',
      examples: [{ token: '2336412f…' }],
    }),
)
export const RetryInput = namedInput(
  'RetryNowInput',
  z
    .strictObject({
      maxPerSecond: z
        .number()
        .positive()
        .max(100_000)
        .optional()
        .describe('Spreads the attempts out: at most so many per second. Default: all are due at once.'),
    })
    .meta({ description: 'How fast to retry what waits.', examples: [{ maxPerSecond: 50 }, {}] }),
)
export const MovedAnswer = named(
  'RetryNowResult',
  z
    .object({ moved: z.int().describe('Deliveries whose next attempt now comes earlier.') })
    .meta({ examples: [{ moved: 17 }] }),
)
export const DiscardedAnswer = named(
  'LanePurgeResult',
  z
    .object({ discarded: z.int().describe('Deliveries that waited and were discarded.') })
    .meta({ examples: [{ discarded: 17 }] }),
)
export const TestAnswer = named(
  'TestAttempt',
  z
    .object({
      statusCode: z
        .int()
        .nullable()
        .describe('HTTP status that the endpoint answered; null: it answered nothing.'),
      durationMs: z.number().describe('How long the attempt took, in whole milliseconds.'),
      error: z.string().optional().describe('Why there was no answer: a code, a colon and what happened.'),
    })
    .meta({
      description: 'Result of a single attempt.',
      examples: [
        { statusCode: 204, durationMs: 38 },
        {
          statusCode: null,
          durationMs: 3,
          error: 'connection_refused: connect ECONNREFUSED 203.0.113.7:443',
        },
      ],
    }),
)
