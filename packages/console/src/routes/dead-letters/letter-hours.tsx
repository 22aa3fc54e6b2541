/**
 * A histogram of dead letters by the hour in which they were dead-lettered. Its label gives screen readers the main
 * facts.
 */
import type { DeadLetterCounts } from '../../api/api-types.ts'
import { words } from '../../i18n/en.ts'
import { formatNumber } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'

type Hours = NonNullable<DeadLetterCounts['byHour']>

const w = words.deadLetters
const HOUR_MS = 3_600_000
const HEIGHT = 48
const BAR = 10
/** Hours of the histogram of dead letters. Past it: earlier ones are left out, and the text says so. */
const HOURS_SHOWN_MAX = 96

const shown = new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', timeStyle: 'short' })
const timeOf = (at: string) => shown.format(new Date(at))

export function LetterHours({ hours }: { hours: Hours }) {
  const last = hours.at(-1)
  const worst = hours.toSorted((a, b) => b.count - a.count)[0]
  if (!last || !worst) return null
  const end = Date.parse(last.at)
  const recent = hours.filter(({ at }) => end - Date.parse(at) < HOURS_SHOWN_MAX * HOUR_MS)
  const first = Date.parse(recent[0]?.at ?? last.at)
  const width = ((end - first) / HOUR_MS + 1) * BAR
  const name = w.hours(timeOf(new Date(first).toISOString()), timeOf(last.at))
  return (
    <figure className={css.hours}>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} height={HEIGHT} role="img" aria-label={name}>
        {recent.map(({ at, count }) => {
          const height = Math.max(2, (count / worst.count) * HEIGHT)
          const x = ((Date.parse(at) - first) / HOUR_MS) * BAR
          return (
            <rect key={at} x={x} y={HEIGHT - height} width={BAR - 2} height={height} fill="currentColor">
              <title>{w.hour(timeOf(at), formatNumber(count))}</title>
            </rect>
          )
        })}
      </svg>
      <figcaption>
        {name} {recent.length > 1 && w.worstHour(timeOf(worst.at), formatNumber(worst.count))}
      </figcaption>
    </figure>
  )
}
