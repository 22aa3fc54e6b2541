/** All queues with their counts, and the form that makes one. */

import type { Queue } from '@fantail/client/api'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { usePages, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { NamedList } from '../../parts/dialogs/named-list.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { formatSeconds } from '../../parts/formats.ts'
import { CopyCurl } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge } from '../../parts/show.tsx'
import { Failed } from '../../parts/states.tsx'
import { takesDeadLetters } from './letters-of.ts'

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
