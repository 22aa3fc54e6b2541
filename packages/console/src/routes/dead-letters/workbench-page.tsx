/** One dead-letter queue: letters by cause, and what a filter matches is looked at, redriven or purged. */
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import type { DeadLetterCounts, Queue, QueueMessage } from '../../api/api-types.ts'
import { usePages, useRead } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { formatNumber, nameOf } from '../../parts/formats.ts'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { QueueMessageDialog } from '../queues/queue-message-dialog.tsx'
import { beginningOf, QueueFigures } from '../queues/queue-page.tsx'
import { type LetterFilter, readFilter } from './letter-filter.ts'
import { Purge } from './purge-dialog.tsx'
import { RedriveBar } from './redrive-bar.tsx'
import { RedriveDialog } from './redrive-dialog.tsx'

const w = words.deadLetters
const route = getRouteApi('/dlq/$queue')

export function WorkbenchPage() {
  const { queue: name } = route.useParams()
  const filter = readFilter(route.useSearch())
  const navigate = route.useNavigate()
  const path = { queue: name }
  const read = useRead(operations.getQueue, { path })
  const counts = useRead(operations.countDeadLetters, { path })
  const choose = (chosen: LetterFilter) =>
    void navigate({ search: { ...chosen, statusCode: chosen.statusCode?.toString() }, replace: true })
  return (
    <Loaded read={read}>
      {(queue) => (
        <>
          <PageHead
            title={queue.name}
            above={<Link to="/dlq">{words.pages.deadLetters}</Link>}
            request={callOf(operations.countDeadLetters, { path })}
          >
            <Actions queue={queue} filter={filter} />
          </PageHead>
          <div className={css.stack}>
            <div className={css.panel}>
              <QueueFigures queue={queue} />
            </div>
            <ActiveRedrives queue={queue} />
            <Loaded read={counts} rows={3}>
              {(found) => <Groups counts={found} filter={filter} onChoose={choose} />}
            </Loaded>
            <Letters name={name} filter={filter} />
          </div>
        </>
      )}
    </Loaded>
  )
}

function Actions({ queue, filter }: { queue: Queue; filter: LetterFilter }) {
  const [open, setOpen] = useState<'redrive' | 'purge'>()
  const close = () => setOpen(undefined)
  return (
    <>
      <Button kind="primary" onPress={() => setOpen('redrive')}>
        {w.redrive}
      </Button>
      <Button kind="danger" onPress={() => setOpen('purge')}>
        {w.purge}
      </Button>
      <RedriveDialog queue={queue} filter={filter} isOpen={open === 'redrive'} onClose={close} />
      <Purge queue={queue} filter={filter} isOpen={open === 'purge'} onClose={close} />
    </>
  )
}

/** A redrive goes on when its page is closed, so each shows itself here. */
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

interface GroupsProps {
  counts: DeadLetterCounts
  filter: LetterFilter
  onChoose: (filter: LetterFilter) => void
}

/** Each group is a button: what it names becomes the filter. */
function Groups({ counts, filter, onChoose }: GroupsProps) {
  const without = (member: keyof LetterFilter) => ({ ...filter, [member]: undefined })
  const groups = [
    { member: 'reason', title: w.byReason, found: counts.byReason, label: (key: string) => key },
    { member: 'statusCode', title: w.byStatus, found: counts.byStatusCode, label: (key: string) => key },
    { member: 'subscription', title: w.bySubscription, found: counts.bySubscription, label: nameOf },
  ] as const
  return (
    <div className={css.columns}>
      {groups.map(({ member, title, found, label }) => (
        <section key={member} className={css.panel}>
          <h2>{title}</h2>
          <ul className={css.groups}>
            {Object.entries(found)
              .toSorted(([, a], [, b]) => b - a)
              .map(([key, count]) => {
                const isChosen = String(filter[member] ?? '') === key
                // Letters without an answer have no status to filter by.
                const isFixed = member === 'statusCode' && key === 'none'
                const value = member === 'statusCode' ? Number(key) : key
                return (
                  <li key={key}>
                    <button
                      type="button"
                      aria-pressed={isChosen}
                      disabled={isFixed}
                      onClick={() =>
                        onChoose(
                          isChosen ? without(member) : ({ ...filter, [member]: value } as LetterFilter),
                        )
                      }
                    >
                      <span>{label(key)}</span> <strong>{formatNumber(count)}</strong>
                    </button>
                  </li>
                )
              })}
          </ul>
        </section>
      ))}
    </div>
  )
}

function Letters({ name, filter }: { name: string; filter: LetterFilter }) {
  const [open, setOpen] = useState<QueueMessage>()
  const read = usePages(operations.peekMessages, { path: { queue: name }, query: { ...filter, limit: 50 } })
  const columns: readonly Column<QueueMessage>[] = [
    {
      title: w.letter,
      show: (message) => (
        <Button kind="plain" onPress={() => setOpen(message)}>
          {beginningOf(message.body) || message.messageId}
        </Button>
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
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <>
      <Loaded read={read}>
        {({ pages }) => (
          <DataTable
            label={w.letters}
            columns={columns}
            rows={pages.flatMap((page) => page.messages)}
            keyOf={({ messageId }) => messageId}
            onMore={read.hasNextPage ? () => void read.fetchNextPage() : undefined}
            empty={<Empty title={isFiltered ? w.noneMatches : w.noLetters} />}
          />
        )}
      </Loaded>
      <QueueMessageDialog queue={name} message={open} onClose={() => setOpen(undefined)} />
    </>
  )
}
