/** Sends a test to an endpoint: a short message, or an example of an event type, and shows the answer. */
import {
  getPortalEventType,
  listPortalEventTypes,
  type PortalEndpoint,
  testPortalEndpoint,
} from '@fantail/client/api'
import { useState } from 'react'
import type { OutputOf } from '../../api/api-calls.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { Select } from '../../parts/fields.tsx'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { PortalForm } from '../pieces/portal-form.tsx'
import { Shown } from '../pieces/shown.tsx'
import { failureOf, fieldProblem } from '../pieces/trouble.tsx'
import { textOfExample } from '../pieces/type-look.tsx'
import { getsType } from '../pieces/type-patterns.ts'

interface Props {
  endpoint: PortalEndpoint
  isOpen: boolean
  onClose: () => void
}

export function TestDialog({ endpoint, isOpen, onClose }: Props) {
  const { test } = useLanguage().words
  return (
    <Dialog title={test.title} isOpen={isOpen} onClose={onClose}>
      <TestForm endpoint={endpoint} onClose={onClose} />
    </Dialog>
  )
}

function TestForm({ endpoint: { id, topic, eventTypes }, onClose }: Omit<Props, 'isOpen'>) {
  const { test: w, problems, parts } = useLanguage().words
  const [type, setType] = useState('')
  const [example, setExample] = useState(0)
  const types = useRead(listPortalEventTypes, { path: { topic } }, { everyMs: false })
  const test = useWrite(testPortalEndpoint)
  const names = (types.data?.eventTypes ?? [])
    .map(({ name }) => name)
    .filter((name) => getsType(eventTypes, name))
  const choose = (next: string) => {
    setType(next)
    setExample(0)
    test.reset()
  }
  const body = type === '' ? {} : { eventType: type, example }
  return (
    <PortalForm
      write={test}
      action={test.isPending ? w.sending : w.send}
      fields={['eventType']}
      onSend={() => test.mutate({ path: { id }, body })}
      onCancel={onClose}
      cancel={parts.closeDialog}
    >
      <p className={css.quiet}>{w.why}</p>
      {names.length > 0 && (
        <Select
          label={w.what}
          value={type}
          onChange={choose}
          options={[
            { value: '', label: w.plain },
            ...names.map((name) => ({ value: name, label: w.typed(name) })),
          ]}
          problem={fieldProblem(problems, test.error, 'eventType')}
        />
      )}
      {type !== '' && <Example key={type} {...{ topic, type, example }} onChange={setExample} />}
      <div role="status">{test.data && <Answer result={test.data} />}</div>
    </PortalForm>
  )
}

interface ExampleProps {
  topic: string
  type: string
  /** Its number, from 0. */
  example: number
  onChange: (example: number) => void
}

function Example({ topic, type, example, onChange }: ExampleProps) {
  const { form } = useLanguage().words
  const read = useRead(getPortalEventType, { path: { topic, name: type } }, { everyMs: false })
  return (
    <Shown read={read} rows={2}>
      {({ examples }) => (
        <>
          {examples.length > 1 && (
            <Select
              label={form.example}
              value={String(example)}
              onChange={(next) => onChange(Number(next))}
              options={examples.map((_, index) => ({
                value: String(index),
                label: form.exampleNumber(index + 1, examples.length),
              }))}
            />
          )}
          {examples.length === 0 ? (
            <p className={css.quiet}>{form.noExample}</p>
          ) : (
            <MessageText text={textOfExample(examples[example])} />
          )}
        </>
      )}
    </Shown>
  )
}

function Answer({ result }: { result: OutputOf<typeof testPortalEndpoint> }) {
  const { words, formats } = useLanguage()
  const { statusCode, durationMs, answer } = result
  const w = words.test
  const took = formats.duration(durationMs)
  const isGood = statusCode !== null && statusCode >= 200 && statusCode < 300
  return (
    <div className={css.notice} data-kind={isGood ? 'good' : 'bad'}>
      <p>
        {statusCode === null
          ? w.silent(failureOf(words, result) ?? words.failures.other, took)
          : (isGood ? w.good : w.bad)(statusCode, took)}
      </p>
      {answer !== null && <AnswerText text={answer} />}
    </div>
  )
}

function AnswerText({ text }: { text: string }) {
  const w = useLanguage().words.test
  if (text === '') return <p className={css.quiet}>{w.emptyAnswer}</p>
  return (
    <>
      <p>{w.answer}</p>
      <MessageText text={text} />
    </>
  )
}
