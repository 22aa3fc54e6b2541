/**
 * The charts as a table: the same data for people who cannot see the charts, and for copying. The rows are made only
 * while it is open.
 */
import { useState } from 'react'
import type { Stats } from '../api/api-types.ts'
import { words } from '../i18n/en.ts'
import { formatMs, formatNumber } from '../parts/formats.ts'
import { groupsOf } from './stats-groups.ts'
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
