/** The plot as a table: the same data for people who cannot see the plot, and for copying. */
import type { CurvePoint } from '../../charts/jitter-band.ts'
import { words } from '../../i18n/en.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { formatSeconds } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { Empty } from '../../parts/states.tsx'

const w = words.curve

const range = ([from, to]: readonly [number, number]) => w.range(formatSeconds(from), formatSeconds(to))

const COLUMNS: readonly Column<CurvePoint>[] = [
  { title: w.retry, show: ({ retry }) => retry, isNumber: true },
  { title: w.phase, show: ({ phase }) => w.phases[phase] },
  { title: w.delay, show: ({ delaySeconds }) => formatSeconds(delaySeconds), isNumber: true },
  { title: w.at, show: ({ atSeconds }) => formatSeconds(atSeconds), isNumber: true },
  { title: w.core, show: ({ core }) => range(core), isNumber: true },
  { title: w.outer, show: ({ outer }) => range(outer), isNumber: true },
]

export function CurveTable({ points }: { points: readonly CurvePoint[] }) {
  return (
    <section className={css.stack}>
      <h2>{w.table}</h2>
      <DataTable
        label={w.table}
        columns={COLUMNS}
        rows={points}
        keyOf={({ retry }) => String(retry)}
        empty={<Empty title={w.noRetries} />}
      />
    </section>
  )
}
