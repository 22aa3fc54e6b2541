/**
 * Types of lanes.ts: deliveries, their retry states, and the requests and results of park, take, settle.
 *
 * A delivery is in one of three places: waiting (fresh or retry, with its due time), in flight (under a lease) or gone
 * from the lane. A lease is a text that only the claim that returned it holds. A write with another lease, or with one
 * that has been handed on since, changes nothing.
 */
import { type DeadLetterReason, formatMessageId, parseMessageId, type StoredWhy } from '@fantail/contracts'
import type { Answered } from '@fantail/policy'
import { packWhy, unpackWhy } from '../outcomes/why-codes.ts'

/** A delivery that failed and will be attempted again. `attempts` counts those made. */
export interface RetryState {
  kind: 'retry'
  attempts: number
  statusCode: number | null
  error: string | null
  /** The decision about its next attempt; absent in states of older releases. */
  why?: StoredWhy | undefined
}

/** A delivery that is to be appended to its dead-letter queue, never attempted. */
export interface DeadState {
  kind: 'dead'
  reason: DeadLetterReason
  attempts: number
  statusCode: number | null
  error: string | null
}

/** `detached` is an attempt still running: the delivery starts in flight, under a lease that the result carries. */
export type ParkAs =
  | { as: 'fresh' }
  | { as: 'retry'; delayMs: number; state: RetryState }
  | { as: 'dead'; state: DeadState }
  | { as: 'detached'; leaseMs: number }

export interface ParkEntry {
  subscriptionId: string
  delivery: Buffer
  /** Index into the request's messages. */
  message: number
  park: ParkAs
  /** Absent: unchanged. A detached delivery's endpoint is always unproven. */
  standing?: Standing | undefined
}

/**
 * The latest attempts at an endpoint. Proven: it answers in time. Unproven: its latest attempt has no answer. The lane
 * of an unproven one waits for its turn (keys.ts, `turns`).
 */
export type Standing = 'proven' | 'unproven'

/** Entries of one job under its fence; `job` '' has neither fence nor checkpoint. */
export interface ParkJob {
  job: string
  fence: number
  /** Checkpoint fields, each written whole. */
  fields: [string, Buffer][]
  entries: ParkEntry[]
}

/**
 * The checkpoint field that names a batch of entries: one that is repeated under the name last stored, because its
 * reply was lost, parks and counts nothing again. `name` is unique among the job's batches in the shard.
 */
export function batchField(name: string): [string, Buffer] {
  return ['p', Buffer.from(name)]
}

export interface ParkMessage {
  /** 16 bytes. */
  id: Buffer
  /** JSON of the Message. */
  body: Buffer | string
}

export interface ParkRequest {
  messages: ParkMessage[]
  jobs: ParkJob[]
}

/** `present`: it waits or is in flight already. `gone`: its subscription is deleted (counted, except for redrives). */
export type ParkOutcome = 'parked' | 'present' | 'gone'

export type ParkedJob =
  | { stale: true }
  | {
      stale: false
      outcomes: ParkOutcome[]
      /** Leases of parked detached entries, by position; null for all others. */
      leases: (string | null)[]
    }

export interface ParkResult {
  jobs: ParkedJob[]
  nextDueAt: number | null
}

export interface RedrivenEntry {
  subscriptionId: string
  /** With its new generation. */
  delivery: Buffer
  /** Index into the request's messages. */
  message: number
  /** The message's group. In a FIFO lane the delivery waits behind the group's others. */
  groupId?: string
  /** The dead letter's id in its queue; what makes a repeated batch harmless. */
  itemId: string
}

export interface ParkRedrivenRequest {
  task: string
  fence: number
  /** Rises with every batch of the task; a repeated number is a repeated batch. */
  batch: number
  messages: ParkMessage[]
  entries: RedrivenEntry[]
}

/** Stale: a higher fence has been here; or a later batch of the task, and its number. */
export type ParkRedrivenResult =
  | { stale: true; laterBatch?: number }
  | { stale: false; outcomes: ParkOutcome[]; nextDueAt: number | null }

export interface TakeRequest {
  lanesMax: number
  deliveriesMax: number
  leaseMs: number
  /** Subscription id → how many claims it may get now. */
  limits: Map<string, number>
  /** Logs of FIFO topics; default none. */
  logsMax?: number
  /**
   * Claims of a lane that is not named, unless its own maxInFlight is lower. Throttled lanes are bounded by their rate
   * alone.
   */
  othersMax?: number
  /** Claims for lanes of unproven endpoints, one each; default as many as deliveriesMax. */
  turnsMax?: number
  /** Redis time until when a lane has waited that gets its turn; default now. */
  turnsTill?: number
}

