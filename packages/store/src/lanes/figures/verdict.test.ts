import type { VerdictCode } from '@fantail/contracts'
import { expect, test } from 'vitest'
import type { LaneFigures } from '../records/lane-records.ts'
import { drainAtFailureRate } from './drain.ts'
import { NO_LANE } from './lane-figures.ts'
import { type Judged, verdictOf } from './verdict.ts'

const NOW = 1_795_000_000_000
const SINCE = NOW - 30_000
const subscription = { status: 'active' as const, createdAt: NOW - 1_000_000 }
const lane = (set: Partial<LaneFigures>): LaneFigures => ({ ...NO_LANE, isProven: true, ...set })
const waits = (ageMs: number, waiting = 12) => ({
  waiting,
  oldestPublishedAt: NOW - ageMs,
  retentionSeconds: 600,
})
const failed = (
  inARow: number,
  { since = SINCE, statusCode = 503 as number | null, error = null as string | null } = {},
) => ({
  failing: { inARow, since },
  lastFailure: { at: NOW - 10, statusCode, error },
})
/** An attempt at an unproven endpoint. */
const inFlight = (ranMs: number) => ({
  isProven: false,
  inFlight: 1,
  firstLeaseEndsAt: NOW - ranMs + 15_000 + 3_500,
})
const BLOCKED = { group: 'customer-7', messageId: '01a1ecd0-7400-7000-8000-000000000000', behind: 2 }
const lately = { lately: { attempts: 600, successes: 600, spanMs: 60_000 } }

const judge = (figures: Partial<LaneFigures>, others: Partial<Judged> = {}) =>
  verdictOf({ figures: lane(figures), subscription, now: NOW, attemptTimeoutMs: 15_000, ...others })

const withStatus = (status: 'paused' | 'pending') => ({ subscription: { ...subscription, status } })
const breaker = { subscription: { ...subscription, circuitBreaker: { failures: 5, probeSeconds: 10 } } }

const gone = { subscription: { ...subscription, status: 'paused', pausedBecause: 'gone' } } as const

test.each<[VerdictCode, string, Partial<LaneFigures>, Partial<Judged>?]>([
  ['gone', 'one that a 410 has paused', { ...waits(9_000), ...failed(1, { statusCode: 410 }) }, gone],
  ['paused', 'a paused one that also fails', { ...waits(9_000), ...failed(9) }, withStatus('paused')],
  ['pending', 'one that has not confirmed', {}, withStatus('pending')],
  ['misconfigured', 'one that is blocked', { ...waits(9_000), isBlocked: true, circuitOpenUntil: NOW }],
  ['misconfigured', 'one that lacks a key', { ...waits(9_000), lacksKey: true, ...failed(9) }],
  ['fine', 'one that lacks a key no longer', { lacksKey: true }],
  ['noToken', 'one that gets no access token', { ...waits(9_000), isBlocked: true, lacksToken: true }],
  ['dlqMissing', 'one whose queue is missing', { ...waits(9_000), isDlqMissing: true, ...failed(9) }],
  ['endpointDisabled', 'a disabled device', failed(1, { statusCode: null, error: 'endpoint_disabled' })],
  ['endpointDisabled', 'a token just refused', failed(1, { statusCode: 404, error: 'token_refused' })],
  ['quarantined', 'one with an unreadable message', failed(9), { quarantinedAt: SINCE }],
  ['circuitOpen', 'one with an open circuit', { ...failed(5), circuitOpenUntil: NOW + 4_000 }, breaker],
  ['failing', 'five failures in a row', failed(5)],
  ['failing', 'two failures over a minute', failed(2, { since: NOW - 60_000 })],
  ['fine', 'two failures just now', failed(2)],
  ['hung', 'five timeouts in a row', failed(5, { statusCode: null, error: 'timeout' })],
  ['hung', 'no answer for 5 s', inFlight(5_000)],
  ['fine', 'no answer yet', inFlight(4_000)],
  [
    'fine',
    'no answer yet to what waited for an hour',
    { ...inFlight(2_500), oldestPublishedAt: NOW - 3_600_000 },
  ],
  ['fine', 'an endpoint that answers after 8 s', { ...inFlight(7_000), lastSuccessAt: NOW - 7_000 }],
  ['hung', 'an endpoint that has stopped to answer', { ...inFlight(14_000), lastSuccessAt: NOW - 16_000 }],
  ['queueMissing', 'a queue that was deleted', failed(1, { statusCode: 404, error: 'queue_missing' })],
  ['queueRefuses', 'a queue without a policy', failed(1, { statusCode: 403, error: 'queue_refused' })],
  ['groupBlocked', 'a head that has failed', { ...waits(6_000), ...failed(1), blockedGroup: BLOCKED }],
  ['fine', 'a head that has failed just now', { ...waits(900), ...failed(1), blockedGroup: BLOCKED }],
  ['failing', 'a head that fails, as all do', { ...waits(9_000), ...failed(5), blockedGroup: BLOCKED }],
  ['tooSlowIn', 'more than its throttle', { ...waits(90_000), rate: 2, arrivalsLastMinute: 121 }],
  ['tooSlowIn', 'more than it takes', { ...waits(90_000), ...lately, arrivalsLastMinute: 601 }],
  ['throttled', 'less than its throttle', { ...waits(90_000), rate: 2, arrivalsLastMinute: 120 }],
  ['throttled', 'what waits for throttled groups', { ...waits(90_000), groupsThrottled: 2 }],
  ['undispatched', 'messages that no worker fetches', {}, { undispatchedSince: NOW - 5_000 }],
  ['fine', 'messages just published', {}, { undispatchedSince: NOW - 900 }],
  ['catchingUp', 'what waits without a throttle', { ...waits(90_000), ...lately, arrivalsLastMinute: 600 }],
  ['fine', 'what waits for a moment', waits(900)],
  ['fine', 'nothing', {}],
])('%s: %s', (code, _, figures, others) => {
  expect(judge(figures, others).code).toBe(code)
})

