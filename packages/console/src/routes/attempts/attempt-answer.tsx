/** An endpoint’s answer to an attempt. Strangers wrote it, so it is shown as plain text. */
import { words } from '../../i18n/en.ts'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Pairs, When } from '../../parts/show.tsx'
import { type Attempt, answerOf, nextText, whyText } from './attempt-words.ts'

const w = words.attempts

interface Props {
  attempt: Attempt
  isWithheld: boolean
}

export function AttemptDetails({ attempt, isWithheld }: Props) {
  const { durationMs, startedAt, dueAt, stage, detail, next } = attempt
  return (
    <div className={css.stack}>
      <Pairs
        pairs={[
          [w.answer, answerOf(attempt)],
          [w.detail, detail ?? '–'],
          [w.stage, stage === null ? '–' : w.stages[stage]],
          [w.took, w.ms(durationMs)],
          [w.started, <time key="started">{startedAt}</time>],
          [w.due, dueAt ?? words.message.unknown],
          [w.why, whyText(attempt)],
          [w.next, nextText(attempt)],
          [words.topic.next, <When key="next" at={next.at} empty="–" />],
        ]}
      />
      <AttemptAnswer attempt={attempt} isWithheld={isWithheld} />
    </div>
  )
}

export function AttemptAnswer({ attempt, isWithheld }: Props) {
  const { responseHeaders, responseBody } = attempt
  return (
    <>
      {responseHeaders && (
        <section>
          <strong>{w.headers}</strong>
          <Headers headers={responseHeaders} />
        </section>
      )}
      <section>
        <strong>{w.body}</strong>
        {responseBody ? (
          <MessageText text={responseBody} />
        ) : (
          <p className={css.quiet}>{isWithheld ? w.withheld : w.noBody}</p>
        )}
      </section>
    </>
  )
}

export function Headers({ headers }: { headers: Record<string, string> }) {
  const pairs = Object.entries(headers).map(
    ([name, value]) => [name, <code key={name}>{value}</code>] as const,
  )
  return pairs.length === 0 ? <p className={css.quiet}>{words.none}</p> : <Pairs pairs={pairs} />
}
