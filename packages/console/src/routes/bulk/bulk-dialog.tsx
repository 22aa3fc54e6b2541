/** The plan of an action on many: what it would act on, and what it leaves out. The button carries it out. */
import type { BulkTask } from '@fantail/client/api'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { callOf, type InputOf, operations } from '../../api/api-calls.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { CopyCurl } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { Failures } from './failures.tsx'

const w = words.bulk

type Body = InputOf<typeof operations.planBulk>['body']
export type BulkAction = Body['action']
export type BulkSelect = Body['select']

interface Props {
  action: BulkAction
  select: BulkSelect
  isOpen: boolean
  onClose: () => void
}

export function PlanDialog({ isOpen, onClose, ...asked }: Props) {
  return (
    <Dialog title={w.planTitle(w.actions[asked.action])} isOpen={isOpen} onClose={onClose}>
      <Plan {...asked} onClose={onClose} />
    </Dialog>
  )
}

/** Retries are spread out, so that an endpoint that has come back is not overrun. */
const RETRY_PER_SECOND = 50

function Plan({ action, select, onClose }: Omit<Props, 'isOpen'>) {
  const { mutate, data, error } = useWrite(operations.planBulk)
  const rate = action === 'retry' ? { maxPerSecond: RETRY_PER_SECOND } : {}
  const text = JSON.stringify({ action, select, ...rate })
  useEffect(() => mutate({ body: JSON.parse(text) }), [text, mutate])
  if (error) return <Failed error={error} />
  if (!data) return <Skeleton rows={3} />
  return (
    <>
      <p>
        <strong>{data.words}</strong>
      </p>
      <p className={css.quiet}>{w.effects[action]}</p>
      <Sample task={data} />
      {data.refused.count > 0 && (
        <Failures title={w.refused(data.refused.count)} failures={data.refused.first} />
      )}
      <Start plan={data} onClose={onClose} />
      <CopyCurl call={callOf(operations.planBulk, { body: JSON.parse(text) })} />
    </>
  )
}

function Sample({ task: { sample, total } }: { task: BulkTask }) {
  if (sample.length === 0) return null
  return (
    <ul className={`${css.quiet} ${css.small}`}>
      {sample.map((endpoint, i) => (
        <li key={i}>{endpoint}</li>
      ))}
      {total > sample.length && <li>{w.andMore}</li>}
    </ul>
  )
}

function Start({ plan: { id, total, action }, onClose }: { plan: BulkTask; onClose: () => void }) {
  const start = useWrite(operations.startBulk)
  const navigate = useNavigate()
  const begin = () =>
    start.mutate(
      { body: { plan: id } },
      { onSuccess: () => void navigate({ to: '/bulk/$id', params: { id } }) },
    )
  return (
    <>
      {start.error ? <Failed error={start.error} /> : null}
      <div className={css.row}>
        <Button
          kind={action === 'purge' ? 'danger' : 'primary'}
          isDisabled={total === 0 || start.isPending}
          onPress={begin}
        >
          {w.begin}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </>
  )
}
