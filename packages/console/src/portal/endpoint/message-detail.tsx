/** One message at an endpoint: its content, each attempt with the answer, and a button that sends it again. */
import { getPortalMessage, resendPortalMessage } from '@fantail/client/api'
import type { OutputOf } from '../../api/api-calls.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Badge, Pairs } from '../../parts/show.tsx'
import own from '../pieces/portal.module.css'
import { Shown } from '../pieces/shown.tsx'
import { failureOf, Trouble } from '../pieces/trouble.tsx'

/** A session may read 60 messages in a minute. */
const EVERY_MS = 15_000

type Detail = OutputOf<typeof getPortalMessage>

interface Props {
  id: string
  messageId: string
  mayResend: boolean
  seesBodies: boolean
  /** Shows a sentence above the list. */
  onSay: (text: string) => void
}

export function MessageDetail({ id, messageId, mayResend, seesBodies, onSay }: Props) {
  const { messages: w } = useLanguage().words
  const read = useRead(getPortalMessage, { path: { id, messageId } }, { everyMs: EVERY_MS })
  return (
    <div className={own.detail}>
      <Shown read={read} rows={3} gone={<p className={css.quiet}>{w.unknown}</p>}>
        {(detail) => (
          <>
            <Facts detail={detail} />
            {mayResend && <Resend id={id} detail={detail} onSay={onSay} />}
            <Attempts attempts={detail.attempts} />
            <h3>{w.text}</h3>
            <Content body={detail.body} seesBodies={seesBodies} />
          </>
        )}
      </Shown>
    </div>
  )
}

function Facts({ detail: { messageId, publishedAt, state } }: { detail: Detail }) {
  const { words, formats } = useLanguage()
  const { messages: w } = words
  return (
    <>
      {state === null && <p className={css.quiet}>{w.unknown}</p>}
      <Pairs
        pairs={[
          [w.published, formats.time(publishedAt)],
          [w.id, <code key="id">{messageId}</code>],
        ]}
      />
    </>
  )
}

interface ResendProps extends Pick<Props, 'id' | 'onSay'> {
  detail: Detail
}

function Resend({ id, detail: { messageId, canResend }, onSay }: ResendProps) {
  const { messages: w } = useLanguage().words
  const resend = useWrite(resendPortalMessage, () => onSay(w.resent))
  if (!canResend) return <p className={css.quiet}>{w.cannotResend}</p>
  return (
    <div className={css.row}>
      <Button isDisabled={resend.isPending} onPress={() => resend.mutate({ path: { id, messageId } })}>
        {w.resend}
      </Button>
      <Trouble error={resend.error} />
    </div>
  )
}

function Attempts({ attempts }: Pick<Detail, 'attempts'>) {
  const { words, formats } = useLanguage()
  const { messages: w } = words
  return (
    <>
      <h3>{w.history}</h3>
      {attempts.length === 0 && <p className={css.quiet}>{w.noHistory}</p>}
      <ol className={own.attempts}>
        {attempts.map((one) => {
          const isGood = one.statusCode !== null && one.statusCode >= 200 && one.statusCode < 300
          return (
            <li key={`${one.startedAt} ${one.attempt}`}>
              <span>
                <Badge tone={isGood ? 'good' : 'bad'}>{w.attempt(one.attempt)}</Badge> {failureOf(words, one)}
                , {w.after(formats.duration(one.durationMs))}
              </span>
              <time dateTime={one.startedAt}>{formats.time(one.startedAt)}</time>
              {one.answer && <MessageText text={one.answer} />}
            </li>
          )
        })}
      </ol>
    </>
  )
}

function Content({ body, seesBodies }: { body: string | null; seesBodies: boolean }) {
  const { messages: w } = useLanguage().words
  if (body !== null) return <MessageText text={body} />
  return <p className={css.quiet}>{seesBodies ? w.textGone : w.textHidden}</p>
}
