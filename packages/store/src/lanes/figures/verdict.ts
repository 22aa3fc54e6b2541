/**
 * Finds the verdict on a lane by its figures. The verdict is the first of a fixed list that holds. It comes with the
 * time since which it holds, and with the facts for it.
 */
import { publishedAtOf, type SubscriptionRecord, type VerdictCode } from '@fantail/contracts'
import { type LaneFigures, LEASE_MARGIN_MS } from '../records/lane-records.ts'
import { observedRate } from './drain.ts'
import { type Verdict, type VerdictFacts, verdictSentence } from './verdict-sentence.ts'

/** An endpoint with this many failures in a row fails. */
const FAILING_IN_A_ROW = 5
/** With fewer failures in a row, it fails if they have lasted this long. */
const FAILING_FOR_MS = 60_000
/** An attempt at an unproven endpoint that has run for this time has had no answer. */
const NO_ANSWER_MS = 5_000
/** A provider that permanently refuses the token of an endpoint has disabled the endpoint with this answer. */
const DISABLED: ReadonlySet<string | null> = new Set(['endpoint_disabled', 'token_refused'])
/** A delivery that has waited for a shorter time does not count as waiting. */
const WAITING_MS = 5_000

export interface Judged {
  figures: LaneFigures
  subscription: Pick<SubscriptionRecord, 'status' | 'pausedBecause' | 'createdAt' | 'circuitBreaker'>
  /** Epoch ms by Redis's clock. */
  now: number
  /** Each attempt ends within this time (FANTAIL_ATTEMPT_TIMEOUT_MS). */
  attemptTimeoutMs: number
  /** When the first message for the subscription was put into the quarantine. Absent: the quarantine has none. */
  quarantinedAt?: number | undefined
  /** When the oldest message was published that no worker has fetched yet. Absent: none waits. */
  undispatchedSince?: number | undefined
}

export function verdictOf(judged: Judged): Verdict {
  const facts = factsOf(judged)
  const { code, since } = findingOf(judged, facts)
  return { code, since, facts, sentence: verdictSentence({ ...judged, code, since, facts }) }
}

interface Finding {
  code: VerdictCode
  since: number | null
}

function findingOf(judged: Judged, facts: VerdictFacts): Finding {
  const { figures, subscription, quarantinedAt } = judged
  const since = figures.failing?.since ?? null
  if (isGone(subscription)) return { code: 'gone', since }
  if (subscription.status === 'paused') return { code: 'paused', since: null }
  if (subscription.status === 'pending') return { code: 'pending', since: subscription.createdAt }
  if (figures.isBlocked) return { code: figures.lacksToken ? 'noToken' : 'misconfigured', since }
  if (figures.lacksKey && figures.waiting > 0) return { code: 'misconfigured', since }
  if (figures.isDlqMissing) return { code: 'dlqMissing', since: null }
  if (since !== null && DISABLED.has(facts.lastError)) return { code: 'endpointDisabled', since }
  if (since !== null && facts.lastError === 'queue_missing') return { code: 'queueMissing', since }
  if (since !== null && facts.lastError === 'queue_refused') return { code: 'queueRefuses', since }
  if (quarantinedAt !== undefined) return { code: 'quarantined', since: quarantinedAt }
  if (subscription.circuitBreaker && figures.circuitOpenUntil !== null) return { code: 'circuitOpen', since }
  return pressureOf(judged, facts)
}

function isGone({ status, pausedBecause }: Judged['subscription']): boolean {
  return status === 'paused' && pausedBecause === 'gone'
}

function pressureOf(judged: Judged, facts: VerdictFacts): Finding {
  const { figures, now, attemptTimeoutMs, undispatchedSince } = judged
  const since = figures.failing?.since ?? null
  const timesOut = facts.lastError === 'timeout'
  if (fails(figures, now)) return { code: timesOut ? 'hung' : 'failing', since }
  if (hangs(figures, now, attemptTimeoutMs)) return { code: 'hung', since: since ?? figures.lastSuccessAt }
  const { waiting, rate, oldestPublishedAt, blockedGroup, groupsThrottled = 0 } = figures
  const isLate = waiting > 0 && oldestPublishedAt !== null && now - oldestPublishedAt >= WAITING_MS
  if (blockedGroup && isLate) return { code: 'groupBlocked', since: publishedAtOf(blockedGroup.messageId) }
  if (waiting > 0 && comesFaster(figures, facts)) return { code: 'tooSlowIn', since: oldestPublishedAt }
  if (waiting > 0 && (rate !== null || groupsThrottled > 0))
    return { code: 'throttled', since: oldestPublishedAt }
  if (undispatchedSince !== undefined && now - undispatchedSince >= WAITING_MS)
    return { code: 'undispatched', since: undispatchedSince }
  return isLate ? { code: 'catchingUp', since: oldestPublishedAt } : { code: 'fine', since: null }
}

function fails({ failing }: LaneFigures, now: number): boolean {
  if (failing === null) return false
  if (failing.inARow >= FAILING_IN_A_ROW) return true
  return failing.inARow > 1 && now - failing.since >= FAILING_FOR_MS
}

/**
 * Whether the oldest attempt has no answer, and none has succeeded in the time that an attempt may take. An endpoint
 * that answers late does not hang.
 */
function hangs(figures: LaneFigures, now: number, attemptTimeoutMs: number): boolean {
  const { isProven, inFlight, firstLeaseEndsAt, lastSuccessAt } = figures
  if (isProven || inFlight === 0 || firstLeaseEndsAt === null) return false
  if (lastSuccessAt !== null && now - lastSuccessAt <= attemptTimeoutMs) return false
  return attemptTimeoutMs + LEASE_MARGIN_MS - (firstLeaseEndsAt - now) >= NO_ANSWER_MS
}

/** Whether more deliveries came in the last minute than can be sent in a minute. */
function comesFaster({ rate }: LaneFigures, facts: VerdictFacts): boolean {
  const { arrivalsPerSecond, attemptsPerSecond } = facts
  const out = rate ?? attemptsPerSecond
  return arrivalsPerSecond !== null && out !== null && arrivalsPerSecond > out
}

function factsOf({ figures }: Judged): VerdictFacts {
  const { lastFailure, failing, arrivalsLastMinute, lately, oldestPublishedAt, retentionSeconds } = figures
  const { group = null, messageId = null } = figures.blockedGroup ?? {}
  const failure = failing === null ? null : lastFailure
  return {
    lastStatusCode: failure?.statusCode ?? null,
    lastError: failure?.error ?? null,
    failedInARow: failing?.inARow ?? 0,
    arrivalsPerSecond: arrivalsLastMinute === null ? null : arrivalsLastMinute / 60,
    attemptsPerSecond: lately.attempts === 0 ? null : observedRate(lately),
    firstExpiresAt:
      oldestPublishedAt === null || retentionSeconds === 0
        ? null
        : oldestPublishedAt + retentionSeconds * 1_000,
    blockedGroup: group,
    blockingMessageId: messageId,
  }
}
