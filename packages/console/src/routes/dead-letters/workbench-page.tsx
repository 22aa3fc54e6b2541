/** One dead-letter queue: its letters by cause. The letters that a filter matches can be read, redriven or purged. */
import type { Queue, QueueMessage } from '@fantail/client/api'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { ApiError } from '../../api/api-error.ts'
import { usePages, useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { formatNumber } from '../../parts/formats.ts'
import { MessageLine } from '../../parts/message-line.tsx'
import { Gone, PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, When } from '../../parts/show.tsx'
import { Empty, Failed, Loaded, Skeleton } from '../../parts/states.tsx'
import { lettersIn } from '../queues/dead-letter-queues.ts'
import { QueueMessageDialog } from '../queues/queue-message-dialog.tsx'
import { QueueFigures } from '../queues/queue-page.tsx'
import { describeFilter, groupByOf, isEmptyFilter, type LetterFilter, readFilter } from './letter-filter.ts'
import { LetterGroups } from './letter-groups.tsx'
import { RedriveBar } from './redrive-bar.tsx'
import { type LettersDialogProps, RedriveDialog } from './redrive-dialog.tsx'

const w = words.deadLetters
const route = getRouteApi('/dlq/$queue')

export function WorkbenchPage() {
  const { queue: name } = route.useParams()
  const { letter, ...search } = route.useSearch()
  const filter = readFilter(search)
  const navigate = route.useNavigate()
  const path = { queue: name }
  const read = useRead(operations.getQueue, { path })
  const grouping = { path, query: { ...filter, groupBy: groupByOf(filter) } }
  const counts = useRead(operations.countDeadLetters, grouping)
  const described = describeFilter(filter, counts.data?.groups)
  const choose = (chosen: LetterFilter) =>
    void navigate({ search: { ...chosen, statusCode: chosen.statusCode?.toString() }, replace: true })
  return (
    <Loaded
      read={read}
      frame={<PageHead title={name} above={<Link to="/dlq">{words.pages.deadLetters}</Link>} />}
      gone={
        <Gone title={words.queues.gone}>
          <Link to="/dlq">{words.pages.deadLetters}</Link>
        </Gone>
      }
    >
      {(queue) => (
        <>
          <PageHead
            title={queue.name}
            above={<Link to="/dlq">{words.pages.deadLetters}</Link>}
            request={callOf(operations.countDeadLetters, grouping)}
          >
            <Actions queue={queue} filter={filter} described={described} />
          </PageHead>
          <div className={css.stack}>
            <div className={css.panel}>
              <QueueFigures queue={queue} />
            </div>
            <ActiveRedrives queue={queue} />
            <Loaded read={counts} rows={3}>
              {(found) => (
                <LetterGroups
                  counts={found}
                  isCounted={!counts.isPlaceholderData}
                  filter={filter}
                  described={described}
                  onChoose={choose}
                />
              )}
            </Loaded>
            <Letters name={name} filter={filter} />
            {letter !== undefined && <LetterOfAddress queue={name} messageId={letter} />}
          </div>
        </>
      )}
    </Loaded>
  )
}

function Actions(chosen: { queue: Queue; filter: LetterFilter; described: string }) {
  const [open, setOpen] = useState<'redrive' | 'purge'>()
  const close = () => setOpen(undefined)
  return (
    <>
      <Button kind="primary" isDisabled={lettersIn(chosen.queue) === 0} onPress={() => setOpen('redrive')}>
        {w.redrive}
      </Button>
      <Button kind="danger" onPress={() => setOpen('purge')}>
        {w.purge}
      </Button>
      <RedriveDialog {...chosen} isOpen={open === 'redrive'} onClose={close} />
      <Purge {...chosen} isOpen={open === 'purge'} onClose={close} />
    </>
  )
}

/** Shows every running redrive of the queue, because a redrive continues when its page is closed. */
function ActiveRedrives({ queue }: { queue: Queue }) {
  const read = useRead(operations.listRedrives, { query: { source: queue.arn, limit: 20 } })
  const active = read.data?.redrives.filter(({ endedAt }) => endedAt === null) ?? []
  return active.map((redrive) => (
    <div key={redrive.id} className={css.panel}>
      <RedriveBar redrive={redrive} />
      <Link to="/redrives/$id" params={{ id: redrive.id }}>
        {words.redrive.open}
      </Link>
    </div>
  ))
}

function Letters({ name, filter }: { name: string; filter: LetterFilter }) {
  const [open, setOpen] = useState<QueueMessage>()
  const read = usePages(operations.peekMessages, { path: { queue: name }, query: { ...filter, limit: 50 } })
  const columns: readonly Column<QueueMessage>[] = [
    {
      title: w.letter,
      show: (message) => (
        <Button kind="plain" onPress={() => setOpen(message)}>
          <MessageLine eventType={message.eventType} line={message.line} id={message.messageId} />
        </Button>
      ),
    },
    {
      title: words.queueMessage.published,
      show: ({ deadLetter }) =>
        deadLetter ? (
          <Link to="/messages/$id" params={{ id: deadLetter.publishedMessageId }} className="mono">
            {deadLetter.publishedMessageId}
          </Link>
        ) : (
          '–'
        ),
    },
    {
      title: w.reason,
      show: ({ deadLetter }) => deadLetter && <Badge tone="bad">{deadLetter.reason}</Badge>,
    },
    {
      title: words.message.lastAnswer,
      show: ({ deadLetter }) => deadLetter?.statusCode ?? deadLetter?.lastError ?? '–',
    },
    { title: words.message.attempts, show: ({ deadLetter }) => deadLetter?.attempts ?? '–', isNumber: true },
    { title: w.died, show: ({ deadLetter, sentAt }) => <When at={deadLetter?.deadLetteredAt ?? sentAt} /> },
  ]
  return (
    <>
      <ReadTable
        read={read}
        label={w.letters}
        columns={columns}
        rowsOf={({ pages }) => pages.flatMap((page) => page.messages)}
        keyOf={({ messageId }) => messageId}
        empty={
          isEmptyFilter(filter) ? (
            <Empty title={w.noLetters}>{w.noLettersWhy}</Empty>
          ) : (
            <Empty title={w.noneMatches} />
          )
        }
      />
      <QueueMessageDialog queue={name} message={open} onClose={() => setOpen(undefined)} />
    </>
  )
}

/** The letter that the address names, such as after a search. */
function LetterOfAddress({ queue, messageId }: { queue: string; messageId: string }) {
  const navigate = route.useNavigate()
  const read = useRead(operations.getQueueMessage, { path: { queue, messageId } }, { everyMs: false })
  const close = () => void navigate({ search: (before) => ({ ...before, letter: undefined }), replace: true })
  if (read.error instanceof ApiError && read.error.status === 404)
    return (
      <p className={css.notice} role="status">
        {words.queueMessage.gone}
      </p>
    )
  return <QueueMessageDialog queue={queue} message={read.data} onClose={close} />
}

/** Removes all letters that the filter matches. The dialog counts them first, and the user types the queue's name. */
function Purge({ queue, filter, described, isOpen, onClose }: LettersDialogProps) {
  const path = { queue: queue.name }
  const chosen = isEmptyFilter(filter) ? {} : { filter }
  const purge = useWrite(operations.purgeQueue)
  const navigate = useNavigate()
  const { count, error } = useMatched(queue.name, chosen, isOpen)
  const done = (made: object) => {
    onClose()
    if ('id' in made) void navigate({ to: '/redrives/$id', params: { id: String(made.id) } })
  }
  return (
    <Confirm
      title={w.purgeTitle(queue.name)}
      action={w.purge}
      name={queue.name}
      isTyped
      isOpen={isOpen}
      write={{ error: purge.error, isPending: purge.isPending || count === undefined }}
      onClose={onClose}
      onConfirm={() => purge.mutate({ path, body: chosen }, { onSuccess: done })}
    >
      {error ? <Failed error={error} /> : null}
      {count === undefined ? <Skeleton rows={1} /> : <p>{w.purgeCount(formatNumber(count))}</p>}
      <p>{w.purgeWhat(described)}</p>
    </Confirm>
  )
}

/** Counts what the purge would remove now, while the dialog is open. */
function useMatched(queue: string, chosen: { filter?: LetterFilter }, isOpen: boolean) {
  const { mutate, data, error } = useWrite(operations.purgeQueue)
  const text = JSON.stringify(chosen)
  useEffect(() => {
    if (isOpen) mutate({ path: { queue }, body: { ...(JSON.parse(text) as object), dryRun: true } })
  }, [isOpen, queue, text, mutate])
  return { count: data?.matched, error }
}
