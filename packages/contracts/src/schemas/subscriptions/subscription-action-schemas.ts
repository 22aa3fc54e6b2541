/** Schemas of actions on a subscription over REST that do not change its settings. */
import { z } from 'zod'
import { ATTEMPT_STAGES } from '../../recording.ts'
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
        .describe('The most attempts per second, so that they are spread out. Default: all are due at once.'),
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
export const SetAsideInput = namedInput(
  'SetAsideInput',
  z
    .strictObject({
      messageId: z.string().min(1).max(64).describe('Id of the message, as its publisher got it.'),
    })
    .meta({
      description: 'The message to set aside.',
      examples: [{ messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21' }],
    }),
)
export const SetAsideAnswer = named(
  'SetAsideResult',
  z
    .object({
      messageId: z.string().describe('Id of the message that goes to the queue.'),
      queueArn: z.string().describe('ARN of the dead-letter queue to which it goes.'),
    })
    .meta({
      examples: [
        {
          messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          queueArn: 'arn:aws:sqs:us-east-1:000000000000:orders-dead-letters',
        },
      ],
    }),
)
const TestedRequest = z.object({
  method: z.string().nullable().describe('HTTP method; null: the kind of endpoint gets no HTTP request.'),
  url: z.string().describe('Address of the request, or the endpoint; without credentials.'),
  headers: z
    .record(z.string(), z.string())
    .describe('Headers by name. Headers of the subscription’s own settings and credentials show `***`.'),
  body: z
    .string()
    .nullable()
    .describe('The first 64 KiB of the body. null: the kind does not show it, or the key lacks `bodies`.'),
  bodyBytes: z.int().nullable().describe('Bytes of the whole body; null: not known.'),
  sent: z
    .boolean()
    .nullable()
    .describe('Whether the request was written to a connection; null: the kind gets no HTTP request.'),
})

const TestedAnswer = z.object({
  headers: z
    .record(z.string(), z.string())
    .describe('Harmless headers of the answer, cut to 200 characters each.'),
  body: z.string().nullable().describe('The first 4 KiB of the body as text; null: `bodyWithheld` says why.'),
  bodyWithheld: z
    .enum(['scope', 'address'])
    .nullable()
    .describe(
      'Why the body is not shown. scope: the key lacks `bodies`. address: in server mode it must come from a public address, without a proxy.',
    ),
})

const ms = (part: string) => z.number().nullable().describe(`Milliseconds ${part}; null: there was none.`)

const TestTimings = z.object({
  connectionReused: z
    .boolean()
    .describe('Whether the connection was open before. It then has no times of its own.'),
  dnsMs: ms('of the name look-up'),
  connectMs: ms('to open the connection, or that of a proxy'),
  tlsMs: ms('of the TLS handshake'),
  firstByteMs: ms('from the request to the first byte of the answer'),
  totalMs: z.int().describe('Milliseconds of the whole attempt.'),
})

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
      stage: z
        .enum(ATTEMPT_STAGES)
        .nullable()
        .describe('Stage at which it failed without a whole answer; null: an answer came, or unknown.'),
      bodies: z
        .enum(['shown', 'withheld'])
        .describe('withheld: the key lacks the scope `bodies`, so both bodies are null.'),
      request: TestedRequest.describe('The request as it was sent, with secrets masked.'),
      answer: TestedAnswer.nullable().describe('The answer; null: none came, or the kind does not show it.'),
      timings: TestTimings.describe('Times of the parts of the attempt, as far as the kind has them.'),
    })
    .meta({
      description: 'Result of a single attempt.',
      examples: [
        {
          statusCode: 400,
          durationMs: 38,
          stage: null,
          bodies: 'shown',
          request: {
            method: 'POST',
            url: 'https://example.com/hook',
            headers: { host: 'example.com', 'x-api-key': '***', 'content-length': '24' },
            body: '{"type":"invoice.paid"}',
            bodyBytes: 23,
            sent: true,
          },
          answer: {
            headers: { 'content-type': 'text/plain' },
            body: 'unknown type',
            bodyWithheld: null,
          },
          timings: {
            connectionReused: false,
            dnsMs: 2.1,
            connectMs: 8.4,
            tlsMs: 17,
            firstByteMs: 9.6,
            totalMs: 38,
          },
        },
        {
          statusCode: null,
          durationMs: 3,
          error: 'connection_refused: connect ECONNREFUSED 203.0.113.7:443',
          stage: 'connect',
          bodies: 'withheld',
          request: {
            method: 'POST',
            url: 'https://example.com/hook',
            headers: { host: 'example.com' },
            body: null,
            bodyBytes: 23,
            sent: false,
          },
          answer: null,
          timings: {
            connectionReused: false,
            dnsMs: 2.1,
            connectMs: null,
            tlsMs: null,
            firstByteMs: null,
            totalMs: 3,
          },
        },
      ],
    }),
)
