/** Combines the outcome log and the lanes into one row per delivery. */
import { type DeliveryCause, publishedAtOf, type Why } from '@fantail/contracts'
import { shownWhy, whyItEnded } from '@fantail/policy'
import { redrivesOf, resentAtOf, resentGeneration } from '../lanes/records/generations.ts'
import type { DeliveryWhere } from '../lanes/records/lane-records.ts'
import type { BitFacts } from './bit-facts.ts'
import type { Found, LaneEntry, LaneOutcome } from './outcome-entries.ts'
import type { Subscriber } from './outcome-subscribers.ts'

/** The reason that is shown for an ended delivery if the log has no entry of its end. */
export const UNTOLD = 'unknown'
export const PURGED = 'purged'
const UNSUBSCRIBED = 'unsubscribed'

export type DeliveryState = LaneOutcome | 'waiting' | 'inFlight' | 'filtered' | 'quarantined'

export interface DeliveryOutcome {
  subscriptionId: string | null
  subscriptionName: string | null
  endpoint: string | null
  state: DeliveryState
  attempts: number
  /** The number of attempts that the present policy allows. null: the subscription no longer exists. */
  attemptsMax: number | null
  lastStatusCode: number | null
  lastError: string | null
  nextAttemptAt: number | null
  /**
   * When the log stored the end, epoch ms by Redis's clock. null: the delivery has not ended, or the time is unknown.
   */
  endedAt: number | null
  delayMs: number | null
  cause: DeliveryCause | null
  reason: string | null
  /** How often the delivery was brought back from a dead-letter queue, since it was resent if it was. */
  redrives: number
  /** When the delivery was resent, epoch ms. null: it was not. */
  resentAt: number | null
}

/**
 * Rows of redriven deliveries, which have entries of their own. The row of a subscription in `first` is replaced by the
 * row of its delivery's latest end. Returns the rows of subscriptions that `first` does not have.
 */
export function redrivenRows({ lanes }: Found, first: DeliveryOutcome[]): DeliveryOutcome[] {
  const rows = new Map(first.map((row) => [row.subscriptionId, row]))
  const added: DeliveryOutcome[] = []
  for (const entry of lanes) {
    const { subscriptionId } = entry
    if (entry.generation === 0 || subscriptionId === null) continue
    const row = rows.get(subscriptionId)
    if (row && generationOf(row) >= entry.generation) continue
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

/** The numbers of a row that make its generation. */
function timesOf(generation: number): Pick<DeliveryOutcome, 'redrives' | 'resentAt'> {
  return { redrives: redrivesOf(generation), resentAt: resentAtOf(generation) }
}

export function generationOf({ redrives, resentAt }: DeliveryOutcome): number {
  return redrives + (resentAt === null ? 0 : resentGeneration(resentAt))
}

/** The delivery of a row. */
type Place = Pick<DeliveryOutcome, 'subscriptionId' | 'subscriptionName' | 'endpoint' | 'attemptsMax'>

const NOWHERE: Place = { subscriptionId: null, subscriptionName: null, endpoint: null, attemptsMax: null }

function placeOf({ subscriptionId, subscriptionName, endpoint, attemptsMax }: DeliveryOutcome): Place {
  return { subscriptionId, subscriptionName, endpoint, attemptsMax }
}

/** undefined: nobody knows the subscription any more. */
function placeAt(subscriber: Subscriber | undefined): Place {
  if (!subscriber) return NOWHERE
  const { id, name, endpoint, attemptsMax } = subscriber
  return { subscriptionId: id, subscriptionName: name, endpoint, attemptsMax }
}

/** Row of a delivery without any attempt. */
export function emptyRow(): DeliveryOutcome {
  return {
    ...NOWHERE,
    state: 'waiting',
    attempts: 0,
    lastStatusCode: null,
    lastError: null,
    nextAttemptAt: null,
    endedAt: null,
    ...shownWhy(undefined),
    reason: null,
    redrives: 0,
    resentAt: null,
  }
}

/** The row of a delivery that succeeded at its first attempt, made by dispatch. */
export function deliveredRow({ subscriber, statusCode, storedAt }: BitFacts): DeliveryOutcome {
  const answered = { attempts: 1, lastStatusCode: statusCode, endedAt: storedAt }
  return { ...emptyRow(), ...placeAt(subscriber), state: 'delivered', ...answered }
}

/** The row of a direct message. It shows the target, and not the subscription whose lane many targets share. */
export function directRow(row: DeliveryOutcome, target: string): DeliveryOutcome {
  return { ...row, subscriptionId: null, subscriptionName: null, endpoint: target }
}

/** The log does not say which clause has not matched, so the cause comes from the present settings. */
export function filteredRow({ subscriber, storedAt }: BitFacts): DeliveryOutcome {
  const why = shownWhy(whyItEnded(subscriber?.hasTypesAlone ? 'eventTypes' : 'filterPolicy'))
  return { ...emptyRow(), ...placeAt(subscriber), state: 'filtered', endedAt: storedAt, ...why }
}

/** The row of a message that ended as a whole, before matching. There is at most one. */
export function wholeRows({ lanes }: Found): DeliveryOutcome[] {
  const ended = lanes.find(({ subscriptionId }) => subscriptionId === null)
  return ended ? [endedRow(ended, NOWHERE)] : []
}

/**
 * Rows of parked deliveries whose subscriptions nobody knows any more. `ended`: entries of subscriptions of the same
 * slice that nobody knows either. Entries have ids, and parked deliveries only bits.
 */
export function unknownRows(parked: number, ended: LaneEntry[]): DeliveryOutcome[] {
  const known = ended.map((entry) => endedRow(entry, { ...NOWHERE, subscriptionId: entry.subscriptionId }))
  const others = Array.from({ length: Math.max(0, parked - ended.length) }, () =>
    discardedRow(NOWHERE, UNSUBSCRIBED),
  )
  return [...known, ...others]
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
    ...timesOf(entry.generation),
  }
}

function whyOfEnd({ outcome, why, reason, attempts, generation }: LaneEntry): Why | undefined {
  if (outcome !== 'delivered') return whyItEnded(reason)
  return why ?? (attempts === 1 ? whyRedriven(generation) : undefined)
}

function whyRedriven(generation: number): Why | undefined {
  if (generation === 0) return undefined
  const isResent = resentAtOf(generation) !== null && redrivesOf(generation) === 0
  return { cause: isResent ? 'resend' : 'redrive', delayMs: null }
}

/** The known facts of a failure. */
interface Failure {
  statusCode: number | null | undefined
  error: string | null | undefined
}

/**
 * The row of a delivery that is in its lane, of this generation. `last`: the failure before its present state.
 * undefined: it is not in its lane.
 */
function waitingRow(
  subscriber: Subscriber,
  where: DeliveryWhere | undefined,
  last: Failure,
  generation: number,
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
    ...shownWhy(whyThere(subscriber, where, generation)),
    reason: state?.kind === 'dead' ? state.cause : null,
    ...timesOf(generation),
  }
}

