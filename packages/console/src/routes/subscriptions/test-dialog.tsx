/** Sends a test to the endpoint, and shows the request, the answer and the times. */
import type { TestAttempt } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { AttributesField, readAttributes } from '../../parts/attributes-field.tsx'
import { TextArea } from '../../parts/fields.tsx'
import { formatBytes, formatMs } from '../../parts/formats.ts'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Pairs } from '../../parts/show.tsx'
import { Failed } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'
import { Headers } from '../attempts/attempt-answer.tsx'

const w = words.test

export function TestForm({ id }: { id: string }) {
  const [message, setMessage] = useState('')
  const [attributes, setAttributes] = useState('')
  const test = useWrite(operations.testSubscription)
  const given = readAttributes(attributes)
  const own = message === '' ? {} : { message, ...(attributes.trim() !== '' && { attributes: given }) }
  const input = { path: { id }, body: own }
  return (
    <div className={css.stack}>
      <WriteForm
        hidesError
        write={test}
        action={test.isPending ? w.sending : w.send}
        onSend={() => test.mutate(input)}
        isReady={given !== undefined}
        call={callOf(operations.testSubscription, input)}
      >
        <TextArea label={w.message} hint={w.messageHint} rows={3} value={message} onChange={setMessage} />
        {message !== '' && <AttributesField value={attributes} onChange={setAttributes} />}
      </WriteForm>
      {test.error && <Failed error={test.error} />}
      {test.data && <TestResult {...test.data} />}
    </div>
  )
}

function TestResult({ statusCode, error, durationMs, stage, request, answer, timings, bodies }: TestAttempt) {
  const isGood = statusCode !== null && statusCode >= 200 && statusCode < 300
  return (
    <>
      <p className={css.notice} data-kind={isGood ? 'good' : 'bad'} role="status">
        {words.laneActions.tested(statusCode ?? error ?? '', durationMs)}{' '}
        {stage && w.failedAt(words.attempts.stages[stage])}
      </p>
      <section>
        <strong>{w.times}</strong>
        <Times {...timings} />
      </section>
      <section>
        <strong>{w.request}</strong>
        <p>
          <code>
            {request.method} {request.url}
          </code>{' '}
          {request.sent === false && w.notSent}
        </p>
        {request.method !== null && <Headers headers={request.headers} />}
        <Body text={request.body} empty={bodies === 'withheld' ? words.attempts.withheld : w.bodyUnknown} />
        {request.bodyBytes !== null && <p className={css.hint}>{formatBytes(request.bodyBytes)}</p>}
      </section>
      <section>
        <strong>{w.answer}</strong>
        {answer ? (
          <>
            <Headers headers={answer.headers} />
            <Body
              text={answer.body}
              empty={answer.bodyWithheld ? w.withheld[answer.bodyWithheld] : w.bodyEmpty}
            />
          </>
        ) : (
          <p className={css.quiet}>{w.noAnswer}</p>
        )}
      </section>
    </>
  )
}

function Body({ text, empty }: { text: string | null; empty: string }) {
  return text ? <MessageText text={text} /> : <p className={css.quiet}>{empty}</p>
}

function Times({ connectionReused, ...parts }: TestAttempt['timings']) {
  const shown = Object.keys(w.parts) as (keyof typeof parts)[]
  const timeOf = (part: keyof typeof parts) => {
    const ms = parts[part]
    return ms === null ? '–' : formatMs(ms)
  }
  return (
    <>
      <Pairs pairs={shown.map((part) => [w.parts[part], timeOf(part)])} />
      {connectionReused && <p className={css.hint}>{w.reused}</p>}
    </>
  )
}
