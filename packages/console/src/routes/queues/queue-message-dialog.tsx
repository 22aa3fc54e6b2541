/** One message of a queue: its body as text, its attributes and, for a dead letter, the reason. */
import type { QueueMessage } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { operations } from '../../api/api-calls.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { nameOf } from '../../parts/formats.ts'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Pairs, When } from '../../parts/show.tsx'
import { Failed } from '../../parts/states.tsx'
import { EditLetter } from './edit-letter.tsx'

const w = words.queueMessage

interface Props {
  queue: string
  message: QueueMessage | undefined
  onClose: () => void
}

export function QueueMessageDialog({ queue, message, onClose }: Props) {
  return (
    <Dialog title={w.title} isOpen={message !== undefined} onClose={onClose}>
      {message && <Shown key={message.messageId} queue={queue} message={message} onClose={onClose} />}
    </Dialog>
  )
}

function Shown({ queue, message, onClose }: Props & { message: QueueMessage }) {
  const remove = useWrite(operations.deleteQueueMessage)
  const { deadLetter, attributes, messageId } = message
  const named = Object.entries(attributes)
  const [isEdited, setEdited] = useState(false)
  if (isEdited) return <EditLetter queue={queue} messageId={messageId} onClose={onClose} />
  return (
    <>
      {deadLetter && <DeadLetterPairs letter={deadLetter} />}
      {message.body === null ? <p className={css.quiet}>{w.hidden}</p> : <MessageText text={message.body} />}
      {named.length > 0 && (
        <Pairs pairs={named.map(([name, { type, value }]) => [name, `${value} (${type})`])} />
      )}
      <Pairs
        pairs={[
          [words.queues.id, <code key="id">{messageId}</code>],
          [words.queues.sent, <When key="sent" at={message.sentAt} />],
          [words.queues.received, message.receiveCount],
        ]}
      />
      {remove.error && <Failed error={remove.error} />}
      <div className={css.row}>
        {message.body !== null && <CopyButton text={message.body} label={w.copyBody} />}
        {deadLetter && message.body !== null && (
          <Button onPress={() => setEdited(true)}>{words.editLetter.edit}</Button>
        )}
        <Button
          kind="danger"
          isDisabled={remove.isPending}
          onPress={() => remove.mutate({ path: { queue, messageId } }, { onSuccess: onClose })}
        >
          {w.delete}
        </Button>
        <Button onPress={onClose}>{words.close}</Button>
      </div>
    </>
  )
}

function DeadLetterPairs({ letter }: { letter: NonNullable<QueueMessage['deadLetter']> }) {
  const subscription = nameOf(letter.subscriptionArn)
  return (
    <Pairs
      pairs={[
        [w.reason, letter.reason],
        [words.message.lastAnswer, letter.statusCode ?? letter.lastError ?? '–'],
        [words.message.attempts, letter.attempts],
        [
          words.pages.subscription,
          <Link key="subscription" to="/subs/$id" params={{ id: subscription }}>
            {subscription}
          </Link>,
        ],
        [
          w.published,
          <Link key="message" to="/messages/$id" params={{ id: letter.publishedMessageId }}>
            {letter.publishedMessageId}
          </Link>,
        ],
        [w.died, <When key="died" at={letter.deadLetteredAt} />],
      ]}
    />
  )
}
