/** An attempt in words, and the endpoint’s answer. Strangers wrote the answer, so it is shown as plain text. */
import type { AttemptList } from '@fantail/client/api'
import { words } from '../../i18n/en.ts'
import { formatMs } from '../../parts/formats.ts'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Pairs, type Tone, When } from '../../parts/show.tsx'

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

export type Attempt = AttemptList['attempts'][number]

/** Texts about an attempt for people: the answer, why the attempt came at that time, and what follows. */
export function answerOf({ statusCode, error }: Attempt): string {
  return String(statusCode ?? error ?? '–')
}

export function toneOf({ next, statusCode }: Attempt): Tone {
  if (next.decision === 'delivered') return 'good'
  return statusCode === null || statusCode >= 500 ? 'bad' : 'warn'
}

/** `5 s, backoff; 200 ms more, throttle`. */
export function whyText({ cause: decided, delayMs, waited, phase }: Attempt): string {
  const cause = decided ?? (phase === 'first' ? null : phase)
  const planned = cause && joined(cause, delayMs)
  const isLate = waited !== null && waited.cause !== null && waited.cause !== decided
  return [planned, isLate && w.later(joined(waited.cause ?? '', waited.ms))].filter(Boolean).join('; ') || '–'
}

function joined(cause: string, ms: number | null): string {
  return ms === null ? cause : `${cause} ${formatMs(ms)}`
}

/** The next step in words. `expected` is the time of the next attempt. */
export function nextText({ next }: Attempt): string {
  const what = w.decisions[next.decision]
  return next.cause === null || next.decision === 'delivered' ? what : `${what}, ${next.cause}`
}
