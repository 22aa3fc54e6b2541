/**
 * Types of lanes.ts: deliveries, their retry states, and the requests and results of park, take and settle.
 *
 * A delivery is waiting (fresh or retry, with its due time), in flight (under a lease), or gone from the lane. Only the
 * claim that returned a lease has that lease. A write with a lease that is not the current one changes nothing.
 */
import type { DeadLetterReason, StoredWhy } from '@fantail/contracts'
import type { Answered } from '@fantail/policy'
import { packWhy, unpackWhy } from '../../records/why-codes.ts'

/** A delivery that failed and will be attempted again. `attempts`: the number made so far. */
export interface RetryState {
  kind: 'retry'
  attempts: number
  statusCode: number | null
  error: string | null
  /** The decision about the next attempt. Absent: it is unknown. */
  why?: StoredWhy | undefined
}

/** A delivery that will be appended to its dead-letter queue, without further attempts. */
export interface DeadState {
  kind: 'dead'
  cause: DeadLetterReason
  attempts: number
  statusCode: number | null
  error: string | null
}

/** `detached`: the attempt is still running. The delivery starts in flight, under a lease that the result returns. */
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
  /** Absent: unchanged. The endpoint of a detached delivery is always unproven. */
  standing?: Standing | undefined
}

/**
 * The result of the latest attempts at an endpoint. Proven: it answers in time. Unproven: its latest attempt has no
 * answer. The lane of an unproven endpoint waits in a line of its own (keys.ts, `unproven`).
 */
export type Standing = 'proven' | 'unproven'

/** Entries of one job under its fence. If `job` is '', there is neither fence nor checkpoint. */
export interface ParkJob {
  jobName: string
  fence: number
  /** Checkpoint fields. Each value replaces the stored one. */
  fields: [string, Buffer][]
  entries: ParkEntry[]
}

/**
 * The checkpoint field with the name of a batch of entries. If a reply is lost, the batch is parked again under the
 * stored name, and then changes and counts nothing. `name` is unique among the job's batches in the shard.
 */
export function batchField(name: string): [string, Buffer] {
  return ['p', Buffer.from(name)]
}

export interface ParkMessage {
  /** The message id, 16 bytes. */
  id: Buffer
  /** JSON of the Message. */
  body: Buffer | string
  /** Its message group, by which lanes may be throttled. */
  groupId?: string | undefined
}

export interface ParkRequest {
  messages: ParkMessage[]
  jobs: ParkJob[]
}

/**
 * `present`: it waits or is in flight already. `unsubscribed`: its subscription is deleted. This is counted, except for
 * redrives.
 */
export type ParkOutcome = 'parked' | 'present' | 'unsubscribed'

/** The delivery was not parked, because data of its lane is unreadable. */
export interface ParkFailure {
  /** The error of Redis. */
  error: string
}

export type ParkedJob =
  | { stale: true }
  | {
      stale: false
      /** If there is a failure among them, the checkpoint of the job was not written. */
      outcomes: (ParkOutcome | ParkFailure)[]
      /** Leases of parked detached entries, by position; null for all others. */
      leases: (string | null)[]
    }

export interface ParkResult {
  jobs: ParkedJob[]
  nextDueAt: number | null
}

export interface RedrivenEntry {
  subscriptionId: string
  /** The delivery with its new generation. */
  delivery: Buffer
  /** Index into the request's messages. */
  message: number
  /** The message's group. In a FIFO lane the delivery waits behind earlier ones of its group. */
  groupId?: string
  /**
   * Set if the subscription has a FIFO topic: whether several deliveries of a group may be sent at once. A lane that
   * has got no delivery yet does not know it.
   */
  sendsFollowers?: boolean
  /** The dead letter's id in its queue. It makes a repeated batch change nothing. */
  itemId: string
}

export interface ParkRedrivenRequest {
  task: string
  fence: number
  /** Rises with every batch of the task. A repeated number means a repeated batch. */
  batch: number
  messages: ParkMessage[]
  entries: RedrivenEntry[]
}

/** `stale`: a higher fence is stored, or a later batch of the task; then its number is given. */
export type ParkRedrivenResult =
  | { stale: true; laterBatch?: number }
  | { stale: false; outcomes: ParkOutcome[]; nextDueAt: number | null }

