/** Schemas of recorded attempts, over REST. */
import { z } from 'zod'
import { ATTEMPT_DECISIONS, ATTEMPT_PHASES, ATTEMPT_RECORDINGS, ATTEMPT_STAGES } from '../../recording.ts'
import { named, Timestamp, timestamp } from '../shared-schemas.ts'
import { DeliveryCauseName } from './delivery-schemas.ts'

const Waited = z.object({
  ms: z.int().describe('Milliseconds from the time at which the attempt was due to its start.'),
  cause: DeliveryCauseName.nullable().describe(
    'Why it waited: throttle, circuitOpen, unprovenEndpoint, groupOrder, or capacity (no free slot, or a pause). null: for no known cause.',
  ),
})

const Next = z.object({
  decision: z
    .enum(ATTEMPT_DECISIONS)
    .describe('Decision of the worker after the attempt, as in live events.'),
  at: Timestamp.nullable().describe('When the next attempt is due: ISO 8601 in UTC. null: none follows.'),
  cause: DeliveryCauseName.nullable().describe('Cause of the time of what follows, or of the end.'),
})

const AttemptView = named(
  'Attempt',
  z
    .object({
      messageId: z.uuid().describe('Id that publishing answered.'),
      redrives: z
        .int()
        .describe('How often the delivery had been brought back from a dead-letter queue before.'),
      attempt: z.int().describe('Number of the attempt; 1 is the first, also after a redrive.'),
      phase: z
        .enum(ATTEMPT_PHASES)
        .describe('Phase of the retry policy; `first` is the first attempt, which no phase delays.'),
      path: z
        .enum(['first', 'lane'])
        .describe('first: straight from the job. lane: from the lane of its subscription.'),
      dueAt: Timestamp.nullable().describe(
        'When it was due: the time of publishing, or as the attempt before decided. ISO 8601 in UTC. null if unknown.',
      ),
      startedAt: timestamp('When it began'),
      durationMs: z.int().describe('Milliseconds that it took.'),
      cause: DeliveryCauseName.nullable().describe(
        'Why it was made at its time, such as a phase of the retry policy. null: nothing delayed it.',
      ),
      delayMs: z
        .int()
        .nullable()
        .describe('How long `cause` delayed it, in milliseconds. null: unknown, or nothing delayed it.'),
      waited: Waited.nullable().describe('The wait after it was due. null if unknown.'),
      statusCode: z.int().nullable().describe('HTTP status of the answer; null: none came.'),
      error: z.string().nullable().describe('Code of the failure without an answer; null: there was none.'),
      detail: z.string().nullable().describe('The failure in words; null: there was none.'),
      stage: z
        .enum(ATTEMPT_STAGES)
        .nullable()
        .describe('Stage at which it failed without a whole answer; null: an answer came, or unknown.'),
      responseHeaders: z
        .record(z.string(), z.string())
        .nullable()
        .describe('Harmless headers of the answer, cut to 200 characters each. null: none were recorded.'),
      responseBody: z
        .string()
        .nullable()
        .describe('The first KiB of the answer’s body as text. null: not recorded, or withheld.'),
      next: Next.describe('Decision about what follows.'),
      leftOut: z
        .int()
        .describe('Earlier attempts of the subscription at this worker that were not recorded.'),
    })
    .meta({
      description: 'A recorded attempt.',
      examples: [
        {
          messageId: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          redrives: 0,
          attempt: 3,
          phase: 'backoff',
          path: 'lane',
          dueAt: '2026-11-21T09:30:05.000Z',
          startedAt: '2026-11-21T09:30:05.200Z',
          durationMs: 24,
          cause: 'backoff',
          delayMs: 5_000,
          waited: { ms: 200, cause: 'throttle' },
          statusCode: 503,
          error: null,
          detail: null,
          stage: null,
          responseHeaders: { 'content-type': 'text/plain' },
          responseBody: 'db down',
          next: { decision: 'retry', at: '2026-11-21T09:30:15.224Z', cause: 'backoff' },
          leftOut: 0,
        },
      ],
    }),
)

export const AttemptsAnswer = named(
  'AttemptList',
  z
    .object({
      recording: z
        .enum(ATTEMPT_RECORDINGS)
        .describe('Which attempts of the topic are recorded now: `recordAttempts` of the topic.'),
      bodies: z
        .enum(['shown', 'withheld'])
        .describe('withheld: the key lacks the scope `bodies`, so every `responseBody` is null.'),
      keptSince: Timestamp.nullable().describe(
        'Start of the oldest attempt that is kept of the subscription: ISO 8601 in UTC. null: none is kept.',
      ),
      attempts: z.array(AttemptView).describe('The recorded attempts, newest first, at most 100.'),
    })
    .meta({
      description: 'Recorded attempts of a subscription.',
      examples: [
        {
          recording: 'failures',
          bodies: 'shown',
          keptSince: '2026-11-21T09:30:05.200Z',
          attempts: AttemptView.meta()?.examples,
        },
      ],
    }),
)
