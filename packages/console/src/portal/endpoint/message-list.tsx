/** The latest messages of an endpoint, newest first. A message opens where it stands. */
import { useState } from 'react'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields.tsx'
import css from '../../parts/parts.module.css'
import { Badge, type Tone, When } from '../../parts/show.tsx'
import { Empty } from '../../parts/states.tsx'
import own from '../pieces/portal.module.css'
import { Shown } from '../pieces/shown.tsx'
import { failureOf } from '../pieces/trouble.tsx'
import { MESSAGE_STATES, type Message, type MessageState, useLatestMessages } from './latest-messages.ts'
import { MessageDetail } from './message-detail.tsx'
import { ResendFailed } from './resend-failed.tsx'

interface Props {
  id: string
  mayResend: boolean
  seesBodies: boolean
}

export function MessageList({ id, ...rights }: Props) {
  const { messages: w } = useLanguage().words
  const [state, setState] = useState<MessageState | ''>('')
  /** Says that messages were sent again. It stands above the list, because the row of a message may leave the list. */
  const [said, setSaid] = useState('')
  const read = useLatestMessages(id, state)
  const { hasNextPage, fetchNextPage } = read
  const onMore = hasNextPage ? () => void fetchNextPage() : undefined
  return (
    <section className={css.stack}>
      <div className={own.bar}>
        <h2>{w.title}</h2>
        <Select
          label={w.show}
          value={state}
          onChange={setState}
          options={[
            { value: '' as const, label: w.any },
            ...MESSAGE_STATES.map((one) => ({ value: one, label: w.states[one] })),
          ]}
        />
        {rights.mayResend && <ResendFailed id={id} onSay={setSaid} />}
      </div>
      <p role="status" className={own.problems}>
        {said}
      </p>
      <Shown read={read} rows={4}>
        {({ pages }) => {
          const messages = newestOf(pages.flatMap((page) => page.messages))
          const scannedTo = pages.at(-1)?.scannedTo ?? null
          return messages.length === 0 ? (
            <Nothing state={state} scannedTo={scannedTo} onMore={onMore} />
          ) : (
            <>
              <ul className={own.rows} aria-label={w.title}>
                {messages.map((message) => (
                  <li key={message.messageId}>
                    <Row {...rights} id={id} message={message} onSay={setSaid} />
                  </li>
                ))}
              </ul>
              <End scannedTo={scannedTo} onMore={onMore} />
            </>
          )
        }}
      </Shown>
    </section>
  )
}

/** A message that was sent again is listed once, with its newest state. */
function newestOf(messages: readonly Message[]): Message[] {
  const byId = new Map<string, Message>()
  for (const message of messages) if (!byId.has(message.messageId)) byId.set(message.messageId, message)
  return [...byId.values()]
}

interface EndProps {
  /** How far back the list goes; null: to the beginning. */
  scannedTo: string | null
  /** undefined: there are no older messages. */
  onMore: (() => void) | undefined
}

function End({ scannedTo, onMore }: EndProps) {
  const { words, formats } = useLanguage()
  if (onMore) {
    return (
      <div>
        <Button onPress={onMore}>{words.more}</Button>
      </div>
    )
  }
  if (scannedTo === null) return null
  return <p className={`${css.quiet} ${css.small}`}>{words.messages.scannedTo(formats.time(scannedTo))}</p>
}

function Nothing({ state, scannedTo, onMore }: EndProps & { state: MessageState | '' }) {
  const { words, formats } = useLanguage()
  const { messages: w } = words
  if (onMore) {
    return (
      <div className={css.frame}>
        <Empty title={scannedTo === null ? w.noneYet : w.noneSince(formats.time(scannedTo))}>
          <Button onPress={onMore}>{w.further}</Button>
        </Empty>
      </div>
    )
  }
  return (
    <div className={css.frame}>
      <Empty title={state === '' ? w.empty : w.noneOf[state]}>
        {state === '' && <p>{w.emptyWhy}</p>}
        {state === 'failed' && <p>{w.noneFailedWhy}</p>}
      </Empty>
    </div>
  )
}

const TONES: Record<MessageState, Tone> = { delivered: 'good', waiting: 'warn', failed: 'bad' }

interface RowProps extends Props {
  message: Message
  onSay: (text: string) => void
}

function Row({ id, message, ...rest }: RowProps) {
  const { words } = useLanguage()
  const { messages: w } = words
  const [isOpen, setOpen] = useState(false)
  const { messageId, publishedAt, state, attempts } = message
  const failure = state === 'delivered' ? undefined : failureOf(words, message)
  return (
    <>
      <button type="button" className={own.message} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Badge tone={TONES[state]}>{w.states[state]}</Badge>
        <span className={own.messageText}>
          <strong>{message.eventType ?? w.untyped}</strong>{' '}
          <code>{message.line ?? messageId.slice(-ID_END_CHARS)}</code>
        </span>
        <span className={own.messageEnd}>
          {failure && <small>{failure}</small>}
          {attempts !== null && attempts > 1 && <small>{w.attempts(attempts)}</small>}
          <When at={publishedAt} />
        </span>
      </button>
      {isOpen && <MessageDetail {...rest} id={id} messageId={messageId} />}
    </>
  )
}

/** The random end of an id distinguishes messages whose content is not shown. */
const ID_END_CHARS = 8
