/** The actions for the deliveries of a subscription. */
import type { Subscription } from '@fantail/client/api'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { nameOf } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { Failed } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'
import { whyNoRetry } from '../lanes/lane-flow.tsx'
import { ResendSince } from './resend-since.tsx'
import { TestForm } from './test-dialog.tsx'

const w = words.laneActions

type Open = 'test' | 'retry' | 'purge' | 'delete'

export function LaneActions({ subscription }: { subscription: Subscription }) {
  const { id, status, lane } = subscription
  const [open, setOpen] = useState<Open>()
  const isPaused = status === 'paused'
  const toggle = useWrite(isPaused ? operations.resumeSubscription : operations.pauseSubscription)
  const confirm = useWrite(operations.sendConfirmation)
  const input = { path: { id } }
  const close = () => setOpen(undefined)
  const error = toggle.error ?? confirm.error
  const obstacle = whyNoRetry(subscription)
  return (
    <div className={css.stack}>
      <div className={css.row}>
        {status === 'pending' ? (
          <Button onPress={() => confirm.mutate(input)}>{w.askAgain}</Button>
        ) : (
          <Button isDisabled={toggle.isPending} onPress={() => toggle.mutate(input)}>
            {isPaused ? w.resume : w.pause}
          </Button>
        )}
        <Button onPress={() => setOpen('test')}>{w.test}</Button>
        <Button isDisabled={obstacle !== undefined} onPress={() => setOpen('retry')}>
          {w.retry}
        </Button>
        <ResendSince subscription={subscription} />
        <Button kind="danger" isDisabled={lane.waiting === 0} onPress={() => setOpen('purge')}>
          {w.purge}
        </Button>
        <Button kind="danger" onPress={() => setOpen('delete')}>
          {w.delete}
        </Button>
        {isPaused && <span className={css.hint}>{obstacle}</span>}
      </div>
      {error && <Failed error={error} />}
      <Dialog title={words.test.title} isOpen={open === 'test'} onClose={close}>
        <TestForm id={id} />
      </Dialog>
      <Dialog title={w.retry} isOpen={open === 'retry'} onClose={close}>
        <RetryForm subscription={subscription} />
      </Dialog>
      <Purge subscription={subscription} isOpen={open === 'purge'} onClose={close} />
      <Delete subscription={subscription} isOpen={open === 'delete'} onClose={close} />
    </div>
  )
}

function RetryForm({ subscription }: { subscription: Subscription }) {
  const { id, lane } = subscription
  const { waiting } = lane
  const obstacle = whyNoRetry(subscription)
  const [rate, setRate] = useState('50')
  const retry = useWrite(operations.retryNow)
  const perSecond = Number(rate)
  const input = { path: { id }, body: rate === '' ? {} : { maxPerSecond: perSecond } }
  return (
    <WriteForm
      write={retry}
      action={w.retry}
      onSend={() => retry.mutate(input)}
      isReady={obstacle === undefined}
      call={callOf(operations.retryNow, input)}
    >
      {!retry.data && <p>{obstacle ?? w.retryWhat(waiting)}</p>}
      <TextInput
        label={w.rate}
        hint={rate === '' ? w.atOnce : w.takes(Math.ceil(waiting / perSecond))}
        type="number"
        min={0}
        step="any"
        value={rate}
        onChange={setRate}
      />
      {retry.data && (
        <p className={css.notice} data-kind="good" role="status">
          {w.retried(retry.data.moved, lane)}
        </p>
      )}
    </WriteForm>
  )
}

interface AskProps {
  subscription: Subscription
  isOpen: boolean
  onClose: () => void
}

function Purge({ subscription, isOpen, onClose }: AskProps) {
  const purge = useWrite(operations.purgeSubscription)
  const { waiting } = subscription.lane
  return (
    <Confirm
      title={w.purgeTitle(waiting)}
      action={w.purge}
      name={nameOf(subscription.topicArn)}
      count={waiting}
      isOpen={isOpen}
      write={purge}
      onClose={onClose}
      onConfirm={() => purge.mutate({ path: { id: subscription.id } }, { onSuccess: onClose })}
    >
      <p>{w.purgeWhat}</p>
    </Confirm>
  )
}

function Delete({ subscription, isOpen, onClose }: AskProps) {
  const remove = useWrite(operations.deleteSubscription)
  const navigate = useNavigate()
  const topic = nameOf(subscription.topicArn)
  return (
    <Confirm
      title={w.deleteTitle(subscription.endpoint)}
      action={w.delete}
      name={topic}
      count={subscription.lane.waiting}
      isOpen={isOpen}
      write={remove}
      onClose={onClose}
      onConfirm={() =>
        remove.mutate(
          { path: { id: subscription.id } },
          { onSuccess: () => void navigate({ to: '/topics/$topic', params: { topic } }) },
        )
      }
    >
      <p>{w.deleteWhat(subscription.lane.waiting)}</p>
    </Confirm>
  )
}
