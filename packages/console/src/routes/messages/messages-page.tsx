/** Leads to a message by its id, and searches messages by their deliveries. */
import type { MessageSearch } from '@fantail/client/api'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { usePages } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { formatNumber } from '../../parts/formats.ts'
import { TopicLink } from '../../parts/links.tsx'
import { MessageLine } from '../../parts/message-line.tsx'
import { CopyCurl, PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, type Tone, When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { ContentSearch } from './content-search.tsx'
import { SearchForm, useSearchQuery } from './search-form.tsx'

const w = words.messages
const route = getRouteApi('/messages')

export function MessagesPage() {
  const { by = 'outcome' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <PageHead title={words.pages.messages} />
      <div className={css.stack}>
        <OpenById />
        <Tabs
          label={words.pages.messages}
          selected={by}
          onSelect={(id) => void navigate({ search: id === 'content' ? { by: id } : {}, replace: true })}
          tabs={[
            { id: 'outcome', title: words.content.outcomes, content: <OutcomeSearch /> },
            { id: 'content', title: words.content.tab, content: <ContentSearch /> },
          ]}
        />
      </div>
    </>
  )
}

function OutcomeSearch() {
  const search = route.useSearch()
  const query = useSearchQuery(search)
  const input = { query: { ...query, show: 'lines' as const, limit: 50 } }
  // A search reads much of the log, so it is repeated only on demand.
  const read = usePages(operations.searchMessages, input, { everyMs: false })
  return (
    <div className={css.stack}>
      <SearchForm key={JSON.stringify(search)} />
      <div className={css.row}>
        <Button kind="plain" onPress={() => void read.refetch()} isDisabled={read.isFetching}>
          {w.again}
        </Button>
        <CopyCurl call={callOf(operations.searchMessages, input)} />
      </div>
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

type Row = MessageSearch['messages'][number]
type State = keyof Row['counts']

const TONES: Record<State, Tone> = {
  delivered: 'good',
  parked: 'warn',
  deadLettered: 'bad',
  discarded: 'bad',
  expired: 'bad',
  filtered: undefined,
}

/** The columns of a search's result. */
const FOUND_COLUMNS: readonly Column<Row>[] = [
  { title: w.latest, show: ({ at }) => <When at={at} /> },
  {
    title: w.message,
    show: ({ messageId, eventType, line }) => (
      <Link to="/messages/$id" params={{ id: messageId }} data-row title={messageId}>
        <MessageLine eventType={eventType} line={line} id={messageId} />
      </Link>
    ),
  },
  {
    title: words.pages.topic,
    show: ({ topicArn }) => (topicArn === null ? words.message.unknown : <TopicLink arn={topicArn} />),
  },
  { title: w.outcome, show: ({ counts }) => <Counts counts={counts} /> },
  { title: w.ends, show: ({ ends }) => <LatestEnd end={ends[0]} /> },
  { title: words.message.published, show: ({ publishedAt }) => <When at={publishedAt} /> },
]

function Counts({ counts }: { counts: Row['counts'] }) {
  const states = (Object.keys(TONES) as State[]).filter((state) => counts[state] > 0)
  if (states.length === 0) return <span className={css.quiet}>{w.nobody}</span>
  return states.map((state) => (
    <Badge key={state} tone={TONES[state]}>
      {w.count(formatNumber(counts[state]), w.states[state])}
    </Badge>
  ))
}

function LatestEnd({ end }: { end: Row['ends'][number] | undefined }) {
  if (!end) return '–'
  const answer = end.statusCode ?? end.error
  const text = [w.states[end.outcome], answer, w.attemptsMade(end.attempts)].filter(Boolean).join(', ')
  if (end.subscriptionId === null) return text
  return (
    <Link to="/subs/$id" params={{ id: end.subscriptionId }}>
      {text}
    </Link>
  )
}
