/** The text of a message and what was published with it, if Fantail still has it. */
import type { MessageBody } from '@fantail/client/api'
import { operations } from '../../api/api-calls.ts'
import { ApiError } from '../../api/api-error.ts'
import { useRead } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { CopyButton } from '../../parts/button.tsx'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Pairs } from '../../parts/show.tsx'
import { Failed, Skeleton } from '../../parts/states.tsx'

const w = words.messageBody

/** A message does not change, so it is read once. */
export function MessageBodyPanel({ id }: { id: string }) {
  const read = useRead(operations.getMessageBody, { path: { messageId: id } }, { everyMs: false })
  return (
    <section className={css.panel}>
      <h2>{w.title}</h2>
      {read.data ? <Shown message={read.data} /> : <Missing error={read.error} onRetry={read.refetch} />}
    </section>
  )
}

function Shown({ message }: { message: MessageBody }) {
  const { message: text, attributes, subject, groupId, from } = message
  const known: [string, string | undefined][] = [
    [w.subject, subject],
    [w.group, groupId],
    ...Object.entries(attributes).map(([name, { type, value }]): [string, string] => [
      name,
      `${value} (${type})`,
    ]),
    [w.from, w.places[from]],
  ]
  return (
    <div className={css.stack}>
      <MessageText text={text} />
      <Pairs pairs={known.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))} />
      <div className={css.row}>
        <CopyButton text={text} label={words.queueMessage.copyBody} />
      </div>
    </div>
  )
}

/** A text that is not kept is no failure. The screen shows the server's reason, and how to keep messages. */
function Missing({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  if (!error) return <Skeleton rows={3} />
  if (!(error instanceof ApiError)) return <Failed error={error} onRetry={() => void onRetry()} />
  if (error.status === 403) return <p className={css.quiet}>{words.queueMessage.hidden}</p>
  if (error.code !== 'body_gone') return <Failed error={error} onRetry={() => void onRetry()} />
  return (
    <>
      <p>{error.message}</p>
      <p className={css.quiet}>{w.howToKeep}</p>
    </>
  )
}
