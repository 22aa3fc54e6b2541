/** All topics, and the form that makes one. */
import type { Topic } from '@fantail/client/api'
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
import css from '../../parts/parts.module.css'
import { When } from '../../parts/show.tsx'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.topics
const route = getRouteApi('/topics')

const COLUMNS: readonly Column<Topic>[] = [
  {
    title: w.name,
    show: ({ name, displayName }) => (
      <>
        <Link to="/topics/$topic" params={{ topic: name }} data-row>
          {name}
        </Link>{' '}
        {displayName && <span className={css.quiet}>{displayName}</span>}
      </>
    ),
  },
  { title: w.kind, show: ({ fifo }) => (fifo ? w.fifo : w.standard) },
  { title: w.active, show: ({ subscriptions }) => formatNumber(subscriptions.active), isNumber: true },
  { title: w.pending, show: ({ subscriptions }) => formatNumber(subscriptions.pending), isNumber: true },
  { title: w.paused, show: ({ subscriptions }) => formatNumber(subscriptions.paused), isNumber: true },
  { title: w.retention, show: ({ retentionSeconds }) => formatSeconds(retentionSeconds), isNumber: true },
  { title: w.created, show: ({ createdAt }) => <When at={createdAt} /> },
]

export function TopicsPage() {
  const { prefix = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const input = { query: { prefix, limit: 100 } }
  const read = usePages(operations.listTopics, input)
  return (
    <NamedList
      title={words.pages.topics}
      words={w}
      request={callOf(operations.listTopics, input)}
      read={read}
      rowsOf={(page) => page.topics}
      columns={COLUMNS}
      prefix={prefix}
      onPrefix={(begin) => void navigate({ search: { prefix: begin }, replace: true })}
    >
      <CreateTopic />
    </NamedList>
  )
}

function CreateTopic() {
  const [name, setName] = useState('')
  const [displayName, setDisplayName] = useState('')
  const create = useWrite(operations.createTopic)
  const navigate = useNavigate()
  const input = { path: { topic: name }, body: displayName === '' ? {} : { displayName } }
  const send = async () => {
    const topic = await create.mutateAsync(input).catch(() => undefined)
    if (topic) void navigate({ to: '/topics/$topic', params: { topic: topic.name } })
  }
  return (
    <WriteForm
      write={create}
      action={w.create}
      onSend={() => void send()}
      isReady={name !== ''}
      call={callOf(operations.createTopic, input)}
    >
      <TextInput
        label={w.name}
        hint={w.nameHint}
        value={name}
        onChange={setName}
        isRequired
        autoFocus
        problem={problemAt(create.error, 'topic')}
      />
      <TextInput
        label={w.displayName}
        value={displayName}
        onChange={setDisplayName}
        problem={problemAt(create.error, 'displayName')}
      />
    </WriteForm>
  )
}
