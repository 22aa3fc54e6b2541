/** The actions that help a lane, in its row. Rare and dangerous actions are on the page of the subscription. */
import { operations } from '../../api/api-calls.ts'
import type { Lane } from '../../api/api-types.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import css from '../../parts/parts.module.css'
import { Failed } from '../../parts/states.tsx'

const w = words.laneActions
/** The rate of retries: one that an endpoint can bear after an outage. */
const RETRY_PER_SECOND = 50

interface Props {
  lane: Lane
  isOpen: boolean
  onOpen: (id: string | undefined) => void
}

export function LaneQuickActions({ lane, isOpen, onOpen }: Props) {
  const { subscriptionId: id } = lane
  return (
    <div>
      <Button
        kind="plain"
        aria-expanded={isOpen}
        aria-label={words.lanes.actionsFor(lane.name ?? lane.endpoint)}
        onPress={() => onOpen(isOpen ? undefined : id)}
      >
        {words.lanes.actions}
      </Button>
      {isOpen && <Actions lane={lane} />}
    </div>
  )
}

function Actions({ lane }: { lane: Lane }) {
  const { subscriptionId: id, status, lane: figures } = lane
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
        {test.data && <p>{w.tested(test.data.statusCode ?? test.data.error ?? '', test.data.durationMs)}</p>}
        {retry.data && <p>{w.retried(retry.data.moved)}</p>}
        {error && <Failed error={error} />}
      </div>
    </div>
  )
}
