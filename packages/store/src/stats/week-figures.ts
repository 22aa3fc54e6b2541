/**
 * A week of a subscription by hour. It has fewer figures than the statistics by minute, so that Redis can keep it for
 * many more subscriptions: each hour with counts takes some 12 bytes, and at most 27.
 */
import { NUMBER } from '../scripts/lua-numbers.ts'
import { middleMs } from './log-buckets.ts'
import type { PackedCounts } from './tally.ts'

const WEEK_STEP_MS = 3_600_000

/** Each list has an entry per hour, oldest first. The last hour is under way. */
export interface WeekFigures {
  /** Epoch ms at which each hour begins. */
  at: number[]
  delivered: number[]
  failed: number[]
  deadLettered: number[]
  /** Mean time from publishing to arrival. null: nothing arrived in this hour. */
  meanMs: (number | null)[]
}

/** Delivered, failed, dead-lettered, and the ms of all arrivals together. */
export function weekCounts([
  ,
  delivered = 0,
  failed = 0,
  deadLettered = 0,
  ...pairs
]: PackedCounts): number[] {
  let ms = 0
  for (let i = 0; i < pairs.length; i += 2) ms += middleMs(pairs[i] ?? 0) * (pairs[i + 1] ?? 0)
  return [delivered, failed, deadLettered, Math.round(ms)]
}

/** `stored`: as the script packs it. */
export function weekFigures(stored: readonly number[], now: number): WeekFigures {
  const last = Math.floor(now / WEEK_STEP_MS)
  const counts: number[][] = Array.from({ length: NUMBER.WEEK_HOURS }, () => [])
  for (let i = 0; i < stored.length; i += NUMBER.WEEK_STEP) {
    const [hour = 0, ...own] = stored.slice(i, i + NUMBER.WEEK_STEP)
    const age = (((last - hour) % NUMBER.WEEK_CIRCLE) + NUMBER.WEEK_CIRCLE) % NUMBER.WEEK_CIRCLE
    if (age < NUMBER.WEEK_HOURS) counts[NUMBER.WEEK_HOURS - 1 - age] = own
  }
  return {
    at: counts.map((_, i) => (last - NUMBER.WEEK_HOURS + 1 + i) * WEEK_STEP_MS),
    delivered: counts.map(([delivered = 0]) => delivered),
    failed: counts.map(([, failed = 0]) => failed),
    deadLettered: counts.map(([, , deadLettered = 0]) => deadLettered),
    meanMs: counts.map(([delivered = 0, , , ms = 0]) => (delivered > 0 ? Math.round(ms / delivered) : null)),
  }
}
