/** Edits a dead letter next to the original, shows the difference, and sends it again. */
import type { QueueMessage } from '@fantail/client/api'
import { lineDiff } from '@fantail/policy'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { ApiError, problemAt } from '../../api/api-error.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { TextArea } from '../../parts/fields.tsx'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Loaded } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'
import { AttributeRows, attributeLines, attributesOf, rowsOf, rowsProblem } from './attribute-rows.tsx'

const w = words.editLetter

interface Props {
  queue: string
  messageId: string
  onClose: () => void
}

export function EditLetter({ queue, messageId, onClose }: Props) {
  const read = useRead(operations.getQueueMessage, { path: { queue, messageId } }, { everyMs: false })
  // A letter that was sent again is gone, so reading it fails. The form stays until it has opened the page of the
  // redrive.
  const [first, setFirst] = useState(read.data)
  if (first === undefined && read.data !== undefined) setFirst(read.data)
  if (first) return <EditForm queue={queue} message={first} onClose={onClose} />
  return (
    <Loaded read={read} rows={3}>
      {() => null}
    </Loaded>
  )
}

function EditForm({ queue, message, onClose }: Omit<Props, 'messageId'> & { message: QueueMessage }) {
  const original = message.published?.message ?? message.body ?? ''
  const given = message.published?.attributes ?? message.attributes
  const [text, setText] = useState(original)
  const [rows, setRows] = useState(() => rowsOf(given))
  const [isShown, setShown] = useState(false)
  const send = useWrite(operations.redriveMessage)
  const navigate = useNavigate()
  const problem = rowsProblem(rows)
  const attributes = attributesOf(rows)
  const hasAttributes = problem !== undefined || attributeLines(attributes) !== attributeLines(given)
  const body = { ...(text !== original && { message: text }), ...(hasAttributes && { attributes }) }
  const isChanged = text !== original || hasAttributes
  const input = { path: { queue, messageId: message.messageId }, body }
  const compareOrSend = () => {
    if (!isShown) return setShown(true)
    send.mutate(input, {
      onSuccess: ({ id }) => {
        onClose()
        void navigate({ to: '/redrives/$id', params: { id } })
      },
    })
  }
  const change = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      set(value)
      setShown(false)
    }
  }
  return (
    <WriteForm
      write={send}
      action={isShown ? w.send : w.compare}
      onSend={compareOrSend}
      isReady={isChanged && problem === undefined}
      call={callOf(operations.redriveMessage, input)}
      beside={<Button onPress={onClose}>{words.cancel}</Button>}
    >
      <p>{w.what}</p>
      <div className={css.columns}>
        <section>
          <h3>{w.original}</h3>
          <MessageText text={original} />
        </section>
        <TextArea
          label={w.edited}
          rows={10}
          value={text}
          onChange={change(setText)}
          problem={problemAt(send.error, 'message')}
        />
      </div>
      <AttributeRows
        rows={rows}
        onChange={change(setRows)}
        problem={problem ?? attributesProblem(send.error)}
      />
      {isShown && text !== original && <Difference title={w.difference} before={original} after={text} />}
      {isShown && hasAttributes && (
        <Difference
          title={w.attributesDifference}
          before={attributeLines(given)}
          after={attributeLines(attributes)}
        />
      )}
    </WriteForm>
  )
}

/** Problems that the API found in attributes. Their paths begin with `attributes`. */
function attributesProblem(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const found = error.details.filter(({ path }) => path.startsWith('attributes'))
  return found.length > 0 ? found.map(({ path, message }) => `${path} ${message}`).join(', ') : undefined
}

/** The sign has the same meaning as the colour. */
function Difference({ title, before, after }: { title: string; before: string; after: string }) {
  const lines = lineDiff(before, after).map(({ sign, text }) => `${sign} ${text}`)
  return (
    <section>
      <h3>{title}</h3>
      <MessageText text={lines.join('\n')} />
    </section>
  )
}