test('the sentence on a throttle says whether message groups wait for theirs', () => {
  const sentenceOf = (set: Partial<LaneFigures>) => judge({ ...waits(6_000), ...set }).sentence
  expect(sentenceOf({ rate: 2 })).toMatch(/ for the throttle of 2\/s\.$/)
  expect(sentenceOf({ groupsThrottled: 1 })).toMatch(/, for the throttle of a message group\.$/)
  expect(sentenceOf({ groupsThrottled: 1_200 })).toMatch(/, for the throttle of 1,200 message groups\.$/)
})

test('a verdict says since when, why, and what comes next', () => {
  const { since, sentence, facts } = judge({
    ...waits(52_000, 41_208),
    ...failed(7),
    nextAttemptAt: NOW + 12_000,
  })
  expect(since).toBe(SINCE)
  expect(sentence).toBe(
    'The last 7 attempts failed, the latest with 503; 41,208 deliveries wait. The next attempt is in 12 s. ' +
      'The first expires in 9 min.',
  )
  expect(facts).toEqual({
    lastStatusCode: 503,
    lastError: null,
    failedInARow: 7,
    arrivalsPerSecond: null,
    attemptsPerSecond: null,
    firstExpiresAt: NOW + 548_000,
    blockedGroup: null,
    blockingMessageId: null,
  })
})

test('a blocked group is named with the message that blocks it', () => {
  const { sentence, facts } = judge({ ...waits(6_000), blockedGroup: BLOCKED, nextAttemptAt: NOW + 12_000 })
  expect(sentence).toMatch(
    /^Group customer-7 waits for its message 01a1ecd0-\S+, which fails; 2 deliveries wait behind it\. The next attempt/,
  )
  expect(facts).toMatchObject({ blockedGroup: BLOCKED.group, blockingMessageId: BLOCKED.messageId })
})

test.each([
  [0, 'The circuit is open; nothing waits.'],
  [1, 'The circuit is open after a failed attempt, with 503; nothing waits.'],
  [5, 'The circuit is open after 5 failed attempts, the latest with 503; nothing waits.'],
])('an open circuit after %i failures', (times, sentence) => {
  const figures = { ...(times > 0 && failed(times)), circuitOpenUntil: NOW + 4_000 }
  expect(judge(figures, breaker).sentence).toBe(sentence)
})

test('a failure that a success followed is no fact', () => {
  const { facts } = judge({ lastFailure: { at: NOW - 10, statusCode: 503, error: null } })
  expect(facts).toMatchObject({ lastStatusCode: null, failedInARow: 0 })
})

test.each([
  ['all attempts succeed', 600, 1.2],
  ['half of them', 300, (12 * 1.9375) / 10 + (60 * 0.9375) / 4],
  ['none', 0, (12 * 5) / 10 + 60],
])('time to deliver or give up: %s', (_, successes, seconds) => {
  const figures = lane({ ...waits(90_000), lately: { attempts: 600, successes, spanMs: 60_000 } })
  const curve = { paused: false, now: NOW, attemptsMax: 5, totalSeconds: 60 }
  expect(drainAtFailureRate(figures, curve)).toBeCloseTo(seconds, 6)
})
