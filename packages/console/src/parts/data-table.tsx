/**
 * A table of rows that the API sorts and pages. Of a long table only the visible rows are drawn. The first cell has the
 * link that opens the row. The keys `j`, `k` and Enter use that link.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, type RefObject, useRef } from 'react'
import { words } from '../i18n/en.ts'
import { Button } from './button.tsx'
import css from './parts.module.css'
import { Loaded, type Read } from './states.tsx'

export interface Column<Row> {
  title: string
  show: (row: Row) => ReactNode
  /** The column has numbers, which are aligned at the right. */
  isNumber?: true
  /** The order that its title chooses. */
  sort?: string
}

/** Rows that were chosen, by their keys. They stay chosen while the list is read again. */
interface Choice<Row> {
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
  /** The name of a row for its box. */
  nameOf: (row: Row) => string
}

interface Order {
  sort: string
  onSort: (sort: string) => void
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
  choice?: Choice<Row>
  order?: Order
}

const ROW_PX = 33
/** From this number of rows on, only the visible rows are drawn. */
const VIRTUAL_FROM = 100
const VISIBLE_PX = 620

export function DataTable<Row>(props: Props<Row>) {
  const { rows, empty, under } = props
  const isLong = useRef(false)
  // A change of the kind of table would lose what stands under an open row, such as the answer of a test.
  if (!rows.some((row) => under?.(row))) isLong.current = rows.length > VIRTUAL_FROM
  if (rows.length === 0) return <div className={css.frame}>{empty}</div>
  // The library of long tables measures the page, which a short table does not need.
  return isLong.current ? <LongTable {...props} /> : <Table {...props} drawn={rows} />
}

interface ReadProps<Row, Data> extends Omit<Props<Row>, 'rows' | 'onMore'> {
  read: Read<Data> & { hasNextPage?: boolean; fetchNextPage?: () => unknown }
  rowsOf: (data: Data) => readonly Row[]
  skeletonRows?: number
}

/** The table of a read, once it is there. If the read has pages, the table offers the next one. */
export function ReadTable<Row, Data>({ read, rowsOf, skeletonRows, ...table }: ReadProps<Row, Data>) {
  const onMore = read.hasNextPage ? () => void read.fetchNextPage?.() : undefined
  return (
    <Loaded read={read} rows={skeletonRows}>
      {(data) => <DataTable {...table} rows={rowsOf(data)} onMore={onMore} />}
    </Loaded>
  )
}

function LongTable<Row>(props: Props<Row>) {
  const { rows } = props
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 3,
  })
  const items = virtualizer.getVirtualItems()
  return (
    <Table
      {...props}
      scroller={scroller}
      drawn={items.map(({ index }) => rows[index] as Row)}
      above={items[0]?.start ?? 0}
      below={virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0)}
    />
  )
}

interface TableProps<Row> extends Props<Row> {
  drawn: readonly Row[]
  /** Present if only a part of the rows is drawn. */
  scroller?: RefObject<HTMLDivElement | null>
  /** Heights of the rows that are not drawn. */
  above?: number
  below?: number
}

function Table<Row>({ label, rows, keyOf, under, onMore, ...part }: TableProps<Row>) {
  const { drawn, scroller, above = 0, below = 0, choice, order } = part
  const columns = choice ? [boxes({ choice, rows, keyOf }), ...part.columns] : part.columns
  return (
    <div
      className={css.frame}
      ref={scroller}
      style={scroller && { maxHeight: VISIBLE_PX }}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a long table is scrolled by the keyboard
      tabIndex={0}
    >
      <table className={css.table} aria-label={label} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Title key={column.title} column={column} order={order} />
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Gap height={above} />}
          {drawn.map((row) => (
            <TableRow key={keyOf(row)} row={row} columns={columns} under={under?.(row)} />
          ))}
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

/** The titles of columns that can be ordered are buttons. */
function Title({
  column: { title, head, isNumber, sort },
  order,
}: {
  column: Pick<HeadedColumn<never>, 'title' | 'head' | 'isNumber' | 'sort'>
  order: Order | undefined
}) {
  const isOrdered = order !== undefined && sort !== undefined
  const isFirst = isOrdered && order.sort === sort
  return (
    <th scope="col" data-end={isNumber} aria-sort={isOrdered ? (isFirst ? 'descending' : 'none') : undefined}>
      {isOrdered ? (
        <button type="button" className={css.title} onClick={() => order.onSort(sort)}>
          {title}
          <span aria-hidden="true">{isFirst ? ' ▾' : ''}</span>
        </button>
      ) : (
        (head ?? title)
      )}
    </th>
  )
}

interface HeadedColumn<Row> extends Column<Row> {
  /** Shown in place of the title. */
  head?: ReactNode
}

/** The column with a box for each row, and one for all rows that are shown. */
function boxes<Row>({
  choice: { chosen, onChoose, nameOf },
  rows,
  keyOf,
}: {
  choice: Choice<Row>
  rows: readonly Row[]
  keyOf: (row: Row) => string
}): HeadedColumn<Row> {
  const keys = rows.map(keyOf)
  const areAll = keys.length > 0 && keys.every((key) => chosen.has(key))
  const choose = (changed: readonly string[], isIn: boolean) =>
    onChoose(new Set(isIn ? [...chosen, ...changed] : [...chosen].filter((key) => !changed.includes(key))))
  return {
    title: words.choose,
    head: <Box label={words.chooseAll} isChecked={areAll} onChange={(isIn) => choose(keys, isIn)} />,
    show: (row) => (
      <Box
        label={words.chooseRow(nameOf(row))}
        isChecked={chosen.has(keyOf(row))}
        onChange={(isIn) => choose([keyOf(row)], isIn)}
      />
    ),
  }
}

interface BoxProps {
  label: string
  isChecked: boolean
  onChange: (isChecked: boolean) => void
}

function Box({ label, isChecked, onChange }: BoxProps) {
  return (
    <input
      type="checkbox"
      className={css.box}
      aria-label={label}
      checked={isChecked}
      onChange={(event) => onChange(event.target.checked)}
    />
  )
}

interface RowProps<Row> {
  row: Row
  columns: readonly Column<Row>[]
  under: ReactNode
}

/** A scroll step draws only the rows that are new. */
const TableRow = memo(function TableRow({ row, columns, under }: RowProps<unknown>) {
  return (
    <>
      <tr>
        {columns.map(({ title, show, isNumber }) => (
          <td key={title} data-end={isNumber} data-title={title}>
            {show(row)}
          </td>
        ))}
      </tr>
      {under && (
        <tr data-under>
          <td colSpan={columns.length}>{under}</td>
        </tr>
      )}
    </>
  )
}) as <Row>(props: RowProps<Row>) => ReactNode

function Gap({ height }: { height: number }) {
  return (
    <tr>
      <td style={{ height, padding: 0 }} />
    </tr>
  )
}