export interface Claim {
  delivery: Buffer
  lease: string
  /** Redis time in ms, fractional, at most 250 ms ahead; throttled lanes only. */
  sendAt: number | null
  /** null: never attempted. */
  state: RetryState | DeadState | null
  /** FIFO: those behind it in its group, in order, that may be delivered together with it under its lease. */
  run?: Buffer[]
}

export interface LaneRenewal {
  subscriptionId: string
  /** Nothing late is to be sent before this much time has passed. */
  leadMs: number
  /** In the order of their send times; null: it makes another request, and takes a new one. */
  claims: Pick<Claim, 'delivery' | 'lease' | 'sendAt'>[]
}

export interface RenewRequest {
  /** How long a lease lasts at least, from the send time on. */
  leaseMs: number
  lanes: LaneRenewal[]
}

export interface RenewedClaim {
  /**
   * Redis time in ms, at most 700 ms ahead. null: there is none, as the lease has ended, the lane is paused or deleted,
   * or too many claims have send times before it.
   */
  sendAt: number | null
  /** The one that holds from now on. */
  lease: string
}

/** The right to move what is in a FIFO topic's log, for 3 s from the last move (fifo-reading.ts). */
export interface LogClaim {
  uid: string
  topicArn: string
  fence: number
  /** The log is that of this isolated group; absent: the topic's own. */
  group?: string
}

export interface ClaimedLane {
  subscriptionId: string
  sliceId: string
  sliceRevision: string
  /** Its endpoint has answered in time. */
  proven: boolean
  claims: Claim[]
}

export interface DeliveryRef {
  subscriptionId: string
  delivery: Buffer
}

export interface TakeResult {
  /** Redis time in ms; what `sendAt` and `nextDueAt` are to be compared with. */
  now: number
  nextDueAt: number | null
  /** The earliest turn of a lane whose endpoint is unproven. A sweep does not return it. */
  nextTurnAt: number | null
  lanes: ClaimedLane[]
  /** Removed and counted because the message was too old and there is no dead-letter queue. */
  expired: DeliveryRef[]
  /** Deliveries of deleted subscriptions, and messages in logs of deleted topics, that were removed and counted. */
  drained: number
  logs: LogClaim[]
}

export interface SweepRequest {
  /** null begins; then what the step before returned, until that is null. */
  cursor: string | null
  deliveriesMax: number
  leaseMs: number
}

/** One step of a sweep; its claims are all dead (to be appended, then forgotten). */
export interface SweepResult extends TakeResult {
  cursor: string | null
}

/** What a subscription's attempts have come to since the last note; all times in ms before it is written. */
export interface AttemptNote {
  subscriptionId: string
  attempts: number
  successes: number
  /** Since the first of them ended. */
  beganMs: number
  /** Since the last success; null: there was none. */
  succeededMs: number | null
  /** The last failure; null: there was none. */
  failed: { ms: number; statusCode: number | null; error: string | null } | null
}

/** An endpoint's answer (policy/src/retries/retry-mode.ts), or that a claim was handed back unsent. */
export interface LaneResult {
  subscriptionId: string
  answered: Answered | 'unsent'
  /** The retry quota that its attempt took. */
  cost: number
}

export interface NotedResults {
  /** By position: whether the lane's circuit was open before this result. */
  circuitOpen: boolean[]
  /** By position: when the circuit last closed; null where it is open or never was. */
  circuitClosedAt: (number | null)[]
  nextDueAt: number | null
}

export type SettleTo =
  /** FIFO: with it those of its claim's `run` that were delivered too. */
  | { op: 'delivered'; run?: Buffer[] }
  | { op: 'retry'; delayMs: number; state: RetryState }
  /** Stays in flight with a lease of at least `leaseMs`: the result's `leases` has the one that is valid from now. */
  | { op: 'markDead'; leaseMs: number; state: DeadState }
  /** After the append to the dead-letter queue; counts `deadLettered`. */
  | { op: 'forget' }
  /** Counts `discarded:<cause>`; the cause `expired` counts `expired`. */
  | { op: 'discard'; cause: string }
  /** Its dead-letter queue does not exist: due again after a while, marked as it is, never later than `delayMaxMs`. */
  | { op: 'awaitQueue'; delayMaxMs: number }
  /** Unsent: due now or after `delayMs`, no attempt counted. */
  | { op: 'return'; delayMs?: number }
  /** Its attempt failed under an open circuit: due now, no attempt counted. */
  | { op: 'kept' }
  /** After its entry was added to the quarantine; counts `quarantined`. */
  | { op: 'quarantined' }
  /** Its attempt goes on: only the endpoint's standing is written. */
  | { op: 'keep' }

