/**
 * The charts as a table: the same data for people who cannot see the charts, and for copying. The rows are made only
 * while it is open.
 */
import type { Stats } from '@fantail/client/api'
import { useState } from 'react'
import { words } from '../i18n/en.ts'
import { formatMs, formatNumber } from '../parts/formats.ts'
import chart from './time-series.module.css'

const w = words.stats

interface Props {
  stats: Stats
  formatTime: (ms: number) => string
}

export function StatsTable({ stats, formatTime }: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className={chart.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{w.table}</summary>
      {isOpen && <Rows stats={stats} formatTime={formatTime} />}
    </details>
  )
}

function Rows({ stats, formatTime }: Props) {
  const groups = groupsOf(stats)
  const hasPublished = stats.published !== null
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={chart.table} tabIndex={0} aria-label={w.table}>
      <table>
        <thead>
          <tr>
            <th scope="col">{w.from}</th>
            {hasPublished && <th scope="col">{w.published}</th>}
            <th scope="col">{w.delivered}</th>
            <th scope="col">{w.failed}</th>
            <th scope="col">{w.deadLettered}</th>
            <th scope="col">{w.longestP50}</th>
            <th scope="col">{w.longestP99}</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.at}>
              <th scope="row">{formatTime(group.at)}</th>
              {hasPublished && <td>{formatNumber(group.published ?? 0)}</td>}
              <td>{formatNumber(group.delivered)}</td>
              <td>{formatNumber(group.failed)}</td>
              <td>{formatNumber(group.deadLettered)}</td>
              <td>{group.p50Ms === null ? '–' : formatMs(group.p50Ms)}</td>
              <td>{group.p99Ms === null ? '–' : formatMs(group.p99Ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

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

/**
 * Statistics in a few rows, for a table and for a sentence. Counts are added. For times, the longest is shown. Newest
 * first.
 */
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

/** Steps that a chart has at least, so that there is a line. */
const STEPS_MIN = 5

/** The statistics from their first count on, with one step before it. */
export function sinceFirstCount(stats: Stats): Stats {
  const { at, published, delivered, failed, deadLettered, p50Ms, p99Ms } = stats
  const series = [published ?? [], delivered, failed, deadLettered]
  const first = at.findIndex((_, step) => series.some((counts) => (counts[step] ?? 0) > 0))
  const from = Math.min(first - 1, at.length - STEPS_MIN)
  if (from <= 0) return stats
  return {
    ...stats,
    at: at.slice(from),
    published: published?.slice(from) ?? null,
    delivered: delivered.slice(from),
    failed: failed.slice(from),
    deadLettered: deadLettered.slice(from),
    p50Ms: p50Ms.slice(from),
    p99Ms: p99Ms.slice(from),
  }
}
