/** Leads to a message by its id, and searches messages by their deliveries. */
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import type { MessageSearch } from '../../api/api-types.ts'
import { usePages } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { FOUND_COLUMNS } from './found-columns.tsx'
import { SearchForm, useSearchQuery } from './search-form.tsx'

const w = words.messages
const route = getRouteApi('/messages')

export function MessagesPage() {
  const search = route.useSearch()
  const query = useSearchQuery(search)
  const input = { query: { ...query, limit: 50 } }
  // A search reads much of the log, so it is repeated only on demand.
  const read = usePages(operations.searchMessages, input, { everyMs: false })
  return (
    <>
      <PageHead title={words.pages.messages} request={callOf(operations.searchMessages, input)}>
        <Button kind="plain" onPress={() => void read.refetch()} isDisabled={read.isFetching}>
          {w.again}
        </Button>
      </PageHead>
      <div className={css.stack}>
        <OpenById />
        <SearchForm key={JSON.stringify(search)} />
        <Loaded read={read} rows={12}>
          {({ pages }) => (
            <Found
              pages={pages}
              onMore={read.hasNextPage ? () => void read.fetchNextPage() : undefined}
              isLooking={read.isFetchingNextPage}
            />
          )}
        </Loaded>
      </div>
    </>
  )
}

function OpenById() {
  const [id, setId] = useState('')
  const navigate = useNavigate()
  return (
    <form
      className={`${css.panel} ${css.form}`}
      onSubmit={(event) => {
        event.preventDefault()
        void navigate({ to: '/messages/$id', params: { id: id.trim() } })
      }}
    >
      <TextInput type="search" label={w.id} hint={w.idHint} value={id} onChange={setId} isRequired />
      <div className={css.row}>
        <Button kind="primary" type="submit" isDisabled={id.trim() === ''}>
          {w.open}
        </Button>
      </div>
    </form>
  )
}

interface FoundProps {
  pages: MessageSearch[]
  onMore: (() => void) | undefined
  isLooking: boolean
}

/** The rows of all pages. A later page may contain a message again, so the key of a row includes its page. */
function Found({ pages, onMore, isLooking }: FoundProps) {
  const rows = pages.flatMap((page, number) => page.messages.map((message) => ({ ...message, number })))
  const scannedTo = pages.at(-1)?.scannedTo
  return (
    <>
      <DataTable
        label={w.found}
        columns={FOUND_COLUMNS}
        rows={rows}
        keyOf={({ number, messageId }) => `${number} ${messageId}`}
        empty={
          <Empty title={w.nothing}>
            <p>{w.nothingWhy}</p>
          </Empty>
        }
      />
      <div className={css.row}>
        <span className={css.quiet}>
          {onMore ? (
            <>
              {w.lookedTo} <When at={scannedTo} />.
            </>
          ) : (
            w.lookedAtAll
          )}
        </span>
        {onMore && (
          <Button onPress={onMore} isDisabled={isLooking}>
            {w.further}
          </Button>
        )}
      </div>
    </>
  )
}
