/** What the outcome log and the lanes tell of a delivery, as one row. */
import { publishedAtOf, type SubscriptionRecord } from '@fantail/contracts'
import type { DeadState, DeliveryWhere, RetryState } from './lane-records.ts'
import type { DispatchEntry, Found, LaneEntry, LaneOutcome } from './outcome-entries.ts'

/** Reasons of a delivery that has ended and of whose end there is no entry. */
export const UNTOLD = 'unknown'
export const PURGED = 'purged'

export type DeliveryState = LaneOutcome | 'waiting' | 'inFlight' | 'filtered' | 'quarantined'

export interface DeliveryOutcome {
  subscriptionId: string | null
  endpoint: string | null
  state: DeliveryState
  attempts: number
  lastStatusCode: number | null
  lastError: string | null
  nextAttemptAt: number | null
  reason: string | null
  /** How often it was brought back from a dead-letter queue. */
  redrives: number
}

/**
 * A delivery that a redrive brought back has an entry of its own when it ends anew. The row of its subscription becomes
 * that of its latest end; what is returned are rows of subscriptions that have none among the first.
 */
export function redrivenRows({ lanes }: Found, first: DeliveryOutcome[]): DeliveryOutcome[] {
  const rows = new Map(first.map((row) => [row.subscriptionId, row]))
  const added: DeliveryOutcome[] = []
  for (const entry of lanes) {
    if (entry.generation === 0) continue
    const { subscriptionId } = entry
    const row = rows.get(subscriptionId)
    if (row && row.redrives >= entry.generation) continue
    const latest = endedRow(entry, { subscriptionId, endpoint: row?.endpoint ?? null })
    if (row) {
      Object.assign(row, latest)
      continue
    }
    rows.set(subscriptionId, latest)
    added.push(latest)
  }
  return added
}

/** Row of a delivery without any attempt. */
export function emptyRow(): DeliveryOutcome {
  return { ...deliveredRow(undefined), state: 'waiting', attempts: 0 }
}

export function deliveredRow(record: SubscriptionRecord | undefined): DeliveryOutcome {
  return {
    subscriptionId: record?.id ?? null,
    endpoint: record?.endpoint ?? null,
    state: 'delivered',
    attempts: 1,
    lastStatusCode: null,
    lastError: null,
    nextAttemptAt: null,
    reason: null,
    redrives: 0,
  }
}

export function goneRow(): DeliveryOutcome {
  return { ...deliveredRow(undefined), state: 'discarded', attempts: 0, reason: 'unsubscribed' }
}

function endedRow(
  entry: LaneEntry,
  who: Pick<DeliveryOutcome, 'subscriptionId' | 'endpoint'>,
): DeliveryOutcome {
  return {
    ...who,
    state: entry.outcome,
    attempts: entry.attempts,
    lastStatusCode: entry.statusCode,
    lastError: entry.error,
    nextAttemptAt: null,
    reason: entry.reason,
    redrives: entry.generation,
  }
}

/** What is known of a failure, where anything is. */
interface Failure {
  statusCode: number | null | undefined
  error: string | null | undefined
}

/** In its lane, after so many redrives; `last` failed before what its state there tells of. undefined: it is not there. */
function waitingRow(
  record: SubscriptionRecord,
  where: DeliveryWhere | undefined,
  last: Failure,
  redrives: number,
): DeliveryOutcome | undefined {
  if (!where || where.where === 'absent') return undefined
  const state: RetryState | DeadState | null = where.state
  return {
    subscriptionId: record.id,
    endpoint: record.endpoint,
    state: where.where,
    attempts: state?.attempts ?? 0,
    lastStatusCode: state?.statusCode ?? last.statusCode ?? null,
    lastError: state?.error ?? last.error ?? null,
    nextAttemptAt: where.dueAt,
    reason: state?.kind === 'dead' ? state.reason : null,
    redrives,
  }
}

export function parkedRow(
  record: SubscriptionRecord,
  where: DeliveryWhere | undefined,
  ended: LaneEntry | undefined,
  entry: DispatchEntry,
): DeliveryOutcome {
  const [, statusCode, error] = entry.failures.find(([slot]) => slot === record.slot) ?? []
  const waiting = waitingRow(record, where, { statusCode, error }, 0)
  if (waiting) return waiting
  const who = { subscriptionId: record.id, endpoint: record.endpoint }
  if (ended) return endedRow(ended, who)
  // It left its lane without an entry of its own: purged, or its entry was cut off or lost.
  const isPurged = (where?.purgedAt ?? 0) >= publishedAtOf(entry.messageId)
  const reason = isPurged ? PURGED : UNTOLD
  return { ...deliveredRow(record), ...who, state: 'discarded', attempts: 0, reason }
}

/** Of a delivery that a redrive has brought back since it died; undefined where none has, or it has ended anew. */
export function backRow(
  record: SubscriptionRecord,
  where: DeliveryWhere | undefined,
  dead: LaneEntry,
): DeliveryOutcome | undefined {
  return waitingRow(record, where, dead, dead.generation + 1)
}