export interface TakeRequest {
  lanesMax: number
  deliveriesMax: number
  leaseMs: number
  /** Subscription id → the most claims that it may get now. */
  limits: Map<string, number>
  /** The most FIFO logs to lend; default none. */
  logsMax?: number
  /**
   * The most claims of a lane that `limits` does not name, unless its own maxInFlight is lower. Throttled lanes are
   * only bounded by their rate.
   */
  othersMax?: number
  /** The most lanes of unproven endpoints that are served, with one claim each. Default: deliveriesMax. */
  unprovenMax?: number
  /** Subscription id → the claims that its lane gets at a time. Default: one. */
  unprovenClaims?: ReadonlyMap<string, number> | undefined
  /** Only lanes that have waited since before this time of Redis are served. Default: now. */
  unprovenTill?: number
  /** The worker's round trip if it is long. Send times are then given out that much earlier. Default: 0. */
  tripMs?: number
  /** No send time is earlier than this many ms from now. Default: 0. */
  leadMs?: number
  /** The most bytes of bodies that the reply brings. Default: none. */
  bodyBytesMax?: number
}

/**
 * Time for which a lease lasts after the attempt's deadline. After it: the delivery waits again. In this time the
 * worker writes the result to Redis, even if it is busy. The time must not be longer, because deliveries of a killed
 * worker must continue within 20 s.
 */
export const LEASE_MARGIN_MS = 3_500

export interface Claim {
  delivery: Buffer
  lease: string
  /**
   * Redis time in ms, fractional, at most 250 ms ahead, or 850 ms behind a slow Redis. Only claims of throttled lanes
   * have one.
   */
  sendAt: number | null
  /** null: never attempted. */
  state: RetryState | DeadState | null
  /** FIFO: the deliveries behind it in its group, in order, that may be delivered together with it under its lease. */
  followers?: Buffer[]
}

export interface LaneRenewal {
  subscriptionId: string
  /** Late claims get no send time earlier than this many ms from now. */
  leadMs: number
  /** Claims in the order of their send times. null: the claim makes another request, and needs a new send time. */
  claims: Pick<Claim, 'delivery' | 'lease' | 'sendAt'>[]
}

export interface RenewRequest {
  /** The shortest time from the send time to the end of the lease. */
  leaseMs: number
  lanes: LaneRenewal[]
}

export interface RenewedClaim {
  /**
   * Redis time in ms, at most 1,200 ms ahead. null: there is none. The lease has ended, the lane is paused or deleted,
   * or too many claims have earlier send times.
   */
  sendAt: number | null
  /** The lease that is current from now on. */
  lease: string
}

/** The right to move messages of a FIFO log, for 3 s from the last move (fifo-reading.ts). */
export interface LogClaim {
  uid: string
  topicArn: string
  fence: number
  /** The isolated group whose log this is. Absent: it is the topic's own log. */
  group?: string
}

export interface ClaimedLane {
  subscriptionId: string
  sliceId: string
  sliceRevision: string
  /** Whether the endpoint is proven. */
  proven: boolean
  /** The broken credential that blocks the lane. It has one claim, the probe. */
  blockedBy?: string
  claims: Claim[]
}

export interface DeliveryRef {
  subscriptionId: string
  delivery: Buffer
}

export interface TakeResult {
  /** Redis time in ms. Compare `sendAt` and `nextDueAt` with it. */
  now: number
  nextDueAt: number | null
  /** When the first lane of an unproven endpoint is served. A sweep does not return it. */
  nextUnprovenAt: number | null
  lanes: ClaimedLane[]
  /** Deliveries that were removed and counted, because their message was too old and there is no dead-letter queue. */
  expired: DeliveryRef[]
  /** Bodies that came along, by message id in latin1. All others must be read. */
  bodies?: ReadonlyMap<string, Buffer>
  /** Number of removed deliveries of deleted subscriptions, and of messages in logs of deleted topics. */
  discarded: number
  logs: LogClaim[]
  /** Lanes and logs that were passed over, because their data is unreadable. `name`: the subscription, or the log. */
  unreadable: { name: string; error: string }[]
}

export interface SweepRequest {
  /** null for the first step, then the cursor of the previous step's result, until that is null. */
  cursor: string | null
  deliveriesMax: number
  leaseMs: number
}

