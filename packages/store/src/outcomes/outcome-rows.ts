/** Combines the outcome log and the lanes into one row per delivery. */
import { type DeliveryCause, publishedAtOf, type Why } from '@fantail/contracts'
import { shownWhy, whyItEnded } from '@fantail/policy'
import type { DeliveryWhere } from '../lanes/lane-records.ts'
import type { DispatchEntry } from './dispatch-entry.ts'
import { type Found, type LaneEntry, type LaneOutcome, wasPaused } from './outcome-entries.ts'
import type { Subscriber } from './outcome-subscribers.ts'

/** Reasons of a delivery that has ended and of whose end there is no entry. */
export const UNTOLD = 'unknown'
export const PURGED = 'purged'

export type DeliveryState = LaneOutcome | 'waiting' | 'inFlight' | 'filtered' | 'quarantined'

export interface DeliveryOutcome {
  subscriptionId: string | null
  endpoint: string | null
  state: DeliveryState
  attempts: number
  /** By the policy in force; null without a subscription. */
  attemptsMax: number | null
  lastStatusCode: number | null
  lastError: string | null
  nextAttemptAt: number | null
  /** Epoch ms by Redis's clock, when the log stored the end; null while it goes on, or if unknown. */
  endedAt: number | null
  delayMs: number | null
  because: DeliveryCause | null
  reason: string | null
  /** How often it was brought back from a dead-letter queue. */
  redrives: number
}

/**
 * A redriven delivery has its own entry when it ends anew. Its subscription's row becomes that of its latest end.
 * Returned are rows of subscriptions that have none among the first.
 */
export function redrivenRows({ lanes }: Found, first: DeliveryOutcome[]): DeliveryOutcome[] {
  const rows = new Map(first.map((row) => [row.subscriptionId, row]))
  const added: DeliveryOutcome[] = []
  for (const entry of lanes) {
    const { subscriptionId } = entry
    if (entry.generation === 0 || subscriptionId === null) continue
    const row = rows.get(subscriptionId)
    if (row && row.redrives >= entry.generation) continue
    const latest = endedRow(entry, row ? placeOf(row) : { ...NOWHERE, subscriptionId })
    if (row) {
      Object.assign(row, latest)
      continue
    }
    rows.set(subscriptionId, latest)
    added.push(latest)
  }
  return added
}

/** The delivery of a row. */
type Place = Pick<DeliveryOutcome, 'subscriptionId' | 'endpoint' | 'attemptsMax'>

const NOWHERE: Place = { subscriptionId: null, endpoint: null, attemptsMax: null }

function placeOf({ subscriptionId, endpoint, attemptsMax }: DeliveryOutcome): Place {
  return { subscriptionId, endpoint, attemptsMax }
}

/** undefined: the subscription is known no more. */
function placeAt(subscriber: Subscriber | undefined): Place {
  if (!subscriber) return NOWHERE
  const { record, attemptsMax } = subscriber
  return { subscriptionId: record.id, endpoint: record.endpoint, attemptsMax }
}

type Answered = Pick<DeliveryOutcome, 'lastStatusCode' | 'endedAt'>

const UNANSWERED: Answered = { lastStatusCode: null, endedAt: null }

/** Row of a delivery without any attempt. */
export function emptyRow(): DeliveryOutcome {
  return { ...deliveredRow(undefined, UNANSWERED), state: 'waiting', attempts: 0 }
}

/** Delivered by its first attempt, straight from dispatch. */
export function deliveredRow(subscriber: Subscriber | undefined, answered: Answered): DeliveryOutcome {
  return {
    ...placeAt(subscriber),
    state: 'delivered',
    attempts: 1,
    lastStatusCode: answered.lastStatusCode,
    lastError: null,
    nextAttemptAt: null,
    endedAt: answered.endedAt,
    ...shownWhy(undefined),
    reason: null,
    redrives: 0,
  }
}

export function filteredRow(subscriber: Subscriber | undefined, endedAt: number | null): DeliveryOutcome {
  const why = whyItEnded('filterPolicy')
  return { ...emptyRow(), ...placeAt(subscriber), state: 'filtered', endedAt, ...shownWhy(why) }
}

/** Rows of a message that ended as a whole, before matching; at most one. */
export function wholeRows({ lanes }: Found): DeliveryOutcome[] {
  const ended = lanes.find(({ subscriptionId }) => subscriptionId === null)
  return ended ? [endedRow(ended, NOWHERE)] : []
}

export function goneRow(): DeliveryOutcome {
  return discardedRow(NOWHERE, 'unsubscribed')
}

