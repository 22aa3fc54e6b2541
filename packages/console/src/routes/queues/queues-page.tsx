/** All queues with their counts, and the form that makes one. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import type { Queue } from '../../api/api-types.ts'
import { usePages, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { formatSeconds } from '../../parts/formats.ts'
import { CopyCurl, PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge } from '../../parts/show.tsx'
import { Empty, Failed, Loaded } from '../../parts/states.tsx'
import { takesDeadLetters } from '../dead-letters/letters-of.ts'

const w = words.queues
const route = getRouteApi('/queues')

const COLUMNS: readonly Column<Queue>[] = [
  {
    title: words.topics.name,
    show: (queue) => (
      <>
        <Link to="/queues/$queue" params={{ queue: queue.name }} data-row>
          {queue.name}
        </Link>{' '}
        {takesDeadLetters(queue) && <Badge>{words.pages.deadLetters}</Badge>}
      </>
    ),
  },
  { title: words.topics.kind, show: ({ fifo }) => (fifo ? words.topics.fifo : words.topics.standard) },
  { title: w.visible, show: ({ counts }) => counts.visible, isNumber: true },
  { title: w.inFlight, show: ({ counts }) => counts.inFlight, isNumber: true },
  { title: w.delayed, show: ({ counts }) => counts.delayed, isNumber: true },
  {
    title: w.oldest,
    show: ({ oldestSeconds }) => (oldestSeconds === null ? '–' : formatSeconds(oldestSeconds)),
    isNumber: true,
  },
  {
    title: words.topics.retention,
    show: ({ retentionSeconds }) => formatSeconds(retentionSeconds),
    isNumber: true,
  },
]

export function QueuesPage() {
  const { prefix = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const [isCreating, setCreating] = useState(false)
  const input = { query: { prefix, limit: 100 } }
  const read = usePages(operations.listQueues, input)
  return (
    <>
      <PageHead title={words.pages.queues} request={callOf(operations.listQueues, input)}>
        <Button kind="primary" onPress={() => setCreating(true)}>
          {w.create}
        </Button>
      </PageHead>
      <div className={css.stack}>
        <TextInput
          type="search"
          label={w.filter}
          value={prefix}
          onChange={(value) => void navigate({ search: { prefix: value || undefined }, replace: true })}
        />
        <Loaded read={read}>
          {({ pages }) => (
            <DataTable
              label={words.pages.queues}
              columns={COLUMNS}
              rows={pages.flatMap((page) => page.queues)}
              keyOf={(queue) => queue.arn}
              onMore={read.hasNextPage ? () => void read.fetchNextPage() : undefined}
              empty={
                <Empty title={prefix === '' ? w.emptyTitle : w.emptyFiltered(prefix)}>
                  <p>{w.empty}</p>
                </Empty>
              }
            />
          )}
        </Loaded>
      </div>
      <Dialog title={w.create} isOpen={isCreating} onClose={() => setCreating(false)}>
        <CreateQueue />
      </Dialog>
    </>
  )
}

function CreateQueue() {
  const [name, setName] = useState('')
  const create = useWrite(operations.createQueue)
  const navigate = useNavigate()
  const input = { path: { queue: name }, body: {} }
  const submit = (event: React.FormEvent) => {
    event.preventDefault()
    create.mutate(input, {
      onSuccess: (queue) => void navigate({ to: '/queues/$queue', params: { queue: queue.name } }),
    })
  }
  return (
    <form className={css.form} onSubmit={submit}>
      <TextInput
        label={words.topics.name}
        hint={words.topics.nameHint}
        value={name}
        onChange={setName}
        isRequired
        autoFocus
        problem={problemAt(create.error, 'queue')}
      />
      {create.error && <Failed error={create.error} />}
      <div className={css.row}>
        <Button kind="primary" type="submit" isDisabled={name === '' || create.isPending}>
          {w.create}
        </Button>
        <CopyCurl call={callOf(operations.createQueue, input)} />
      </div>
    </form>
  )
}
