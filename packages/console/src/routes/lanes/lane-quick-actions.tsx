/** The actions that help a lane, in its row. Rare and dangerous actions are on the page of the subscription. */
import { operations } from '../../api/api-calls.ts'
import type { Lane, Subscription, TestAttempt } from '../../api/api-types.ts'
import { SCREEN_REFRESH_MS, useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import css from '../../parts/parts.module.css'
import { Failed, Loaded } from '../../parts/states.tsx'
import { LaneRemedy } from './lane-remedy.tsx'

const w = words.laneActions
/** The rate of retries: one that an endpoint can bear after an outage. */
const RETRY_PER_SECOND = 50
/** @limit Characters of an answer that a row shows. Past it: the rest is on the page of the subscription. */
const SAID_MAX = 200

interface Props {
  lane: Lane
  isOpen: boolean
  onOpen: (id: string | undefined) => void
}

export function LaneQuickActions({ lane, isOpen, onOpen }: Props) {
  const { subscriptionId: id, verdict } = lane
  const label = words.remedy.steps[verdict.code] ? words.lanes.whatToDo : words.lanes.actions
  return (
    <div>
      <Button
        kind="plain"
        aria-expanded={isOpen}
        aria-label={words.lanes.actionsFor(label, lane.name ?? lane.endpoint)}
        onPress={() => onOpen(isOpen ? undefined : id)}
      >
        {label}
      </Button>
      {isOpen && <Opened lane={lane} />}
    </div>
  )
}

function Opened({ lane }: { lane: Lane }) {
  const input = { path: { id: lane.subscriptionId } }
  const read = useRead(operations.getSubscription, input, { everyMs: SCREEN_REFRESH_MS })
  return (
    <Loaded read={read} rows={2}>
      {(subscription) => (
        <div className={css.stack}>
          <LaneRemedy subscription={subscription} />
          <Mended {...subscription} />
          <QuickActions subscription={subscription} />
        </div>
      )}
    </Loaded>
  )
}

/** The row may show an earlier verdict, or none at all any more. */
function Mended({ verdict }: Subscription) {
  const text = words.remedy.mended[verdict.code]
  if (text === undefined) return null
  return (
    <p className={css.notice} data-kind="good" role="status">
      {text}
    </p>
  )
}

function QuickActions({ subscription }: { subscription: Subscription }) {
  const { id, status, lane: figures } = subscription
  const isPaused = status === 'paused'
  const toggle = useWrite(isPaused ? operations.resumeSubscription : operations.pauseSubscription)
  const test = useWrite(operations.testSubscription)
  const retry = useWrite(operations.retryNow)
  const confirm = useWrite(operations.sendConfirmation)
  const path = { id }
  const error = toggle.error ?? test.error ?? retry.error ?? confirm.error
  return (
    <div className={css.stack}>
      <div className={css.row}>
        {status === 'pending' ? (
          <Button onPress={() => confirm.mutate({ path })}>{w.askAgain}</Button>
        ) : (
          <Button isDisabled={toggle.isPending} onPress={() => toggle.mutate({ path })}>
            {isPaused ? w.resume : w.pause}
          </Button>
        )}
        <Button isDisabled={test.isPending} onPress={() => test.mutate({ path, body: {} })}>
          {test.isPending ? w.testing : w.test}
        </Button>
        <Button
          isDisabled={figures.waiting === 0 || retry.isPending}
          onPress={() => retry.mutate({ path, body: { maxPerSecond: RETRY_PER_SECOND } })}
        >
          {w.retryAt(RETRY_PER_SECOND)}
        </Button>
      </div>
      <div aria-live="polite">
        {test.data && <Tested {...test.data} />}
        {confirm.data && <p>{w.asked}</p>}
        {retry.data && <p>{w.retried(retry.data.moved)}</p>}
        {error && <Failed error={error} />}
      </div>
    </div>
  )
}

/** A good answer names the next step. */
function Tested({ statusCode, error, durationMs, answer }: TestAttempt) {
  const isGood = statusCode !== null && statusCode >= 200 && statusCode < 300
  return (
    <p className={css.notice} data-kind={isGood ? 'good' : 'bad'}>
      {w.tested(statusCode ?? error ?? '', durationMs)}{' '}
      {isGood ? w.testedGood : answer?.body?.slice(0, SAID_MAX)}
    </p>
  )
}