/**
 * The result of one step of a sweep. All its claims are dead: they must be appended to their queues, then forgotten.
 */
export interface SweepResult extends TakeResult {
  cursor: string | null
}

/** The results of a subscription's attempts since the last note. All times are ms before the note is written. */
export interface AttemptNote {
  subscriptionId: string
  attempts: number
  successes: number
  /** Ms since the first of these attempts ended. */
  beganMs: number
  /** Ms since the last success. null: there was none. */
  succeededMs: number | null
  /** The last failure. null: there was none. */
  failed: { ms: number; statusCode: number | null; error: string | null } | null
  /** Failures since the last success, and ms since the first of them. null: there was none. */
  failing: { inARow: number; ms: number } | null
}

/** An endpoint's answer (policy/src/retries/retry-mode.ts), or that a claim was handed back unsent. */
export interface LaneResult {
  subscriptionId: string
  answered: Answered | 'unsent'
  /** The tokens of the retry quota that the attempt took. */
  cost: number
}

export interface NotedResults {
  /** For each result: whether the lane's circuit was open before it. */
  circuitOpen: boolean[]
  /** For each result: when the circuit last closed. null: it is open, or has never closed. */
  circuitClosedAt: (number | null)[]
  nextDueAt: number | null
}

export type SettleTo =
  /** FIFO: `followers` are those of its claim that were delivered too. */
  | { op: 'delivered'; followers?: Buffer[] }
  | { op: 'retry'; delayMs: number; state: RetryState }
  /**
   * The delivery is declared dead and stays in flight, with a lease of at least `leaseMs`. The result's `leases` has
   * the new lease.
   */
  | { op: 'declareDead'; leaseMs: number; state: DeadState }
  /** The delivery was appended to its dead-letter queue, and leaves the lane. Counts `deadLettered`. */
  | { op: 'deadLettered' }
  /** The delivery leaves the lane. Counts `discarded:<cause>`, or `expired` for the cause `expired`. */
  | { op: 'discard'; cause: string }
  /**
   * The dead-letter queue does not exist. The delivery stays declared dead and is due again later, within `delayMaxMs`.
   */
  | { op: 'awaitDlq'; delayMaxMs: number }
  /** The delivery is due now or after `delayMs`. No attempt is counted. */
  | { op: 'returnToLane'; delayMs?: number }
  /** The delivery was not sent, because the key that opens its message is missing. It is due after `delayMs`. */
  | { op: 'awaitKey'; delayMs: number }
  /** An attempt has ended, and is not counted, for example because the circuit is open. The delivery is due now. */
  | { op: 'returnUncounted' }
  /**
   * The service's own configuration prevents attempts. The delivery is due now, and no attempt is counted. For
   * `delayMs` nothing of its lane is claimed. `credential` is a name without secrets.
   */
  | { op: 'block'; delayMs: number; credential: string }
  /** The delivery was added to the quarantine, and leaves the lane. Counts `quarantined`. */
  | { op: 'quarantined' }
  /** The attempt continues. Only the standing of the endpoint is stored. */
  | { op: 'continueClaim' }

export interface Settlement {
  subscriptionId: string
  delivery: Buffer
  lease: string
  to: SettleTo
  /** The endpoint's standing after the attempt. Absent: it has not changed. */
  standing?: Standing | undefined
}

export interface SettleResult {
  /** For each settlement: false if its lease was not the current one. Then nothing was changed. */
  accepted: boolean[]
  /** For each settlement: the new lease after an accepted `declareDead`, else null. */
  leases: (string | null)[]
  /** Errors of settlements whose lanes have unreadable data, by position. Absent: there are none. */
  failed?: Map<number, string>
  nextDueAt: number | null
}

/** Per shard: when it is next due, and when its first lane of an unproven endpoint is served. */
export interface ShardTimes {
  due: Map<number, number>
  unproven: Map<number, number>
}

export interface Checkpoint {
  stale: boolean
  /** The fence of the start that has opened the checkpoint before. 0: none has. */
  begun: number
  fields: Map<string, Buffer>
  /** The stored checkpoint could not be read and is deleted. */
  unreadable?: true
}

