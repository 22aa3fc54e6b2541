/** Sends a test message to an endpoint, and shows the answer. */
import { type PortalEndpoint, testPortalEndpoint } from '@fantail/client/api'
import type { OutputOf } from '../../api/api-calls.ts'
import { useWrite } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { PortalForm } from '../pieces/portal-form.tsx'
import { failureOf } from '../pieces/trouble.tsx'

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

function TestForm({ endpoint: { id }, onClose }: Omit<Props, 'isOpen'>) {
  const { test: w, parts } = useLanguage().words
  const test = useWrite(testPortalEndpoint)
  return (
    <PortalForm
      write={test}
      action={test.isPending ? w.sending : w.send}
      onSend={() => test.mutate({ path: { id } })}
      onCancel={onClose}
      cancel={parts.closeDialog}
    >
      <p className={css.quiet}>{w.why}</p>
      <div role="status">{test.data && <Answer result={test.data} />}</div>
    </PortalForm>
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
