/**
 * Reads the figures of lanes that the API shows: how many deliveries wait, since when, and where one delivery is.
 * Changes nothing.
 */
import { publishedAtOf } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { shardBase } from '../../keys/shards.ts'
import { causeOf } from '../../records/why-codes.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { sideBySide } from '../../redis/side-by-side.ts'
import { parseDeliveryId } from '../records/generations.ts'
import {
  type AttemptNote,
  type DeliveryRef,
  type DeliveryWhere,
  type LaneFigures,
  unpackError,
} from '../records/lane-records.ts'
import { readState, readTime } from '../records/lane-replies.ts'

const FIGURES = readScript('read-lane-figures-1')
const STATES = readScript('read-delivery-states-1')

/** Last error, last status code, when that was, last success; recent attempts and successes, and their ms. */
type LatestReply = [Buffer, Buffer, Buffer, Buffer, number, number, number]

/**
 * The values of read-lane-figures-1.lua for one lane: waiting, in flight, next attempt, rate, latest attempts, the
 * deliveries that may be the oldest, quota, circuit, whether dead deliveries wait for a missing queue, why the lane
 * is blocked, and the facts for a verdict.
 */
type FiguresReply = [
  ...[number, number, Buffer, Buffer, LatestReply, Buffer[], Buffer, Buffer, Buffer, Buffer],
  VerdictReply,
]

/**
 * Failures in a row, since when, paused, proven, end of the first lease, arrivals lately, seconds that deliveries are
 * kept, blocked group, groups that wait for their throttle.
 */
type VerdictReply = [
  ...[Buffer, Buffer, Buffer, Buffer, Buffer],
  Buffer | number,
  number,
  BlockedReply,
  number,
]
type BlockedReply = [] | [group: Buffer, head: Buffer, behind: number]

type LaneSource = { subscriptionId: string; shard: number }

/** Lanes that one script reads. Past it: further scripts do, so that other callers' commands come between them. */
const LANES_PER_SCRIPT = 100
const SCRIPTS_AT_ONCE = 4

/** In the order of the places. */
export async function laneFigures(redis: Redis, places: LaneSource[]): Promise<LaneFigures[]> {
  const parts = [...Map.groupBy(places, ({ shard }) => shard)].flatMap(([shard, lanes]) =>
    Array.from({ length: Math.ceil(lanes.length / LANES_PER_SCRIPT) }, (_, part) => ({
      shard,
      lanes: lanes.slice(part * LANES_PER_SCRIPT, (part + 1) * LANES_PER_SCRIPT),
    })),
  )
  const found = new Map<LaneSource, LaneFigures>()
  await sideBySide(parts, SCRIPTS_AT_ONCE, async ({ shard, lanes }) => {
    const args = { base: shardBase(shard), subscriptions: lanes.map(({ subscriptionId: id }) => ({ id })) }
    const replies = (await runScript(redis, FIGURES, args)) as FiguresReply[]
    for (const [i, lane] of lanes.entries()) {
      const reply = replies[i]
      if (reply) found.set(lane, readFigures(reply))
    }
  })
  return places.map((place) => found.get(place) ?? NO_LANE)
}

/** Figures for a lane that does not exist. */
export const NO_LANE: LaneFigures = {
  waiting: 0,
  inFlight: 0,
  oldestPublishedAt: null,
  nextAttemptAt: null,
  rate: null,
  lastFailure: null,
  lastSuccessAt: null,
  lately: { attempts: 0, successes: 0, spanMs: 0 },
  retryQuota: null,
  circuitOpenUntil: null,
  isDlqMissing: false,
  isBlocked: false,
  lacksToken: false,
  lacksKey: false,
  failing: null,
  isPaused: false,
  isProven: false,
  firstLeaseEndsAt: null,
  blockedGroup: null,
  arrivalsLastMinute: null,
  retentionSeconds: 0,
}