interface LaneFailure {
  at: number
  statusCode: number | null
  error: string | null
}

export interface BlockedGroup {
  group: string
  /** The message of its head. */
  messageId: string
  /** How many deliveries wait behind the head. */
  behind: number
}

export interface LaneFigures {
  waiting: number
  inFlight: number
  /**
   * Publishing time of the oldest waiting delivery. It is exact for fresh ones; of the retries only the next few are
   * read.
   */
  oldestPublishedAt: number | null
  nextAttemptAt: number | null
  /** The throttle in force, requests per second. */
  rate: number | null
  lastFailure: LaneFailure | null
  lastSuccessAt: number | null
  /**
   * Attempts that ended in the last 30 to 60 seconds, how many of them succeeded, and the length of that time in ms.
   */
  lately: { attempts: number; successes: number; spanMs: number }
  /** The remaining retry quota. null: the lane has none. */
  retryQuota: number | null
  /** When the next probe may be claimed. null: no circuit is open, and the lane is not blocked. */
  circuitOpenUntil: number | null
  /** Dead deliveries wait because the dead-letter queue does not exist. */
  isDlqMissing: boolean
  /** Whether the service's own configuration prevents its attempts, or a token server. */
  isBlocked: boolean
  /** It is blocked because the token server of its endpoint cannot be reached or refuses. */
  lacksToken: boolean
  /** Some of its messages wait, because no key opens them. All others go on. */
  lacksKey: boolean
  /** Failures since the last success, and when the first of them was. null: the latest attempt succeeded. */
  failing: { inARow: number; since: number } | null
  isPaused: boolean
  /** The endpoint answers in time. */
  isProven: boolean
  /** When the first lease ends, epoch ms. An attempt that began earlier has an earlier lease. */
  firstLeaseEndsAt: number | null
  /** The FIFO group with the oldest head that has failed and has deliveries behind it. */
  blockedGroup: BlockedGroup | null
  /** How many message groups wait for the throttle of their group. Absent: none. */
  groupsThrottled?: number
  /** Deliveries that came in the last minute. null: unknown, because some of them may have left the lane already. */
  arrivalsLastMinute: number | null
  /** For how many seconds after its publishing a delivery is kept at least. */
  retentionSeconds: number
}

export interface DeliveryWhere {
  where: 'waiting' | 'inFlight' | 'absent'
  /** Due time of a waiting delivery. */
  dueAt: number | null
  state: RetryState | DeadState | null
  /** Why the delivery must wait longer than until its due time, and until when at least. Absent: it need not. */
  hold?: { cause: StoredWhy['cause']; until: number | null }
  /** When the lane of an absent delivery was last purged. */
  purgedAt?: number
}

/** Two letters for longer error codes. A state of up to 14 bytes costs 16 bytes of memory, a longer one 32. */
const SHORT_ERRORS = new Map(
  Object.entries<string>({
    timeout: '#t',
    dns: '#d',
    tls: '#l',
    connection_refused: '#r',
    connection_reset: '#x',
    connection_failed: '#f',
    invalid_response: '#i',
    forbidden_address: '#a',
    dlq_missing: '#m',
    queue_refused: '#q',
  }),
)
const LONG_ERRORS = new Map([...SHORT_ERRORS].map(([error, short]) => [short, error]))

/** An error as the lane scripts stored it. null: there is none. */
export function unpackError(text: string): string | null {
  return LONG_ERRORS.get(text) ?? (text || null)
}

/**
 * `A<attempts>,<statusCode>,<error>` or `D<reason>,<attempts>,<statusCode>,<error>`. A null is stored as an empty text.
 * The decision about the next attempt comes before the error, as `<why>~` (why-codes.ts).
 */
export function packState(state: RetryState | DeadState): string {
  const error = state.error === null ? '' : (SHORT_ERRORS.get(state.error) ?? state.error)
  const rest = `${state.attempts},${state.statusCode ?? ''}`
  if (state.kind === 'dead') return `D${state.cause},${rest},${error}`
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
  if (match[1] !== undefined) return { kind: 'dead', cause: match[1] as DeadLetterReason, ...rest }
  const why = match[4] === undefined ? undefined : unpackWhy(match[4])
  return { kind: 'retry', ...rest, ...(why && { why }) }
}
