/** Statistics in a few rows, for a table and for a sentence. Counts are added. For times, the longest is shown. */
import type { Stats } from '../api/api-types.ts'

/** Rows of the table of a chart. Past it: steps are taken together. */
const GROUPS_MAX = 30

interface StatsGroup {
  /** Epoch ms of its first step. */
  at: number
  published: number | null
  delivered: number
  failed: number
  deadLettered: number
  /** null: nothing was delivered. */
  p50Ms: number | null
  p99Ms: number | null
}

/** Newest first. */
export function groupsOf(stats: Stats): StatsGroup[] {
  const steps = stats.at.length
  const size = Math.max(1, Math.ceil(steps / GROUPS_MAX))
  const groups: StatsGroup[] = []
  for (let to = steps; to > 0; to -= size) groups.push(groupOf(stats, Math.max(0, to - size), to))
  return groups
}

export function totalOf(stats: Stats): StatsGroup {
  return groupOf(stats, 0, stats.at.length)
}

function groupOf(stats: Stats, from: number, to: number): StatsGroup {
  const sum = (counts: number[]) => counts.slice(from, to).reduce((total, count) => total + count, 0)
  const longest = (times: (number | null)[]) => {
    const known = times.slice(from, to).filter((ms) => ms !== null)
    return known.length === 0 ? null : Math.max(...known)
  }
  return {
    at: Date.parse(stats.at[from] ?? ''),
    published: stats.published && sum(stats.published),
    delivered: sum(stats.delivered),
    failed: sum(stats.failed),
    deadLettered: sum(stats.deadLettered),
    p50Ms: longest(stats.p50Ms),
    p99Ms: longest(stats.p99Ms),
  }
}
