/** All queues with their counts, and the form that makes one. */
import type { Queue } from '@fantail/client/api'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { usePages, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import type { Column } from '../../parts/data-table.tsx'
import { NamedList } from '../../parts/dialogs/named-list.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { formatNumber, formatSeconds } from '../../parts/formats.ts'
import { Badge } from '../../parts/show.tsx'
import { WriteForm } from '../../parts/write-form.tsx'
import { takesDeadLetters } from './dead-letter-queues.ts'

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
  { title: w.visible, show: ({ counts }) => formatNumber(counts.visible), isNumber: true },
  { title: w.inFlight, show: ({ counts }) => formatNumber(counts.inFlight), isNumber: true },
  { title: w.delayed, show: ({ counts }) => formatNumber(counts.delayed), isNumber: true },
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
  const input = { query: { prefix, limit: 100 } }
  const read = usePages(operations.listQueues, input)
  return (
    <NamedList
      title={words.pages.queues}
      words={w}
      request={callOf(operations.listQueues, input)}
      read={read}
      rowsOf={(page) => page.queues}
      columns={COLUMNS}
      prefix={prefix}
      onPrefix={(begin) => void navigate({ search: { prefix: begin }, replace: true })}
    >
      <CreateQueue />
    </NamedList>
  )
}

function CreateQueue() {
  const [name, setName] = useState('')
  const create = useWrite(operations.createQueue)
  const navigate = useNavigate()
  const input = { path: { queue: name }, body: {} }
  const send = () =>
    create.mutate(input, {
      onSuccess: (queue) => void navigate({ to: '/queues/$queue', params: { queue: queue.name } }),
    })
  return (
    <WriteForm
      write={create}
      action={w.create}
      onSend={send}
      isReady={name !== ''}
      call={callOf(operations.createQueue, input)}
    >
      <TextInput
        label={words.topics.name}
        hint={words.topics.nameHint}
        value={name}
        onChange={setName}
        isRequired
        autoFocus
        problem={problemAt(create.error, 'queue')}
      />
    </WriteForm>
  )
}
