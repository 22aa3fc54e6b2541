/** Schemas of the state of a subscription's lane, each with an example. */
import { z } from 'zod'
import { DRAIN_UNKNOWN, VERDICTS, type VerdictCode } from '../../lanes/lane-words.ts'
import { named, Timestamp } from '../shared-schemas.ts'

export const VERDICT_CODES = Object.keys(VERDICTS) as [VerdictCode, ...VerdictCode[]]

export const VerdictView = named(
  'Verdict',
  z
    .object({
      code: z.enum(VERDICT_CODES).describe(
        `The first of these that holds. ${Object.entries(VERDICTS)
          .map(([code, text]) => `${code}: ${text}`)
          .join(' ')}`,
      ),
      since: Timestamp.nullable().describe(
        'Since when, as far as the service knows: ISO 8601 in UTC. null: unknown, or nothing is wrong.',
      ),
      sentence: z.string().describe('The verdict in words, for people. It may change with any release.'),
      facts: z
        .object({
          lastStatusCode: z
            .int()
            .nullable()
            .describe('HTTP status of the latest failure; null: there was none, or a success came after it.'),
          lastError: z
            .string()
            .nullable()
            .describe('Its error as a code; null: there was an answer, or a success came after it.'),
          failedInARow: z.int().describe('Attempts that have failed since the last success.'),
          arrivalsPerSecond: z
            .number()
            .nullable()
            .describe(
              'Deliveries that came in the last minute, a second. null: unknown, unless what waits is older.',
            ),
          attemptsPerSecond: z
            .number()
            .nullable()
            .describe('Attempts that ended in the last minute, a second. null: none ended.'),
          firstExpiresAt: Timestamp.nullable().describe(
            'When the oldest that waits is too old to be delivered: ISO 8601 in UTC. null: nothing waits.',
          ),
          blockedGroup: z
            .string()
            .nullable()
            .describe(
              'The FIFO group whose first message fails while others wait behind it. null: none does.',
            ),
          blockingMessageId: z
            .string()
            .nullable()
            .describe('Id of that first message; null: no group is blocked.'),
        })
        .describe('The figures behind the verdict.'),
    })
    .meta({
      description: 'The meaning of a lane’s figures. Its code and facts are for programs.',
    }),
)

export const LaneView = z
  .object({
    waiting: z.int().describe('Deliveries that wait for an attempt.'),
    inFlight: z.int().describe('Deliveries whose attempt is under way.'),
    oldestWaitingSeconds: z
      .number()
      .nullable()
      .describe('Seconds since the oldest waiting message was published; null: nothing waits.'),
    nextAttemptAt: Timestamp.nullable().describe(
      'When the next attempt comes at the earliest: ISO 8601 in UTC. null: none is planned.',
    ),
    drainSeconds: z
      .number()
      .nullable()
      .describe(
        'Seconds until what waits is delivered, if nothing is added: waiting × attempts per success ÷ attempts per second, both observed in the last minute. null: `drainUnknown` says why.',
      ),
    drainSecondsAtFailureRate: z
      .number()
      .nullable()
      .describe(
        'Seconds until what waits is delivered or given up, if as many attempts fail as in the last minute. An upper estimate. null: nothing was attempted, or the subscription is paused.',
      ),
    drainUnknown: z
      .enum(DRAIN_UNKNOWN)
      .nullable()
      .describe(
        'Why `drainSeconds` is null. paused: the subscription is paused. nothingAttempted: no attempt ended in the last minute. nothingSucceeds: none of them succeeded, or the endpoint has begun to fail. It has if the last failure is more than 5 s later than the last success, and more than three requests of a throttle. null: it is known.',
      ),
    rate: z
      .number()
      .nullable()
      .describe('Attempts per second, the lower of the throttle and the adaptive rate; null without both.'),
    lastFailure: z
      .object({
        at: Timestamp.describe('When that attempt ended: ISO 8601 in UTC.'),
        statusCode: z.int().nullable().describe('HTTP status of the answer; null: there was none.'),
        error: z
          .string()
          .nullable()
          .describe(
            'How it failed without an answer, as a code: `timeout`, `connection_refused`, …; null: there was one.',
          ),
      })
      .nullable()
      .describe(
        'The last failed attempt. If `lastSuccessAt` is later, the trouble is over. null: none has failed.',
      ),
    lastSuccessAt: Timestamp.nullable().describe(
      'When the endpoint last accepted a delivery, at most a few seconds behind: ISO 8601 in UTC. null: it never has.',
    ),
    retryQuota: z
      .number()
      .nullable()
      .describe('Rest of the retry quota, which is 500 when full; null where retryMode is policy.'),
    circuit: z
      .enum(['closed', 'open'])
      .nullable()
      .describe('open: attempts are stopped but for probes. null without a circuit breaker.'),
    waitsFor: z
      .enum(['dlqMissing', 'misconfigured', 'noToken'])
      .nullable()
      .describe(
        'dlqMissing: dead deliveries wait because the dead-letter queue does not exist. misconfigured: the service’s own ' +
          'configuration keeps its attempts from the endpoint, or it lacks the key of sealed messages. noToken: its token ' +
          'server cannot be reached or refuses a token. null: neither.',
      ),
    nextProbeAt: Timestamp.nullable().describe(
      'When the open circuit, or a broken credential, is probed next: ISO 8601 in UTC. null: no probe is due.',
    ),
  })
  .describe('The state of the deliveries of this subscription now.')

export const LANE_EXAMPLE = {
  waiting: 3,
  inFlight: 1,
  oldestWaitingSeconds: 12.5,
  nextAttemptAt: '2026-11-21T09:31:10.000Z',
  drainSeconds: 0.25,
  drainSecondsAtFailureRate: 0.5,
  drainUnknown: null,
  rate: null,
  lastFailure: { at: '2026-11-21T09:30:50.000Z', statusCode: 503, error: null },
  lastSuccessAt: '2026-11-21T09:31:00.000Z',
  retryQuota: null,
  circuit: null,
  waitsFor: null,
  nextProbeAt: null,
}

export const VERDICT_EXAMPLE = {
  code: 'fine',
  since: null,
  sentence: 'Deliveries are on their way.',
  facts: {
    lastStatusCode: null,
    lastError: null,
    failedInARow: 0,
    arrivalsPerSecond: null,
    attemptsPerSecond: 12,
    firstExpiresAt: '2026-11-25T09:31:00.000Z',
    blockedGroup: null,
    blockingMessageId: null,
  },
}
