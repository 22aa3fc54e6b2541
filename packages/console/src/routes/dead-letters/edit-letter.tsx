/** Edits a dead letter next to the original, shows the difference, and sends it again. */
import { lineDiff } from '@fantail/policy'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import type { QueueMessage } from '../../api/api-types.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { TextArea } from '../../parts/fields.tsx'
import { MessageText } from '../../parts/message-text.tsx'
import { CopyCurl } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Failed, Loaded } from '../../parts/states.tsx'

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
  const [text, setText] = useState(original)
  const [isShown, setShown] = useState(false)
  const send = useWrite(operations.redriveMessage)
  const navigate = useNavigate()
  const input = { path: { queue, messageId: message.messageId }, body: { message: text } }
  const submit = (event: React.FormEvent) => {
    event.preventDefault()
    if (!isShown) return setShown(true)
    send.mutate(input, {
      onSuccess: ({ id }) => {
        onClose()
        void navigate({ to: '/redrives/$id', params: { id } })
      },
    })
  }
  const change = (next: string) => {
    setText(next)
    setShown(false)
  }
  return (
    <form className={css.form} onSubmit={submit}>
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
          onChange={change}
          problem={problemAt(send.error, 'message')}
        />
      </div>
      {isShown && <Difference before={original} after={text} />}
      {send.error && <Failed error={send.error} />}
      <div className={css.row}>
        <Button kind="primary" type="submit" isDisabled={text === original || send.isPending}>
          {isShown ? w.send : w.compare}
        </Button>
        <CopyCurl call={callOf(operations.redriveMessage, input)} />
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </form>
  )
}

/** The sign has the same meaning as the colour. */
function Difference({ before, after }: { before: string; after: string }) {
  const lines = lineDiff(before, after).map(({ sign, text }) => `${sign} ${text}`)
  return (
    <section>
      <h3>{w.difference}</h3>
      <MessageText text={lines.join('\n')} />
    </section>
  )
}
