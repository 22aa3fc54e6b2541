/** The last seven days of an endpoint: a bar for each day, and the same as a table. */
import { getPortalStats } from '@fantail/client/api'
import { useRead } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import css from '../../parts/parts.module.css'
import own from '../pieces/portal.module.css'
import { Shown } from '../pieces/shown.tsx'
import { type DayFigures, daysOf, totalOf } from './week-days.ts'

/** A worker adds what it has counted once a minute. */
const EVERY_MS = 30_000

export function Week({ id }: { id: string }) {
  const { week: w } = useLanguage().words
  const read = useRead(getPortalStats, { path: { id } }, { everyMs: EVERY_MS })
  return (
    <section className={`${css.panel} ${own.part}`}>
      <h2>{w.title}</h2>
      <Shown read={read} rows={2}>
        {(stats) =>
          stats.kept ? <Figures days={daysOf(stats)} /> : <p className={css.quiet}>{w.notKept}</p>
        }
      </Shown>
    </section>
  )
}

function Figures({ days }: { days: DayFigures[] }) {
  const { words, formats } = useLanguage()
  const w = words.week
  const { delivered, failed, deadLettered, meanMs } = totalOf(days)
  if (delivered + failed + deadLettered === 0) return <p className={css.quiet}>{w.nothing}</p>
  const summary = w.summary(delivered, failed, deadLettered)
  return (
    <>
      <p>
        {summary}
        {meanMs !== null && `, ${w.mean} ${formats.duration(meanMs)}`}
      </p>
      <Bars days={days} summary={summary} />
      <details className={own.details}>
        <summary>{w.table}</summary>
        <Table days={days} />
      </details>
    </>
  )
}

function Bars({ days, summary }: { days: DayFigures[]; summary: string }) {
  const { words, formats } = useLanguage()
  const highest = Math.max(1, ...days.map(({ delivered, failed }) => delivered + failed))
  const share = (count: number) => ({ height: `${(100 * count) / highest}%` })
  return (
    <>
      <div className={own.week} role="img" aria-label={`${words.week.title}: ${summary}`}>
        {days.map(({ at, delivered, failed }) => (
          <div key={at} className={own.day}>
            <div className={own.bars}>
              <span className={own.failed} style={share(failed)} />
              <span className={own.delivered} style={share(delivered)} />
            </div>
            <small>{formats.dayOfWeek(at)}</small>
          </div>
        ))}
      </div>
      <ul className={own.legend}>
        <li>
          <span className={own.delivered} aria-hidden="true" /> {words.week.delivered}
        </li>
        <li>
          <span className={own.failed} aria-hidden="true" /> {words.week.failed}
        </li>
      </ul>
    </>
  )
}

function Table({ days }: { days: DayFigures[] }) {
  const { words, formats } = useLanguage()
  const w = words.week
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={css.frame} tabIndex={0} aria-label={w.title}>
      <table className={`${css.table} ${own.days}`}>
        <thead>
          <tr>
            <th scope="col">{w.day}</th>
            {[w.delivered, w.failed, w.givenUp, w.mean].map((title) => (
              <th key={title} scope="col" data-end>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map(({ at, delivered, failed, deadLettered, meanMs }) => (
            <tr key={at}>
              <th scope="row">{formats.day(at)}</th>
              <td data-end>{formats.number(delivered)}</td>
              <td data-end>{formats.number(failed)}</td>
              <td data-end>{formats.number(deadLettered)}</td>
              <td data-end>{meanMs === null ? '–' : formats.duration(meanMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