export interface Settlement {
  subscriptionId: string
  delivery: Buffer
  lease: string
  to: SettleTo
  /** The endpoint's standing after the attempt; absent: nothing new. */
  standing?: Standing | undefined
}

export interface SettleResult {
  /** By position: false where the lease was not the current one and nothing was changed. */
  accepted: boolean[]
  /** By position: the lease that holds from now on after an accepted `markDead`, else null. */
  leases: (string | null)[]
  nextDueAt: number | null
}

/** When each shard is next due, and when the first of its lanes of unproven endpoints has its turn. */
export interface ShardTimes {
  due: Map<number, number>
  turns: Map<number, number>
}

export interface Checkpoint {
  stale: boolean
  fields: Map<string, Buffer>
}

interface LaneFailure {
  at: number
  statusCode: number | null
  error: string | null
}

export interface LaneFigures {
  waiting: number
  inFlight: number
  /** Age of the waiting deliveries: exact for fresh ones, for retries that of the next few. */
  oldestPublishedAt: number | null
  nextAttemptAt: number | null
  /** Effective throttle per second. */
  rate: number | null
  lastFailure: LaneFailure | null
  lastSuccessAt: number | null
  /** Attempts that ended in the last half minute to minute, how many of them well, and the ms that these took. */
  lately: { attempts: number; successes: number; spanMs: number }
  /** The remaining retry quota; null without one. */
  retryQuota: number | null
  /** Until the next probe; null where no circuit is open. */
  circuitOpenUntil: number | null
  /** Dead deliveries wait because the dead-letter queue does not exist. */
  isQueueMissing: boolean
}

export interface DeliveryWhere {
  where: 'waiting' | 'inFlight' | 'absent'
  /** Due time of a waiting delivery. */
  dueAt: number | null
  state: RetryState | DeadState | null
  /** The lane's reason to wait beyond the due time, and until when at least; absent: none. */
  hold?: { because: StoredWhy['because']; until: number | null }
  /** When the lane of an absent delivery was last purged. */
  purgedAt?: number
}

/** A lane's id of a delivery: 16 bytes of the message id, and 2 of the generation if it is not 0. */
export function deliveryId(messageId: string, generation = 0): Buffer {
  const id = parseMessageId(messageId)
  if (id === undefined) throw new TypeError(`not a message id: ${messageId}`)
  if (generation === 0) return id
  const suffix = Buffer.alloc(2)
  suffix.writeUInt16BE(generation)
  return Buffer.concat([id, suffix])
}

export function parseDeliveryId(id: Buffer): { messageId: string; generation: number } {
  return { messageId: formatMessageId(id), generation: id.length > 16 ? id.readUInt16BE(16) : 0 }
}

/** Longer error codes in two letters: a state of up to 14 bytes costs 16 of memory, a longer one 32. */
const SHORT_ERRORS: Record<string, string> = {
  timeout: '#t',
  dns: '#d',
  tls: '#l',
  connection_refused: '#r',
  connection_reset: '#x',
  connection_failed: '#f',
  invalid_response: '#i',
  forbidden_address: '#a',
  queue_missing: '#m',
  queue_refused: '#q',
}
const LONG_ERRORS = new Map(Object.entries(SHORT_ERRORS).map(([error, short]) => [short, error]))

/** An error as the lane scripts stored it; null where there is none. */
export function unpackError(text: string): string | null {
  return LONG_ERRORS.get(text) ?? (text || null)
}

/**
 * `A<attempts>,<statusCode>,<error>` or `D<reason>,<attempts>,<statusCode>,<error>`; empty where null. The decision
 * about the next attempt stands before the error, as `<why>~` (why-codes.ts).
 */
export function packState(state: RetryState | DeadState): string {
  const error = state.error === null ? '' : (SHORT_ERRORS[state.error] ?? state.error)
  const rest = `${state.attempts},${state.statusCode ?? ''}`
  if (state.kind === 'dead') return `D${state.reason},${rest},${error}`
  return `A${rest},${state.why ? `${packWhy(state.why)}~` : ''}${error}`
}

const STATE = /^(?:A|D(\w+),)(\d+),(\d*),(?:([a-z][0-9a-z]*)~)?(.*)$/s

export function unpackState(text: string): RetryState | DeadState | null {
  const match = STATE.exec(text)
  if (!match) return null
  const rest = {
    attempts: Number(match[2]),
    statusCode: match[3] ? Number(match[3]) : null,
    error: unpackError(match[5] ?? ''),
  }
  if (match[1] !== undefined) return { kind: 'dead', reason: match[1] as DeadLetterReason, ...rest }
  const why = match[4] === undefined ? undefined : unpackWhy(match[4])
  return { kind: 'retry', ...rest, ...(why && { why }) }
}
