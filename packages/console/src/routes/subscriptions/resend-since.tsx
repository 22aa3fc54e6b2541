/** The button that resends the kept messages since a time to a subscription, and the progress of a resend. */
import type { Subscription } from '@fantail/client/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { ApiError, problemAt } from '../../api/api-error.ts'
import { SCREEN_REFRESH_MS, useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { Check, TextInput } from '../../parts/fields.tsx'
import { nameOf } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'
import { RateInput, RedriveBar } from '../dead-letters/redrive-bar.tsx'

const w = words.resend
const HOUR_MS = 3_600_000

export function ResendSince({ subscription }: { subscription: Subscription }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button isDisabled={subscription.status === 'pending'} onPress={() => setOpen(true)}>
        {w.since}
      </Button>
      <Dialog title={w.since} isOpen={isOpen} onClose={() => setOpen(false)}>
        <ResendForm subscription={subscription} />
      </Dialog>
    </>
  )
}

/** The resend that is under way. It continues when this page is closed. */
export function ActiveResend({ arn }: { arn: string }) {
  const input = { query: { source: arn, limit: 1 } }
  const read = useRead(operations.listRedrives, input, { everyMs: SCREEN_REFRESH_MS })
  const [latest] = read.data?.redrives ?? []
  if (!latest || latest.endedAt !== null) return null
  return (
    <section className={css.panel} aria-label={w.active}>
      <h2>{w.active}</h2>
      <RedriveBar redrive={latest} />
      <Link to="/redrives/$id" params={{ id: latest.id }}>
        {w.open}
      </Link>
    </section>
  )
}

function ResendForm({ subscription: { id, topicArn } }: { subscription: Subscription }) {
  const [from, setFrom] = useState(() => localTime(Date.now() - HOUR_MS))
  const [rate, setRate] = useState('100')
  const [failedOnly, setFailedOnly] = useState(true)
  const start = useWrite(operations.resendSince)
  const navigate = useNavigate()
  const since = isoTime(from)
  const body = { since: since ?? '', failedOnly, maxMessagesPerSecond: rate === '' ? null : Number(rate) }
  const count = useCount(id, since)
  const input = { path: { id }, body }
  const send = () =>
    start.mutate(input, {
      onSuccess: (made) => 'id' in made && void navigate({ to: '/redrives/$id', params: { id: made.id } }),
    })
  return (
    <WriteForm
      write={start}
      action={w.start}
      onSend={send}
      isReady={Boolean(since && count.matched && !count.error)}
      call={callOf(operations.resendSince, input)}
    >
      <p>{w.sinceWhat}</p>
      <div className={css.fields}>
        <TextInput
          type="datetime-local"
          label={w.from}
          value={from}
          onChange={setFrom}
          problem={since === undefined ? w.noTime : problemAt(start.error, 'since')}
        />
        <RateInput value={rate} onChange={setRate} problem={problemAt(start.error, 'maxMessagesPerSecond')} />
      </div>
      <Check label={w.failedOnly} isChecked={failedOnly} onChange={setFailedOnly} />
      {failedOnly && <p className={css.hint}>{w.failedOnlyWhat}</p>}
      {count.error ? (
        <Uncounted error={count.error} topic={nameOf(topicArn)} />
      ) : (
        <Counted count={count.matched} />
      )}
    </WriteForm>
  )
}

/** A topic without kept messages is no failure. */
function Uncounted({ error, topic }: { error: unknown; topic: string }) {
  if (!(error instanceof ApiError) || error.code !== 'wrong_state') return <Failed error={error} />
  return (
    <p className={css.notice} role="status">
      {w.keepsNone}{' '}
      <Link to="/topics/$topic" params={{ topic }} search={{ tab: 'kept' }}>
        {topic}
      </Link>
    </p>
  )
}

function Counted({ count }: { count: number | undefined }) {
  if (count === undefined) return <Skeleton rows={1} />
  return <p role="status">{w.counted(count)}</p>
}

/** The number of messages kept since then. It is counted again when the time changes. */
function useCount(id: string, since: string | undefined): { matched: number | undefined; error: unknown } {
  const { mutate, data, error } = useWrite(operations.resendSince)
  useEffect(() => {
    if (since !== undefined) mutate({ path: { id }, body: { since, dryRun: true } })
  }, [id, since, mutate])
  return { matched: data && !('id' in data) ? data.matched : undefined, error }
}

/** A time as the input needs it: local time without a zone. */
function localTime(ms: number): string {
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - offsetMs).toISOString().slice(0, 16)
}

function isoTime(local: string): string | undefined {
  const ms = Date.parse(local)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}