/** null if the lane is paused. If the lane makes it wait longer than its due time, the later time is given. */
function nextAttemptAt({ dueAt, hold, state }: DeliveryWhere): number | null {
  if (!hold || state?.kind === 'dead') return dueAt
  if (hold.cause === 'gone') return hold.until
  return hold.cause === 'paused' ? null : (hold.until ?? dueAt)
}

/** The cause for which it waits. In flight: the cause of its attempt's time. */
function whyThere({ probeSeconds }: Subscriber, where: DeliveryWhere, generation: number): Why | undefined {
  const { state, hold } = where
  if (state?.kind === 'dead') {
    return hold?.cause === 'dlqMissing' ? { cause: 'dlqMissing', delayMs: null } : whyItEnded(state.cause)
  }
  if (hold) {
    const probeMs = probeSeconds * 1_000
    return { cause: hold.cause, delayMs: hold.cause === 'circuitOpen' && probeMs > 0 ? probeMs : null }
  }
  if (state?.why) return state.why
  const isFresh = where.where === 'waiting' && !state
  return whyRedriven(state ? 0 : generation) ?? (isFresh ? { cause: 'capacity', delayMs: null } : undefined)
}

/** The row of a parked delivery. `where`: its place in its lane; `ended`: the entry of its end. */
export function parkedRow(
  subscriber: Subscriber,
  {
    where,
    ended,
    facts,
  }: { where: DeliveryWhere | undefined; ended: LaneEntry | undefined; facts: BitFacts },
  messageId: string,
): DeliveryOutcome {
  const { former } = subscriber
  // The lane of a deleted subscription discards what waits in it.
  const isKept = !former || where?.where === 'inFlight'
  const last = facts.failure ?? { statusCode: null, error: null }
  const waiting = isKept ? waitingRow(subscriber, where, last, 0) : undefined
  if (waiting) return waiting
  const place = placeAt(subscriber)
  if (ended) return endedRow(facts.wasPaused ? causedByPause(ended) : ended, place)
  // The delivery left its lane without an entry: it was purged, or its entry was cut off or lost.
  const purgedAt = Math.max(where?.purgedAt ?? 0, former?.purgedAt ?? 0)
  const isPurged = purgedAt >= publishedAtOf(messageId)
  return discardedRow(place, isPurged ? PURGED : former ? UNSUBSCRIBED : UNTOLD)
}

/**
 * The subscription was paused when the message was published. The worker that delivered it later does not know that.
 */
function causedByPause(ended: LaneEntry): LaneEntry {
  if (ended.outcome !== 'delivered' || ended.attempts !== 1) return ended
  return { ...ended, why: { cause: 'paused', delayMs: ended.why?.delayMs ?? null } }
}

/** The row of a dead delivery that a redrive has brought back. undefined: it was not redriven, or has ended again. */
export function backRow(
  subscriber: Subscriber,
  where: DeliveryWhere | undefined,
  dead: LaneEntry,
): DeliveryOutcome | undefined {
  return waitingRow(subscriber, where, dead, dead.generation + 1)
}

/** The row of a resent delivery. undefined: it is not in its lane. */
export function resentRow(
  subscriber: Subscriber,
  where: DeliveryWhere | undefined,
  generation: number,
): DeliveryOutcome | undefined {
  return waitingRow(subscriber, where, { statusCode: null, error: null }, generation)
}
