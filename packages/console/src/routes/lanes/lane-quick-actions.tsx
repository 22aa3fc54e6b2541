/** The actions that help a lane, under its row. Rare and dangerous actions are on the page of the subscription. */
import type { Lane, Subscription, TestAttempt } from '@fantail/client/api'
import { operations } from '../../api/api-calls.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { SteadyBox } from '../../parts/motion.tsx'
import css from '../../parts/parts.module.css'
import { Failed } from '../../parts/states.tsx'
import { afterGoodTest, whyNoRetry } from './lane-flow.tsx'
import { LaneRemedy } from './lane-remedy.tsx'

const w = words.laneActions
/** The rate of retries: one that an endpoint can bear after an outage. */
const RETRY_PER_SECOND = 50
/** Characters of an answer that a row shows. Past it: the rest is on the page of the subscription. */
const SAID_MAX = 200

interface ToggleProps {
  lane: Lane
  isOpen: boolean
  onOpen: (id: string | undefined) => void
}

export function LanePanelToggle({ lane, isOpen, onOpen }: ToggleProps) {
  const { subscriptionId: id, verdict } = lane
  const label = words.remedy.steps[verdict.code] ? words.lanes.whatToDo : words.lanes.actions
  return (
    <Button
      kind="plain"
      aria-expanded={isOpen}
      aria-label={words.lanes.actionsFor(label, lane.name ?? lane.endpoint)}
      onPress={() => onOpen(isOpen ? undefined : id)}
    >
      {label}
    </Button>
  )
}

/** The buttons come first, because what follows them changes its height. */
export function LanePanel({ subscription }: { subscription: Subscription }) {
  return (
    <SteadyBox>
      <QuickActions subscription={subscription} />
      <LaneRemedy subscription={subscription} saysFine />
    </SteadyBox>
  )
}

function QuickActions({ subscription }: { subscription: Subscription }) {
  const { id, status, lane } = subscription
  const isPaused = status === 'paused'
  const toggle = useWrite(isPaused ? operations.resumeSubscription : operations.pauseSubscription)
  const test = useWrite(operations.testSubscription)
  const retry = useWrite(operations.retryNow)
  const confirm = useWrite(operations.sendConfirmation)
  const path = { id }
  const error = toggle.error ?? test.error ?? retry.error ?? confirm.error
  const obstacle = whyNoRetry(subscription)
  return (
    <>
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
          isDisabled={obstacle !== undefined || retry.isPending}
          onPress={() => retry.mutate({ path, body: { maxPerSecond: RETRY_PER_SECOND } })}
        >
          {w.retryAt(RETRY_PER_SECOND)}
        </Button>
        {isPaused && <span className={css.hint}>{obstacle}</span>}
      </div>
      <SteadyBox>
        <div aria-live="polite" className={css.stack}>
          {test.data && <Tested attempt={test.data} subscription={subscription} />}
          {confirm.data && <p>{status === 'pending' ? w.asked : w.confirmed}</p>}
          {retry.data && <p>{w.retried(retry.data.moved, lane)}</p>}
          {error && <Failed error={error} />}
        </div>
      </SteadyBox>
    </>
  )
}

/** A good answer names the next step. */
function Tested({ attempt, subscription }: { attempt: TestAttempt; subscription: Subscription }) {
  const { statusCode, error, durationMs, answer } = attempt
  const isGood = statusCode !== null && statusCode >= 200 && statusCode < 300
  return (
    <p className={css.notice} data-kind={isGood ? 'good' : 'bad'}>
      {w.tested(statusCode ?? error ?? '', durationMs)}{' '}
      {isGood ? afterGoodTest(subscription) : answer?.body?.slice(0, SAID_MAX)}
    </p>
  )
}
