/**
 * A table of rows that the API sorts and pages. Of a long table only the visible rows are drawn. The first cell has the
 * link that opens the row. The keys `j`, `k` and Enter use that link.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import { Fragment, type ReactNode, useRef } from 'react'
import { words } from '../i18n/en.ts'
import { Button } from './button.tsx'
import css from './parts.module.css'

export interface Column<Row> {
  title: string
  show: (row: Row) => ReactNode
  /** The column has numbers, which are aligned at the right. */
  isNumber?: true
}

interface Props<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Content that is shown under a row, over the whole width. */
  under?: (row: Row) => ReactNode
  /** Shown where there are no rows. */
  empty: ReactNode
  /** There are more rows than these. */
  onMore?: (() => void) | undefined
}

const ROW_PX = 33
/** From this number of rows on, only the visible rows are drawn. */
const VIRTUAL_FROM = 100
const VISIBLE_PX = 620

export function DataTable<Row>({ label, columns, rows, keyOf, under, empty, onMore }: Props<Row>) {
  const scroller = useRef<HTMLDivElement>(null)
  const isVirtual = rows.length > VIRTUAL_FROM
  const virtualizer = useVirtualizer({
    count: isVirtual ? rows.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 3,
  })
  if (rows.length === 0) return <div className={css.frame}>{empty}</div>
  const items = virtualizer.getVirtualItems()
  const above = isVirtual ? (items[0]?.start ?? 0) : 0
  const below = isVirtual ? virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0) : 0
  const drawn = isVirtual ? items.map(({ index }) => rows[index] as Row) : rows
  return (
    <div
      className={css.frame}
      ref={scroller}
      style={isVirtual ? { maxHeight: VISIBLE_PX } : undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a long table is scrolled by the keyboard
      tabIndex={0}
    >
      <table className={css.table} aria-label={label} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" data-end={isNumber}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Gap height={above} />}
          {drawn.map((row) => {
            const below = under?.(row)
            return (
              <Fragment key={keyOf(row)}>
                <tr>
                  {columns.map(({ title, show, isNumber }) => (
                    <td key={title} data-end={isNumber}>
                      {show(row)}
                    </td>
                  ))}
                </tr>
                {below && (
                  <tr data-under>
                    <td colSpan={columns.length}>{below}</td>
                  </tr>
                )}
              </Fragment>
            )
          })}
          {below > 0 && <Gap height={below} />}
        </tbody>
      </table>
      <div className={css.under}>
        {onMore ? words.shown(rows.length) : words.rows(rows.length)}{' '}
        {onMore && (
          <Button kind="plain" onPress={onMore}>
            {words.more}
          </Button>
        )}
      </div>
    </div>
  )
}

function Gap({ height }: { height: number }) {
  return (
    <tr>
      <td style={{ height, padding: 0 }} />
    </tr>
  )
}
