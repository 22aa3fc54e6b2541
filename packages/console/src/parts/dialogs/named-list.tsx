/** A screen of things with names: a list of those that begin with a text, and a form that makes one. */
import { type ReactNode, useState } from 'react'
import type { Call } from '../../api/api-calls.ts'
import { Button } from '../button.tsx'
import { type Column, ReadTable } from '../data-table.tsx'
import { TextInput } from '../fields.tsx'
import { PageHead } from '../page-head.tsx'
import css from '../parts.module.css'
import { Empty } from '../states.tsx'
import { Dialog } from './dialog.tsx'

interface Pages<Page> {
  data: { pages: Page[] } | undefined
  error: unknown
  hasNextPage: boolean
  refetch: () => unknown
  fetchNextPage: () => unknown
}

interface Props<Row, Page> {
  title: string
  words: {
    filter: string
    create: string
    emptyTitle: string
    emptyFiltered: (prefix: string) => string
    empty: string
  }
  request: Call
  read: Pages<Page>
  rowsOf: (page: Page) => readonly Row[]
  columns: readonly Column<Row>[]
  prefix: string
  onPrefix: (prefix: string | undefined) => void
  /** The form that makes one. */
  children: ReactNode
}

export function NamedList<Row extends { arn: string }, Page>(props: Props<Row, Page>) {
  const { title, words: w, read, prefix, onPrefix } = props
  const [isCreating, setCreating] = useState(false)
  const create = () => setCreating(true)
  return (
    <>
      <PageHead title={title} request={props.request}>
        <Button kind="primary" onPress={create}>
          {w.create}
        </Button>
      </PageHead>
      <div className={css.stack}>
        <TextInput
          type="search"
          label={w.filter}
          value={prefix}
          onChange={(value) => onPrefix(value || undefined)}
        />
        <ReadTable
          read={read}
          label={title}
          columns={props.columns}
          rowsOf={({ pages }) => pages.flatMap(props.rowsOf)}
          keyOf={({ arn }) => arn}
          empty={
            <Empty title={prefix === '' ? w.emptyTitle : w.emptyFiltered(prefix)}>
              <p>{w.empty}</p>
              <Button onPress={create}>{w.create}</Button>
            </Empty>
          }
        />
      </div>
      <Dialog title={w.create} isOpen={isCreating} onClose={() => setCreating(false)}>
        {props.children}
      </Dialog>
    </>
  )
}
