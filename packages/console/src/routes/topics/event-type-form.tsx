/** Makes an event type, or changes its description, schema, examples and state. */
import type { EventType } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Check, TextArea, TextInput } from '../../parts/fields.tsx'
import { objectIn } from '../../parts/message-text.tsx'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.eventTypes

interface Props {
  topic: string
  /** Absent: a new type. */
  type?: EventType
  onDone: () => void
}

export function EventTypeForm({ topic, type, onDone }: Props) {
  const [name, setName] = useState(type?.name ?? '')
  const [description, setDescription] = useState(type?.description ?? '')
  const [schema, setSchema] = useState(textOf(type?.schema))
  const [examples, setExamples] = useState(textOf(type?.examples.length ? type.examples : null))
  const [deprecated, setDeprecated] = useState(type?.deprecated ?? false)
  const put = useWrite(operations.putEventType)
  const isSchemaWrong = schema.trim() !== '' && !objectIn(schema)
  const list = listIn(examples)
  const input = {
    path: { topic, name },
    body: {
      description: description === '' ? null : description,
      schema: objectIn(schema) ?? null,
      examples: list ?? null,
      deprecated,
    },
  }
  return (
    <WriteForm
      write={put}
      action={type ? w.save : w.add}
      isReady={name !== '' && !isSchemaWrong && list !== undefined}
      onSend={() => put.mutate(input, { onSuccess: onDone })}
      call={callOf(operations.putEventType, input)}
    >
      {!type && (
        <TextInput
          label={w.name}
          placeholder="order.paid"
          value={name}
          onChange={setName}
          isRequired
          problem={problemAt(put.error, 'name')}
        />
      )}
      <TextInput
        label={w.description}
        value={description}
        onChange={setDescription}
        problem={problemAt(put.error, 'description')}
      />
      <TextArea
        label={w.schema}
        hint={w.schemaHint}
        rows={10}
        value={schema}
        onChange={setSchema}
        problem={isSchemaWrong ? words.filter.notJson : problemAt(put.error, 'schema')}
      />
      <TextArea
        label={w.examples}
        hint={w.examplesHint}
        rows={6}
        value={examples}
        onChange={setExamples}
        problem={list === undefined ? w.notList : problemAt(put.error, 'examples')}
      />
      <Check label={w.deprecatedLabel} isChecked={deprecated} onChange={setDeprecated} />
    </WriteForm>
  )
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : JSON.stringify(value, null, 2)
}

/** null: there are none. undefined: the text is no JSON list. */
function listIn(text: string): unknown[] | null | undefined {
  if (text.trim() === '') return null
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