function discardedRow(place: Place, reason: string): DeliveryOutcome {
  return { ...emptyRow(), ...place, state: 'discarded', ...shownWhy(whyItEnded(reason)), reason }
}

function endedRow(entry: LaneEntry, place: Place): DeliveryOutcome {
  return {
    ...place,
    state: entry.outcome,
    attempts: entry.attempts,
    lastStatusCode: entry.statusCode,
    lastError: entry.error,
    nextAttemptAt: null,
    endedAt: entry.storedAt ?? null,
    ...shownWhy(whyOfEnd(entry)),
    reason: entry.reason,
    redrives: entry.generation,
  }
}

function whyOfEnd({ outcome, why, reason, attempts, generation }: LaneEntry): Why | undefined {
  if (outcome !== 'delivered') return whyItEnded(reason)
  return why ?? (attempts === 1 ? whyRedriven(generation) : undefined)
}

function whyRedriven(redrives: number): Why | undefined {
  return redrives > 0 ? { because: 'redrive', delayMs: null } : undefined
}

/** The known facts of a failure. */
interface Failure {
  statusCode: number | null | undefined
  error: string | null | undefined
}

/** In its lane, after so many redrives; `last` failed before its state there. undefined: it is not there. */
function waitingRow(
  subscriber: Subscriber,
  where: DeliveryWhere | undefined,
  last: Failure,
  redrives: number,
): DeliveryOutcome | undefined {
  if (!where || where.where === 'absent') return undefined
  const { state } = where
  return {
    ...placeAt(subscriber),
    state: where.where,
    attempts: state?.attempts ?? 0,
    lastStatusCode: state?.statusCode ?? last.statusCode ?? null,
    lastError: state?.error ?? last.error ?? null,
    nextAttemptAt: nextAttemptAt(where),
    endedAt: null,
    ...shownWhy(whyThere(subscriber, where, redrives)),
    reason: state?.kind === 'dead' ? state.reason : null,
    redrives,
  }
}

/** A paused lane snapshots nothing; one that waits for more than the due time snapshots no earlier attempt. */
function nextAttemptAt({ dueAt, hold, state }: DeliveryWhere): number | null {
  if (!hold || state?.kind === 'dead') return dueAt
  return hold.because === 'paused' ? null : (hold.until ?? dueAt)
}

/** Why it waits; in flight, why its attempt came when it did. */
function whyThere({ record }: Subscriber, where: DeliveryWhere, redrives: number): Why | undefined {
  const { state, hold } = where
  if (state?.kind === 'dead') {
    return hold?.because === 'dlqMissing'
      ? { because: 'dlqMissing', delayMs: null }
      : whyItEnded(state.reason)
  }
  if (hold) {
    const probeMs = (record.circuitBreaker?.probeSeconds ?? 0) * 1_000
    return { because: hold.because, delayMs: hold.because === 'circuitOpen' && probeMs > 0 ? probeMs : null }
  }
  if (state?.why) return state.why
  const isFresh = where.where === 'waiting' && !state
  return whyRedriven(state ? 0 : redrives) ?? (isFresh ? { because: 'capacity', delayMs: null } : undefined)
}

export function parkedRow(
  subscriber: Subscriber,
  where: DeliveryWhere | undefined,
  ended: LaneEntry | undefined,
  entry: DispatchEntry,
): DeliveryOutcome {
  const [, statusCode, error] = entry.failures.find(([slot]) => slot === subscriber.record.slot) ?? []
  const waiting = waitingRow(subscriber, where, { statusCode, error }, 0)
  if (waiting) return waiting
  const place = placeAt(subscriber)
  if (ended) return endedRow(wasPaused(entry, subscriber.record.slot) ? heldByPause(ended) : ended, place)
  // It left its lane without its own entry: purged, or its entry was cut off or lost.
  const isPurged = (where?.purgedAt ?? 0) >= publishedAtOf(entry.messageId)
  return discardedRow(place, isPurged ? PURGED : UNTOLD)
}

/** Published while its subscription was paused, which the worker that delivered it does not know. */
function heldByPause(ended: LaneEntry): LaneEntry {
  if (ended.outcome !== 'delivered' || ended.attempts !== 1) return ended
  return { ...ended, why: { because: 'paused', delayMs: ended.why?.delayMs ?? null } }
}

/** The row of a dead delivery that a redrive has brought back. Undefined if none has, or it has ended anew. */
export function backRow(
  subscriber: Subscriber,
  where: DeliveryWhere | undefined,
  dead: LaneEntry,
): DeliveryOutcome | undefined {
  return waitingRow(subscriber, where, dead, dead.generation + 1)
}
