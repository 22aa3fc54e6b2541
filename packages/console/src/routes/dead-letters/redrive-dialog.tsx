/** Starts a redrive of the letters that the filter matches. The dialog counts them first. */
import type { Queue, RedriveDryRun } from '@fantail/client/api'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { formatNumber, formatSeconds } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { Pairs } from '../../parts/show.tsx'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'
import type { LetterFilter } from './letter-filter.ts'
import { RateInput } from './redrive-bar.tsx'

const w = words.redrive

export interface LettersDialogProps {
  queue: Queue
  filter: LetterFilter
  /** The filter in words. */
  described: string
  isOpen: boolean
  onClose: () => void
}

export function RedriveDialog({ isOpen, onClose, ...chosen }: LettersDialogProps) {
  return (
    <Dialog title={w.title(chosen.queue.name)} isOpen={isOpen} onClose={onClose}>
      <RedriveForm {...chosen} />
    </Dialog>
  )
}

/** The first choice for each subscription: a rate that an endpoint can bear after an outage. */
const EACH_PER_SECOND = 50

function RedriveForm({ queue, filter, described }: Omit<LettersDialogProps, 'isOpen' | 'onClose'>) {
  const [typed, setRate] = useState<string>()
  const [destination, setDestination] = useState('')
  const [canary, setCanary] = useState('5')
  const start = useWrite(operations.startRedrive)
  const navigate = useNavigate()
  const count = useCount({ source: queue.name, filter, ...(destination !== '' && { destination }) })
  const subscriptions = Object.keys(count.found?.bySubscription ?? {}).length
  const rate = typed ?? String(EACH_PER_SECOND * Math.max(1, subscriptions))
  const body = {
    source: queue.name,
    filter,
    ...(destination !== '' && { destination }),
    ...(rate !== '' && { maxMessagesPerSecond: Number(rate) }),
    ...(canary !== '' && destination === '' && { canary: Number(canary) }),
  }
  const send = () =>
    start.mutate(
      { body },
      {
        onSuccess: (made) => 'id' in made && void navigate({ to: '/redrives/$id', params: { id: made.id } }),
      },
    )
  return (
    <WriteForm
      write={start}
      action={w.start}
      onSend={send}
      isReady={count.found?.matched !== 0}
      call={callOf(operations.startRedrive, { body })}
    >
      <p>{w.filter(described)}</p>
      {count.error ? <Failed error={count.error} /> : <DryRun found={count.found} rate={rate} />}
      <div className={css.fields}>
        <RateInput value={rate} onChange={setRate} problem={problemAt(start.error, 'maxMessagesPerSecond')} />
        <TextInput
          label={w.canary}
          hint={w.canaryHint}
          type="number"
          min={1}
          max={100}
          value={canary}
          onChange={setCanary}
          problem={problemAt(start.error, 'canary')}
        />
        <TextInput
          label={w.destination}
          hint={w.destinationHint}
          value={destination}
          onChange={setDestination}
          problem={problemAt(start.error, 'destination')}
        />
      </div>
    </WriteForm>
  )
}

type Asked = { source: string; filter: LetterFilter; destination?: string }

/** Counts the messages that would be moved now. It counts again when the choice changes. */
function useCount(asked: Asked): { found: RedriveDryRun | undefined; error: unknown } {
  const { mutate, data, error } = useWrite(operations.startRedrive)
  const text = JSON.stringify(asked)
  useEffect(() => mutate({ body: { ...(JSON.parse(text) as Asked), dryRun: true } }), [text, mutate])
  return { found: data && 'withoutOrigin' in data ? data : undefined, error }
}

function DryRun({ found, rate }: { found: RedriveDryRun | undefined; rate: string }) {
  if (!found) return <Skeleton rows={2} />
  const { matched, withoutOrigin, bySubscription } = found
  const seconds = Number(rate) > 0 ? matched / Number(rate) : 0
  return (
    <Pairs
      pairs={[
        [w.matched, <strong key="matched">{formatNumber(matched)}</strong>],
        [w.subscriptions, Object.keys(bySubscription).length],
        [w.withoutOrigin, formatNumber(withoutOrigin)],
        [w.takes, seconds === 0 ? w.asFast : formatSeconds(seconds)],
      ]}
    />
  )
}