function readFigures(reply: FiguresReply): LaneFigures {
  const [waiting, inFlight, next, rate, latest, heads, quota, circuit, missing, block, facts] = reply
  const letter = block.toString()
  const published = heads.map((head) => publishedAtOf(parseDeliveryId(head).messageId))
  return {
    waiting,
    inFlight,
    oldestPublishedAt: published.length === 0 ? null : Math.min(...published),
    nextAttemptAt: readTime(next),
    rate: readTime(rate),
    ...readLatest(latest),
    retryQuota: readTime(quota),
    circuitOpenUntil: readTime(circuit),
    isDlqMissing: missing.length > 0,
    isBlocked: letter === 'x' || letter === 'k',
    lacksToken: letter === 'k',
    lacksKey: letter === 's',
    ...readFacts(facts),
  }
}

function readFacts([
  count,
  since,
  paused,
  proven,
  leaseEnd,
  arrived,
  retentionSeconds,
  blocked,
  groupsThrottled,
]: VerdictReply) {
  const inARow = readTime(count)
  return {
    failing: inARow === null ? null : { inARow, since: readTime(since) ?? 0 },
    isPaused: paused.length > 0,
    isProven: proven.length > 0,
    firstLeaseEndsAt: readTime(leaseEnd),
    blockedGroup: readBlocked(blocked),
    arrivalsLastMinute: typeof arrived === 'number' ? arrived : null,
    retentionSeconds,
    ...(groupsThrottled > 0 && { groupsThrottled }),
  }
}

function readBlocked([group, head, behind = 0]: BlockedReply): LaneFigures['blockedGroup'] {
  return group && head ? { group: String(group), messageId: parseDeliveryId(head).messageId, behind } : null
}

function readLatest([error, code, failed, succeeded, attempts, successes, spanMs]: LatestReply) {
  const at = readTime(failed)
  const failure = { statusCode: readTime(code), error: unpackError(error.toString()) }
  return {
    lastFailure: at === null ? null : { at, ...failure },
    lastSuccessAt: readTime(succeeded),
    lately: { attempts, successes, spanMs },
  }
}

const FIELDS_OF_STATE = 5

const WHERE = { w: 'waiting', f: 'inFlight', a: 'absent' } as const

export async function deliveryStates(
  redis: Redis,
  shard: number,
  items: DeliveryRef[],
): Promise<DeliveryWhere[]> {
  const deliveries = items.map(({ subscriptionId: id, delivery }) => ({ id, delivery }))
  const flat = (await runScript(redis, STATES, { base: shardBase(shard), deliveries })) as Buffer[]
  return items.map((_, i) => {
    const fields = flat.slice(FIELDS_OF_STATE * i, FIELDS_OF_STATE * (i + 1))
    return readWhere(fields as WhereReply)
  })
}

/** Place, due time, state, when its lane was purged, why its lane makes it wait. */
type WhereReply = [Buffer, Buffer, Buffer, Buffer, Buffer]

function readWhere([where, due, state, purged, hold]: WhereReply): DeliveryWhere {
  const known = WHERE[where.toString() as keyof typeof WHERE]
  const found: DeliveryWhere = { where: known, dueAt: readTime(due), state: readState(state) }
  const purgedAt = readTime(purged)
  if (purgedAt !== null) found.purgedAt = purgedAt
  const cause = causeOf(hold.toString('latin1', 0, 1))
  if (cause) found.hold = { cause, until: readTime(hold.subarray(1)) }
  return found
}

/** Stores the results of attempts, for the figures of their lanes. */
const NOTE = readScript('note-attempts-1')
const NONE = -1

export async function noteAttempts(redis: Redis, shard: number, notes: AttemptNote[]): Promise<void> {
  const lanes = notes.map(
    ({ subscriptionId: id, attempts, successes, beganMs, succeededMs, failed, failing }) => ({
      id,
      attempts,
      successes,
      beganMs: Math.round(beganMs),
      successMs: Math.round(succeededMs ?? NONE),
      failureMs: Math.round(failed?.ms ?? NONE),
      code: failed?.statusCode?.toString() ?? '',
      err: failed?.error ?? '',
      inARow: failing?.inARow ?? 0,
      failingMs: Math.round(failing?.ms ?? NONE),
    }),
  )
  await runScript(redis, NOTE, { base: shardBase(shard), lanes })
}
