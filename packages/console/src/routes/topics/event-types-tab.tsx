/** The catalogue of a topic: its event types, each with schema and examples, and the check of publishes. */
import type { EventType, Topic } from '@fantail/client/api'
import { type ReactNode, useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { Select } from '../../parts/fields.tsx'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Badge, Pairs, When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'
import { EventTypeForm } from './event-type-form.tsx'

const w = words.eventTypes

export function EventTypesTab({ topic }: { topic: Topic }) {
  const [open, setOpen] = useState<string>()
  const [isAdding, setAdding] = useState(false)
  const read = useRead(operations.listEventTypes, { path: { topic: topic.name } })
  const columns: readonly Column<Row>[] = [
    {
      title: w.name,
      show: ({ name }) => (
        <Button kind="plain" onPress={() => setOpen(name)}>
          {name}
        </Button>
      ),
    },
    { title: w.version, show: ({ version }) => version ?? '–', isNumber: true },
    {
      title: w.state,
      show: ({ deprecated }) => (deprecated ? <Badge tone="warn">{w.deprecated}</Badge> : ''),
    },
    { title: w.description, show: ({ description }) => description ?? '' },
    { title: w.changed, show: ({ modifiedAt }) => <When at={modifiedAt} /> },
  ]
  return (
    <div className={css.stack}>
      <div className={css.row}>
        <Button onPress={() => setAdding(true)}>{w.add}</Button>
      </div>
      <ReadTable
        read={read}
        label={w.title}
        columns={columns}
        rowsOf={({ eventTypes }) => eventTypes}
        keyOf={({ name }) => name}
        empty={
          <Empty title={w.none}>
            <p>{w.noneWhy}</p>
          </Empty>
        }
      />
      <CheckForm topic={topic} />
      <Dialog title={w.add} isOpen={isAdding} onClose={() => setAdding(false)}>
        <EventTypeForm topic={topic.name} onDone={() => setAdding(false)} />
      </Dialog>
      <Dialog title={open ?? ''} isOpen={open !== undefined} onClose={() => setOpen(undefined)}>
        {open !== undefined && <Detail topic={topic.name} name={open} onDone={() => setOpen(undefined)} />}
      </Dialog>
    </div>
  )
}

type Row = Pick<EventType, 'name' | 'description' | 'deprecated' | 'version' | 'modifiedAt'>

interface DetailProps {
  topic: string
  name: string
  onDone: () => void
}

function Detail({ topic, name, onDone }: DetailProps) {
  const [isEditing, setEditing] = useState(false)
  const read = useRead(operations.getEventType, { path: { topic, name } }, { everyMs: false })
  return (
    <Loaded read={read} gone={<p>{w.gone}</p>}>
      {(type) =>
        isEditing ? (
          <EventTypeForm topic={topic} type={type} onDone={onDone} />
        ) : (
          <Shown type={type}>
            <div className={css.row}>
              <Button onPress={() => setEditing(true)}>{w.edit}</Button>
              <DeleteType topic={topic} name={name} onDone={onDone} />
            </div>
          </Shown>
        )
      }
    </Loaded>
  )
}

function Shown({ type, children }: { type: EventType; children: ReactNode }) {
  const { description, deprecated, schema, schemaVersion, examples } = type
  return (
    <div className={css.stack}>
      {description && <p>{description}</p>}
      <Pairs
        pairs={[
          [w.version, schemaVersion ?? w.noSchema],
          [w.deprecated, deprecated ? words.yes : words.no],
        ]}
      />
      <h3>{w.schema}</h3>
      {schema ? <MessageText text={JSON.stringify(schema)} /> : <p className={css.quiet}>{w.noSchema}</p>}
      {examples.length > 0 && <h3>{w.examples}</h3>}
      {examples.map((example, i) => (
        <MessageText key={`${i}`} text={JSON.stringify(example)} />
      ))}
      {children}
    </div>
  )
}

function DeleteType({ topic, name, onDone }: DetailProps) {
  const [isOpen, setOpen] = useState(false)
  const remove = useWrite(operations.deleteEventType)
  return (
    <>
      <Button kind="danger" onPress={() => setOpen(true)}>
        {w.delete}
      </Button>
      <Confirm
        title={w.deleteTitle(name)}
        action={w.delete}
        name={name}
        isOpen={isOpen}
        write={remove}
        onClose={() => setOpen(false)}
        onConfirm={() => remove.mutate({ path: { topic, name } }, { onSuccess: onDone })}
      >
        <p>{w.deleteWhat}</p>
      </Confirm>
    </>
  )
}

function CheckForm({ topic }: { topic: Topic }) {
  const [eventTypeCheck, setCheck] = useState(topic.eventTypeCheck)
  const save = useWrite(operations.updateTopic)
  const input = { path: { topic: topic.name }, body: { eventTypeCheck } }
  return (
    <WriteForm
      isPanel
      write={save}
      action={w.save}
      isReady={eventTypeCheck !== topic.eventTypeCheck}
      onSend={() => save.mutate(input)}
      call={callOf(operations.updateTopic, input)}
    >
      <h2>{w.check}</h2>
      <Select label={w.checkLabel} value={eventTypeCheck} onChange={setCheck} options={CHECKS} />
    </WriteForm>
  )
}

const CHECKS = [
  { value: 'off', label: w.checks.off },
  { value: 'warn', label: w.checks.warn },
  { value: 'refuse', label: w.checks.refuse },
] as const
