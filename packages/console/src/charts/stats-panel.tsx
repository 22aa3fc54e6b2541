/** Statistics over time: two charts, a choice of range, and the same data as a table. */
import type { Stats } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { operations } from '../api/api-calls.ts'
import { useRead } from '../api/use-api.ts'
import { words } from '../i18n/en.ts'
import { formatMs, formatNumber } from '../parts/formats.ts'
import css from '../parts/parts.module.css'
import { Empty, Loaded } from '../parts/states.tsx'
import { StatsTable, sinceFirstCount, totalOf } from './stats-table.tsx'
import chart from './time-series.module.css'
import { type Line, TimeSeries } from './time-series.tsx'

const w = words.stats
const RANGES = ['15m', '1h', '6h', '24h', '7d', '30d'] as const
type Range = (typeof RANGES)[number]
const RANGE_DEFAULT: Range = '1h'
/** How often each range is read again. Longer ranges change less, and their answers are larger. */
const EVERY_MS: Record<Range, number> = {
  '15m': 5_000,
  '1h': 5_000,
  '6h': 30_000,
  '24h': 30_000,
  '7d': 60_000,
  '30d': 60_000,
}

interface Props {
  /** The range in the address. Any other text is the default. */
  range: string | undefined
  topic?: string
  subscription?: string
}

export function StatsPanel({ range: given, topic, subscription }: Props) {
  const range = RANGES.find((known) => known === given) ?? RANGE_DEFAULT
  const query = { range, ...(topic && { topic }), ...(subscription && { subscription }) }
  const read = useRead(operations.getStats, { query }, { everyMs: EVERY_MS[range] })
  return (
    <section className={css.panel}>
      <div className={`${css.row} ${css.spread}`}>
        <h2>{w.title}</h2>
        <Ranges selected={range} />
      </div>
      <Loaded read={read} rows={6}>
        {(stats) => <Charts stats={stats} />}
      </Loaded>
    </section>
  )
}

function Ranges({ selected }: { selected: Range }) {
  return (
    <nav className={chart.ranges} aria-label={w.range}>
      {RANGES.map((range) => (
        <Link
          key={range}
          to="."
          search={(before) => ({ ...before, range })}
          replace
          resetScroll={false}
          title={w.ranges[range]}
          data-selected={range === selected}
          aria-current={range === selected}
        >
          {range}
        </Link>
      ))}
    </nav>
  )
}

function Charts({ stats: read }: { stats: Stats }) {
  const stats = useMemo(() => sinceFirstCount(read), [read])
  const drawn = useMemo(() => drawnOf(stats), [stats])
  const total = totalOf(stats)
  if (!stats.kept) return <Empty title={w.notKept}>{w.notKeptWhy}</Empty>
  const counted = (total.published ?? 0) + total.delivered + total.failed + total.deadLettered
  if (counted === 0) return <Empty title={w.nothing}>{w.nothingWhy(w.ranges[stats.range])}</Empty>
  const formatTime = (ms: number) => timeIn(stats, ms)
  return (
    <>
      <div className={`${css.columns} ${chart.charts}`}>
        <div className={css.stack}>
          <h3>{stats.stepSeconds === 60 ? w.perMinute : w.perHour}</h3>
          <TimeSeries
            summary={w.countsSummary(w.ranges[stats.range], total)}
            at={drawn.at}
            lines={drawn.counts}
            format={formatNumber}
            formatShort={compact.format}
            formatTime={formatTime}
          />
        </div>
        <div className={css.stack}>
          <h3>{w.arrival}</h3>
          {total.p50Ms === null ? (
            <p className={css.quiet}>{w.noArrivals}</p>
          ) : (
            <TimeSeries
              summary={w.timesSummary(w.ranges[stats.range], timeText(total.p50Ms), timeText(total.p99Ms))}
              at={drawn.at}
              lines={drawn.times}
              format={formatMs}
              formatShort={shortMs}
              formatTime={formatTime}
              isLogarithmic
            />
          )}
        </div>
      </div>
      {stats !== read && (
        <p className={`${css.quiet} ${css.small}`}>{w.begins(formatTime(Date.parse(stats.at[0] ?? '')))}</p>
      )}
      {!stats.complete && <p className={css.quiet}>{w.incomplete}</p>}
      <StatsTable stats={stats} formatTime={formatTime} />
    </>
  )
}

const timeText = (ms: number | null) => (ms === null ? '–' : formatMs(ms))
/** A time in one unit only, because the axis is narrow. */
function shortMs(ms: number): string {
  const [size, unit] =
    ms < 1_000 ? [1, 'ms'] : ms < 600_000 ? [1_000, 's'] : ms < 3_600_000 ? [60_000, 'min'] : [3_600_000, 'h']
  return `${compact.format(ms / size)} ${unit}`
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

function drawnOf(stats: Stats): { at: number[]; counts: Line[]; times: Line[] } {
  const { published, delivered, failed, deadLettered, p50Ms, p99Ms } = stats
  return {
    at: stats.at.map((at) => Date.parse(at)),
    counts: [
      ...(published ? [{ label: w.published, values: published, look: 'published' } as const] : []),
      { label: w.delivered, values: delivered, look: 'delivered' },
      { label: w.failed, values: failed, look: 'failed' },
      { label: w.deadLettered, values: deadLettered, look: 'dead' },
    ],
    times: [
      { label: w.p50, values: p50Ms, look: 'median' },
      { label: w.p99, values: p99Ms, look: 'slowest' },
    ],
  }
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/**
 * The text of a time at the axis. Short ranges show the time of day. Long ranges show the day, and the hour unless it
 * is midnight.
 */
function timeIn({ stepSeconds }: Stats, ms: number): string {
  const time = clock.format(ms)
  if (stepSeconds === 60) return time
  return time === '00:00' ? day.format(ms) : `${day.format(ms)} ${time}`
}
