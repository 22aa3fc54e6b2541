/**
 * Searches kept messages and dead letters by what they say. Each answer of the API looks at a part, so the search
 * continues by itself until it has found some. It shows at once what it has, and how far it has looked.
 */
import type { FoundDeadLetter, FoundKeptMessage } from '@fantail/client/api'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { ApiError } from '../../api/api-error.ts'
import { usePages } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { formatBytes, nameOf } from '../../parts/formats.ts'
import { TopicLink } from '../../parts/links.tsx'
import { MessageLine } from '../../parts/message-line.tsx'
import { CopyCurl } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, When } from '../../parts/show.tsx'
import { Empty, Loaded, type Read } from '../../parts/states.tsx'
import { ContentForm, isAsked, useContentQuery } from './content-form.tsx'

const w = words.content
const route = getRouteApi('/messages')

export function ContentSearch() {
  const search = route.useSearch()
  if (!isAsked(search))
    return (
      <div className={css.stack}>
        <ContentForm />
        <Empty title={w.ask}>
          <p>{w.askWhy}</p>
        </Empty>
      </div>
    )
  const asked = JSON.stringify(search)
  return (
    <div className={css.stack}>
      <ContentForm key={asked} />
      <KeptFinds key={`kept ${asked}`} />
      <LetterFinds key={`letters ${asked}`} />
    </div>
  )
}

/** Finds after which a search stops until somebody asks for more. */
const FINDS_AT_ONCE = 20

function KeptFinds() {
  const input = { query: { ...useContentQuery(route.useSearch()), limit: FINDS_AT_ONCE } }
  const read = usePages(operations.searchKeptMessages, input, { everyMs: false })
  return (
    <section className={css.panel}>
      <h2>{w.kept}</h2>
      <Searched read={read}>
        {({ pages }) => {
          const rows = pages.flatMap(({ messages }) => messages)
          const last = pages.at(-1)
          return (
            <>
              <DataTable
                label={w.kept}
                columns={KEPT_COLUMNS}
                rows={rows}
                keyOf={({ messageId }) => messageId}
                empty={
                  <Empty title={read.hasNextPage ? w.looking : w.nothing}>
                    {last?.keptBytes === 0 && <p>{w.noKept}</p>}
                  </Empty>
                }
              />
              <Progress read={read} found={rows.length} scanned={sumOf(pages)}>
                {last && w.bytes(formatBytes(bytesOf(pages)), formatBytes(last.keptBytes))},{' '}
                {last?.scannedTo ? (
                  <>
                    {w.backTo} <When at={last.scannedTo} />
                  </>
                ) : (
                  w.whole
                )}
              </Progress>
            </>
          )
        }}
      </Searched>
      <CopyCurl call={callOf(operations.searchKeptMessages, input)} />
    </section>
  )
}

function LetterFinds() {
  const input = { query: { ...useContentQuery(route.useSearch()), limit: FINDS_AT_ONCE } }
  const read = usePages(operations.searchDeadLetters, input, { everyMs: false })
  return (
    <section className={css.panel}>
      <h2>{w.dead}</h2>
      <Searched read={read}>
        {({ pages }) => {
          const rows = pages.flatMap(({ letters }) => letters)
          const last = pages.at(-1)
          return (
            <>
              <DataTable
                label={w.dead}
                columns={LETTER_COLUMNS}
                rows={rows}
                keyOf={({ queueArn, messageId }) => `${queueArn} ${messageId}`}
                empty={<Empty title={read.hasNextPage ? w.looking : w.nothing} />}
              />
              <Progress read={read} found={rows.length} scanned={sumOf(pages)}>
                {last && w.queues(last.queuesDone, last.queues)}
              </Progress>
            </>
          )
        }}
      </Searched>
      <CopyCurl call={callOf(operations.searchDeadLetters, input)} />
    </section>
  )
}

/** A caller who must not see texts gets a sentence instead of a refusal. */
function Searched<T>({ read, children }: { read: Read<T>; children: (data: T) => ReactNode }) {
  if (read.error instanceof ApiError && read.error.status === 403)
    return <p className={css.quiet}>{w.hidden}</p>
  return (
    <Loaded read={read} rows={4}>
      {children}
    </Loaded>
  )
}

const sumOf = (pages: readonly { scanned: number }[]) => pages.reduce((sum, { scanned }) => sum + scanned, 0)
const bytesOf = (pages: readonly { scannedBytes: number }[]) =>
  pages.reduce((sum, { scannedBytes }) => sum + scannedBytes, 0)

interface ProgressProps {
  read: { hasNextPage: boolean; isFetchingNextPage: boolean; error: unknown; fetchNextPage: () => unknown }
  found: number
  scanned: number
  /** How far the search has looked, in words. */
  children: ReactNode
}

/** Goes on with the search, and says how far it is. */
function Progress({ read, found, scanned, children }: ProgressProps) {
  const [wanted, setWanted] = useState(FINDS_AT_ONCE)
  const [isStopped, setStopped] = useState(false)
  const { hasNextPage, isFetchingNextPage, fetchNextPage, error } = read
  const isGoing = hasNextPage && !isStopped && !error && found < wanted
  useEffect(() => {
    if (isGoing && !isFetchingNextPage) void fetchNextPage()
  }, [isGoing, isFetchingNextPage, fetchNextPage])
  const goOn = () => {
    setStopped(false)
    setWanted(found + FINDS_AT_ONCE)
    void fetchNextPage()
  }
  return (
    <div className={css.row}>
      <span className={css.quiet} role="status">
        {isGoing && `${w.looking}: `}
        {w.looked(scanned)}, {children}
      </span>
      {isGoing && <Button onPress={() => setStopped(true)}>{w.stop}</Button>}
      {hasNextPage && !isGoing && <Button onPress={goOn}>{w.further}</Button>}
    </div>
  )
}

const KEPT_COLUMNS: readonly Column<FoundKeptMessage>[] = [
  {
    title: w.content,
    show: ({ messageId, eventType, line }) => (
      <Link to="/messages/$id" params={{ id: messageId }} data-row title={messageId}>
        <MessageLine eventType={eventType} line={line} id={messageId} />
      </Link>
    ),
  },
  { title: words.pages.topic, show: ({ topicArn }) => <TopicLink arn={topicArn} /> },
  { title: words.message.published, show: ({ publishedAt }) => <When at={publishedAt} /> },
]

const LETTER_COLUMNS: readonly Column<FoundDeadLetter>[] = [
  {
    title: w.content,
    show: ({ queueArn, messageId, eventType, line }) => (
      <Link
        to="/dlq/$queue"
        params={{ queue: nameOf(queueArn) }}
        search={{ letter: messageId }}
        data-row
        title={messageId}
      >
        <MessageLine eventType={eventType} line={line} id={messageId} />
      </Link>
    ),
  },
  {
    title: words.deadLetters.reason,
    show: ({ reason, statusCode, lastError }) => (
      <>
        <Badge tone="bad">{reason}</Badge> {statusCode ?? lastError ?? ''}
      </>
    ),
  },
  {
    title: words.pages.topic,
    show: ({ topicArn }) => (topicArn === null ? '–' : <TopicLink arn={topicArn} />),
  },
  {
    title: words.queueMessage.published,
    show: ({ publishedMessageId: id }) =>
      id === null ? (
        '–'
      ) : (
        <Link to="/messages/$id" params={{ id }} className="mono">
          {id}
        </Link>
      ),
  },
  { title: words.deadLetters.died, show: ({ deadLetteredAt }) => <When at={deadLetteredAt} /> },
]
