/**
 * Operations on whole lanes that operators and the sweep call: retry now, purge, expire. Each runs in short steps, so
 * that Redis is not blocked.
 */
import type { Redis } from 'ioredis'
import { shardBase } from '../keys/shards.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import type { SweepRequest, SweepResult } from './records/lane-records.ts'
import { readTime, type Wakes } from './records/lane-replies.ts'
import { readTaken, readUnreadable, type TakenReply, type UnreadableReply } from './take.ts'

const RETRY_NOW = readScript('retry-lane-now-1')
const RELEASE_DEAD = readScript('release-dead-1')
const RELEASE = readScript('release-lane-1')
const SET_ASIDE = readScript('set-aside-1')
const PURGE = readScript('purge-lane-1')
const SWEEP = readScript('sweep-lanes-1')

/** Deliveries per script. */
const UPKEEP_STEP = 1_000

export async function retryLaneNow(
  redis: Redis,
  shard: number,
  subscriptionId: string,
  { maxPerSecond }: { maxPerSecond?: number },
): Promise<{ moved: number; woke: Wakes; nextDueAt: number | null }> {
  const gapMs = maxPerSecond === undefined ? 0 : 1_000 / maxPerSecond
  let moved = 0
  let woke: Wakes = 0
  let nextDueAt: number | null = null
  // The new due time of the last delivery that the last step moved. The next step takes deliveries that are due later
  // than this.
  let reached: number | null = null
  for (;;) {
    const reply = await runScript(redis, RETRY_NOW, {
      base: shardBase(shard),
      shard,
      id: subscriptionId,
      gap: gapMs,
      deliveriesMax: UPKEEP_STEP,
      reached,
    })
    const [found, count, last, due, wakes] = reply as [number, number, Buffer, Buffer, number]
    moved += count
    reached = Number(last)
    woke |= wakes
    nextDueAt = readTime(due)
    if (found < UPKEEP_STEP) return { moved, woke, nextDueAt }
  }
}

export async function releaseDead(
  redis: Redis,
  shard: number,
  subscriptionId: string,
): Promise<{ moved: number; woke: Wakes; nextDueAt: number | null }> {
  let moved = 0
  let skipped = 0
  let woke: Wakes = 0
  for (;;) {
    const reply = await runScript(redis, RELEASE_DEAD, {
      base: shardBase(shard),
      shard,
      id: subscriptionId,
      deliveriesMax: UPKEEP_STEP,
      skipped,
    })
    const [found, count, due, wakes] = reply as [number, number, Buffer, number]
    moved += count
    skipped += found - count
    woke |= wakes
    if (found < UPKEEP_STEP) return { moved, woke, nextDueAt: readTime(due) }
  }
}

export async function releaseLane(
  redis: Redis,
  shard: number,
  subscriptionId: string,
): Promise<{ wasBlocked: boolean; woke: Wakes; nextDueAt: number | null }> {
  const reply = await runScript(redis, RELEASE, { base: shardBase(shard), shard, id: subscriptionId })
  const [wasBlocked, due, woke] = reply as [number, Buffer, number]
  return { wasBlocked: wasBlocked === 1, woke, nextDueAt: readTime(due) }
}

/** `inFlight`: an attempt is under way. `noQueue`: the subscription has no dead-letter queue. */
export type SetAside = 'done' | 'missing' | 'inFlight' | 'noQueue'

export async function setAside(
  redis: Redis,
  shard: number,
  subscriptionId: string,
  message: Buffer,
): Promise<{ what: SetAside; woke: Wakes; nextDueAt: number | null }> {
  const args = { base: shardBase(shard), shard, id: subscriptionId, message }
  const [what, due, woke] = (await runScript(redis, SET_ASIDE, args)) as [Buffer, Buffer, number]
  return { what: String(what) as SetAside, woke, nextDueAt: readTime(due) }
}

/**
 * Discards the deliveries that wait when it begins. It ends even if deliveries arrive faster than they are discarded.
 */
export async function purgeLane(redis: Redis, shard: number, subscriptionId: string): Promise<number> {
  let discarded = 0
  let waiting: number | undefined
  for (;;) {
    const args = { base: shardBase(shard), id: subscriptionId, deliveriesMax: UPKEEP_STEP }
    const reply = await runScript(redis, PURGE, args)
    const [removed, left] = reply as [number, number]
    discarded += removed
    waiting ??= removed + left
    if (left === 0 || removed === 0 || discarded >= waiting) return discarded
  }
}

/** The order of a sweep: paused lanes, then all lanes with a due time, then those of unproven endpoints. */
const INDEXES = ['paused', 'due', 'unproven'] as const
type SweepCursor = { index: (typeof INDEXES)[number]; at: string }

export async function sweepLanes(redis: Redis, shard: number, request: SweepRequest): Promise<SweepResult> {
  const { index, at } = readCursor(request.cursor)
  const { deliveriesMax, leaseMs } = request
  const args = { base: shardBase(shard), shard, index, cursor: at, deliveriesMax, leaseMs }
  const reply = (await runScript(redis, SWEEP, args)) as [...TakenReply, Buffer, number, UnreadableReply]
  const [now, due, discarded, lanes, expired, reached, unfinished, unreadable] = reply
  const taken = {
    ...readTaken([now, due, discarded, lanes, expired]),
    unreadable: readUnreadable(unreadable),
  }
  if (unfinished === 1) return { ...taken, cursor: `${index}:${at}` }
  return { ...taken, cursor: nextCursor(index, reached.toString()) }
}

function readCursor(cursor: string | null): SweepCursor {
  const [name, at = '0'] = (cursor ?? 'paused:0').split(':')
  return { index: INDEXES.find((index) => index === name) ?? 'paused', at }
}

function nextCursor(index: SweepCursor['index'], reached: string): string | null {
  if (reached !== '0') return `${index}:${reached}`
  const next = INDEXES[INDEXES.indexOf(index) + 1]
  return next === undefined ? null : `${next}:0`
}
