/** Decides whether a redrive continues after its first messages, by how their deliveries ended. */
import type { RedriveTask } from '@fantail/contracts'

/** @limit How long a redrive waits for the ends of its canary. Past it: deliveries without an end count as failed. */
const CANARY_WAIT_MS_MAX = 120_000
/** @limit Share of a canary that may fail. Past it: the redrive pauses itself. */
const CANARY_FAILED_SHARE = 0.2

type Facts = Pick<RedriveTask, 'delivered' | 'backInDlq' | 'discarded' | 'inLanes'>

/** Messages that went to a queue have no end, so only deliveries count. */
export function judgeCanary(task: Facts, waitedMs: number): 'wait' | 'goOn' | { pause: string } {
  const { delivered, backInDlq, discarded, inLanes } = task
  const failed = backInDlq + discarded
  const failedMax = Math.floor(inLanes * CANARY_FAILED_SHARE)
  if (failed > failedMax) return { pause: `${failed} of ${inLanes} first messages failed again` }
  if (delivered + failed >= inLanes) return 'goOn'
  if (waitedMs < CANARY_WAIT_MS_MAX) return 'wait'
  const open = inLanes - delivered
  if (open <= failedMax) return 'goOn'
  return {
    pause: `${open} of ${inLanes} first messages were not delivered in ${CANARY_WAIT_MS_MAX / 1_000} s`,
  }
}
