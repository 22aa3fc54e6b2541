/** Sends all failed messages since a time again. They are counted first. */
import { redrivePortalEndpoint } from '@fantail/client/api'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { Select } from '../../parts/fields.tsx'
import css from '../../parts/parts.module.css'
import { PortalForm } from '../pieces/portal-form.tsx'
import { Trouble } from '../pieces/trouble.tsx'

const HOUR_MS = 3_600_000
const SPANS = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 168 * HOUR_MS, all: Number.POSITIVE_INFINITY }
type Span = keyof typeof SPANS

interface Props {
  id: string
  /** Shows a sentence above the list. */
  onSay: (text: string) => void
}

export function ResendFailed({ id, onSay }: Props) {
  const { resend: w } = useLanguage().words
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onPress={() => setOpen(true)}>{w.open}</Button>
      <Dialog title={w.title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ResendForm
          id={id}
          onClose={() => setOpen(false)}
          onBegun={(count) => {
            onSay(w.begun(count))
            setOpen(false)
          }}
        />
      </Dialog>
    </>
  )
}

interface FormProps {
  id: string
  onClose: () => void
  onBegun: (count: number) => void
}

function ResendForm({ id, onClose, onBegun }: FormProps) {
  const { resend: w } = useLanguage().words
  const [openedAt] = useState(Date.now)
  const [span, setSpan] = useState<Span>('day')
  const resend = useWrite(redrivePortalEndpoint)
  const since = span === 'all' ? {} : { since: new Date(openedAt - SPANS[span]).toISOString() }
  const count = useRead(
    redrivePortalEndpoint,
    { path: { id }, body: { ...since, dryRun: true } },
    { everyMs: false },
  )
  const isKnown = !count.isPlaceholderData
  const matched = isKnown && !count.error ? count.data?.matched : undefined
  const isNothing = matched === 0 || (count.error instanceof ApiError && count.error.status === 404)
  const send = () =>
    resend.mutate({ path: { id }, body: since }, { onSuccess: (begun) => onBegun(begun.matched) })
  return (
    <PortalForm
      write={resend}
      action={w.send(matched ?? 0)}
      isReady={matched !== undefined && matched > 0}
      onSend={send}
      onCancel={onClose}
    >
      <Select
        label={w.since}
        value={span}
        onChange={setSpan}
        options={(Object.keys(SPANS) as Span[]).map((one) => ({ value: one, label: w.spans[one] }))}
      />
      <p role="status" className={css.quiet}>
        {isNothing
          ? w.none
          : matched !== undefined && count.data
            ? w.counted(matched, count.data.maxMessagesPerSecond)
            : !count.error && w.counting}
      </p>
      {!isNothing && <Trouble error={count.error} onRetry={() => void count.refetch()} />}
    </PortalForm>
  )
}
