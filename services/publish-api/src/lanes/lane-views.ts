/** A lane's figures and the verdict on them, in the form of the REST API. */
import type { SubscriptionRecord, TopicRecord } from '@fantail/contracts'
import type { SubscriptionView } from '@fantail/contracts/schemas/subscriptions/subscription-schemas'
import { effectivePolicy, totalRetrySeconds } from '@fantail/policy'
import {
  drainAtFailureRate,
  drainOf,
  type Judged,
  type LaneFigures,
  type Verdict,
  verdictOf,
} from '@fantail/store'
import type { z } from 'zod'
import { iso, isoOrNull, secondsSince } from '../http/record-views.ts'

type View = z.input<typeof SubscriptionView>

interface LaneFacts {
  figures: LaneFigures
  topic: TopicRecord
  now: number
}

export function judgedLane(
  record: SubscriptionRecord,
  facts: LaneFacts & Pick<Judged, 'quarantinedAt' | 'undispatchedSince' | 'attemptTimeoutMs'>,
): Pick<View, 'lane' | 'verdict'> {
  const verdict = verdictOf({ ...facts, subscription: record })
  return { lane: laneView(record, facts), verdict: verdictView(verdict) }
}

export function verdictView({ code, since, sentence, facts }: Verdict): View['verdict'] {
  return {
    code,
    since: isoOrNull(since),
    sentence,
    facts: {
      ...facts,
      arrivalsPerSecond: toThousandths(facts.arrivalsPerSecond),
      attemptsPerSecond: toThousandths(facts.attemptsPerSecond),
      firstExpiresAt: isoOrNull(facts.firstExpiresAt),
    },
  }
}

export function laneView(record: SubscriptionRecord, { figures: lane, topic, now }: LaneFacts): View['lane'] {
  const { circuitBreaker, status } = record
  const { healthyRetryPolicy: policy } = effectivePolicy(topic, record)
  const curve = { attemptsMax: policy.numRetries + 1, totalSeconds: totalRetrySeconds(policy) }
  const { waiting, inFlight, oldestPublishedAt, nextAttemptAt, rate, lastFailure } = lane
  const paused = status === 'paused'
  const drain = drainOf(lane, { paused, now })
  return {
    waiting,
    inFlight,
    oldestWaitingSeconds: oldestPublishedAt === null ? null : secondsSince(oldestPublishedAt, now),
    nextAttemptAt: isoOrNull(nextAttemptAt),
    drainSeconds: toThousandths(drain.seconds),
    drainSecondsAtFailureRate: toThousandths(drainAtFailureRate(lane, { paused, now, ...curve })),
    drainUnknown: drain.unknown,
    rate,
    lastFailure: lastFailure && { ...lastFailure, at: iso(lastFailure.at) },
    lastSuccessAt: isoOrNull(lane.lastSuccessAt),
    retryQuota: lane.retryQuota,
    circuit: circuitBreaker ? (lane.circuitOpenUntil === null || lane.isBlocked ? 'closed' : 'open') : null,
    waitsFor: waitsFor(lane),
    nextProbeAt: isoOrNull(lane.circuitOpenUntil),
  }
}

function toThousandths(number: number | null): number | null {
  return number === null ? null : Math.round(number * 1_000) / 1_000
}

function waitsFor(lane: LaneFigures): View['lane']['waitsFor'] {
  const { waiting, isBlocked, lacksToken, lacksKey, isDlqMissing } = lane
  if (isBlocked) return lacksToken ? 'noToken' : 'misconfigured'
  if (lacksKey && waiting > 0) return 'misconfigured'
  return isDlqMissing ? 'dlqMissing' : null
}
