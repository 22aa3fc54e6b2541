/** One redrive: its progress, and the actions on it. The redrive continues when this page is closed. */
import type { Redrive } from '@fantail/client/api'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { formatSeconds, nameOf } from '../../parts/formats.ts'
import { Gone, PageHead, useTitle } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, Figure, Figures, type Tone, When } from '../../parts/show.tsx'
import { Failed, Loaded } from '../../parts/states.tsx'
import { RateInput, RedriveBar, titleOf } from './redrive-bar.tsx'

const w = words.redrive
const route = getRouteApi('/redrives/$id')
const LIVE_MS = 1_000

const TONES: Record<Redrive['status'], Tone> = {
  running: 'good',
  paused: 'warn',
  canceling: 'warn',
  canceled: 'warn',
  completed: 'good',
  failed: 'bad',
}

export function RedrivePage() {
  const { id } = route.useParams()
  const input = { path: { id } }
  const read = useRead(operations.getRedrive, input, { everyMs: LIVE_MS })
  useTitle(read.data && titleOf(read.data), words.pages.redrive)
  return (
    <Loaded
      read={read}
      rows={3}
      frame={<PageHead title={words.pages.redrive} />}
      gone={
        <Gone title={w.gone}>
          <Link to="/dlq">{words.pages.deadLetters}</Link>
        </Gone>
      }
    >
      {(redrive) => (
        <>
          <PageHead
            title={titleOf(redrive)}
            above={<Above redrive={redrive} />}
            status={<Badge tone={TONES[redrive.status]}>{redrive.status}</Badge>}
            request={callOf(operations.getRedrive, input)}
          />
          <div className={css.stack}>
            <div className={css.panel}>
              <RedriveBar redrive={redrive} />
            </div>
            <div className={css.panel}>
              <RedriveFigures redrive={redrive} />
            </div>
            {redrive.pauseReason && (
              <p className={css.notice} data-kind="warn" role="alert">
                {w.pausedItself(redrive.pauseReason)}
              </p>
            )}
            {redrive.error && (
              <p className={css.notice} data-kind="bad" role="alert">
                {redrive.error}
              </p>
            )}
            {redrive.endedAt === null && <Controls key={redrive.id} redrive={redrive} />}
          </div>
        </>
      )}
    </Loaded>
  )
}

/** The queue of a redrive, or the subscription of a resend. */
function Above({ redrive: { action, source } }: { redrive: Redrive }) {
  const name = nameOf(source)
  return action === 'resend' ? (
    <Link to="/subs/$id" params={{ id: name }}>
      {words.pages.subscription}
    </Link>
  ) : (
    <Link to="/dlq/$queue" params={{ queue: name }}>
      {name}
    </Link>
  )
}

function RedriveFigures({ redrive }: { redrive: Redrive }) {
  const { matched, moved, skipped, maxMessagesPerSecond: rate, destination } = redrive
  const left = matched - moved - skipped
  const isRunning = redrive.status === 'running'
  const isResend = redrive.action === 'resend'
  return (
    <Figures>
      <Figure label={w.matched} value={matched} />
      <Figure label={isResend ? words.resend.resent : w.moved} value={moved} />
      <Figure label={w.skipped} value={skipped} />
      {redrive.action === 'redrive' && destination === null && <Ends redrive={redrive} />}
      <Figure label={w.rate} value={rate === null ? w.asFast : rate} />
      {isRunning && rate !== null && (
        <Figure label={w.left} value={formatSeconds(Math.max(0, left) / rate)} />
      )}
      {!isResend && <Figure label={w.destination} value={destination ? nameOf(destination) : w.whereFrom} />}
      <Figure label={w.started} value={<When at={redrive.startedAt} />} />
      {redrive.endedAt && <Figure label={words.message.ended} value={<When at={redrive.endedAt} />} />}
    </Figures>
  )
}

/** How the moved deliveries have ended so far. The numbers may still change after the redrive has ended. */
function Ends({ redrive: { delivered, backInDlq, discarded, canary } }: { redrive: Redrive }) {
  return (
    <>
      <Figure label={w.delivered} value={delivered} />
      <Figure label={w.backInDlq} value={backInDlq} />
      {discarded > 0 && <Figure label={w.discarded} value={discarded} />}
      {canary !== null && <Figure label={w.canary} value={canary} />}
    </>
  )
}

function Controls({ redrive }: { redrive: Redrive }) {
  const [rate, setRate] = useState(String(redrive.maxMessagesPerSecond ?? ''))
  const pause = useWrite(operations.pauseRedrive)
  const resume = useWrite(operations.resumeRedrive)
  const cancel = useWrite(operations.cancelRedrive)
  const update = useWrite(operations.updateRedrive)
  const isResend = redrive.action === 'resend'
  const input = { path: { id: redrive.id } }
  const error = pause.error ?? resume.error ?? cancel.error ?? update.error
  return (
    <div className={css.stack}>
      <div className={css.row}>
        {redrive.status === 'paused' ? (
          <Button onPress={() => resume.mutate(input)}>{w.resume}</Button>
        ) : (
          <Button isDisabled={redrive.status !== 'running'} onPress={() => pause.mutate(input)}>
            {w.pause}
          </Button>
        )}
        <Button
          kind="danger"
          isDisabled={redrive.status === 'canceling'}
          onPress={() => cancel.mutate(input)}
        >
          {isResend ? words.resend.cancel : w.cancel}
        </Button>
      </div>
      <form
        className={css.row}
        onSubmit={(event) => {
          event.preventDefault()
          update.mutate({ ...input, body: { maxMessagesPerSecond: rate === '' ? null : Number(rate) } })
        }}
      >
        <RateInput value={rate} onChange={setRate} />
        <Button type="submit">{w.setRate}</Button>
      </form>
      {error && <Failed error={error} />}
    </div>
  )
}
