/** All endpoints of the session, and the form that adds one. */
import {
  addPortalEndpoint,
  type CreatedPortalSession,
  listPortalEndpoints,
  listPortalTopics,
  type PortalEndpoint,
} from '@fantail/client/api'
import { useState } from 'react'
import { problemAt } from '../api/api-error.ts'
import { useRead, useWrite } from '../api/use-api.ts'
import { words } from '../i18n/en.ts'
import { Button } from '../parts/button.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { Select, TextInput } from '../parts/fields.tsx'
import css from '../parts/parts.module.css'
import { Badge } from '../parts/show.tsx'
import { Empty, Failed, Loaded } from '../parts/states.tsx'
import { WriteForm } from '../parts/write-form.tsx'

const w = words.portal

interface Props {
  session: CreatedPortalSession
  onChoose: (id: string) => void
}

export function EndpointList({ session, onChoose }: Props) {
  const [isAdding, setAdding] = useState(false)
  const read = useRead(listPortalEndpoints, {})
  const columns: readonly Column<PortalEndpoint>[] = [
    {
      title: w.endpoint,
      show: ({ id, name, endpoint }) => (
        <>
          <Button kind="plain" onPress={() => onChoose(id)}>
            {name ?? endpoint}
          </Button>
          {name && <div className={`${css.quiet} ${css.small}`}>{endpoint}</div>}
        </>
      ),
    },
    { title: w.topic, show: ({ topic }) => topic },
    { title: w.state, show: (one) => <StateBadge {...one} /> },
    { title: w.waiting, show: ({ waiting }) => waiting, isNumber: true },
  ]
  return (
    <>
      <div className={css.head}>
        <h1>{w.endpoints}</h1>
        {session.canAdd && (
          <Button kind="primary" onPress={() => setAdding(true)}>
            {w.add}
          </Button>
        )}
      </div>
      <Loaded read={read} rows={4}>
        {({ endpoints, nextCursor }) => (
          <>
            <DataTable
              label={w.endpoints}
              columns={columns}
              rows={endpoints}
              keyOf={({ id }) => id}
              empty={<Empty title={w.noEndpoints}>{session.canAdd ? w.noEndpointsWhy : null}</Empty>}
            />
            {nextCursor && <p className={css.quiet}>{w.notComplete}</p>}
          </>
        )}
      </Loaded>
      <Dialog title={w.add} isOpen={isAdding} onClose={() => setAdding(false)}>
        <AddForm
          onAdded={(id) => {
            setAdding(false)
            onChoose(id)
          }}
        />
      </Dialog>
    </>
  )
}

export function StateBadge({ status, verdict }: Pick<PortalEndpoint, 'status' | 'verdict'>) {
  const isWell = verdict === 'fine' || verdict === 'catchingUp'
  // A customer cannot help it that messages wait for a worker.
  const tone = isWell ? 'good' : status === 'active' && verdict !== 'undispatched' ? 'bad' : 'warn'
  return <Badge tone={tone}>{words.lanes.verdicts[verdict]}</Badge>
}

function AddForm({ onAdded }: { onAdded: (id: string) => void }) {
  const topics = useRead(listPortalTopics, {}, { everyMs: false })
  const [topic, setTopic] = useState('')
  const [endpoint, setEndpoint] = useState('')
  const [name, setName] = useState('')
  const add = useWrite(addPortalEndpoint)
  const names = topics.data?.topics ?? []
  const chosen = topic === '' ? (names[0] ?? '') : topic
  const send = () => {
    const body = { topic: chosen, endpoint, ...(name !== '' && { name }) }
    add.mutate({ body }, { onSuccess: ({ id }) => onAdded(id) })
  }
  return (
    <WriteForm write={add} action={w.add} onSend={send} isReady={endpoint !== '' && chosen !== ''}>
      <Select
        label={w.topic}
        value={chosen}
        onChange={setTopic}
        options={names.map((one) => ({ value: one, label: one }))}
      />
      <TextInput
        label={w.url}
        hint={w.urlHint}
        value={endpoint}
        onChange={setEndpoint}
        isRequired
        autoFocus
        problem={problemAt(add.error, 'endpoint')}
      />
      <TextInput label={w.name} value={name} onChange={setName} problem={problemAt(add.error, 'name')} />
      {topics.error && <Failed error={topics.error} />}
    </WriteForm>
  )
}
