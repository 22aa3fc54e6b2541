/** Decides how long `--watch` shows a redrive: until it has ended, and the ends of its deliveries are known. */
import { type Client, type Delivery, listDeliveries, type Redrive } from '@fantail/client/api'
import { exitOf } from '../../output/exit-codes.ts'

/** How long a watched redrive that has completed waits for the ends of its deliveries. Past it: it ends. */
const WATCH_ENDS_MS_MAX = 5_000

export class RedriveEnds {
  #task: Redrive | undefined
  #endedAt: number | undefined

  seen(task: Redrive): void {
    this.#task = task
    if (task.endedAt !== null) this.#endedAt ??= performance.now()
  }

  /** A redrive that has paused itself is not waited for. */
  get areAllIn(): boolean {
    const task = this.#task
    if (task?.pauseReason !== undefined) return true
    if (!task || this.#endedAt === undefined) return false
    const { action, destination, moved, delivered, backInDlq, discarded } = task
    const hasEnds = action === 'redrive' && destination === null
    const isOver = performance.now() - this.#endedAt > WATCH_ENDS_MS_MAX
    return !hasEnds || isOver || delivered + backInDlq + discarded >= moved
  }
}

/** Reads how an edited letter has ended. An edited letter is a new message, so its redrive does not count its end. */
type Ends = Pick<Redrive, 'delivered' | 'backInDlq' | 'discarded'>

const COUNTS: Partial<Record<Delivery['state'], keyof Ends>> = {
  delivered: 'delivered',
  deadLettered: 'backInDlq',
  discarded: 'discarded',
  expired: 'discarded',
}
/** The reason of an end that no log entry tells yet. */
const UNTOLD = 'unknown'

/** The redrive, with the end of its edited letter in place of its own counts. */
export async function withEditedEnd(client: Client, task: Redrive, messageId: string): Promise<Redrive> {
  if (task.endedAt === null || task.destination !== null) return task
  const ends: Ends = { delivered: 0, backInDlq: 0, discarded: 0 }
  for (const { state, reason } of await deliveriesOf(client, messageId)) {
    const count = COUNTS[state]
    if (count && reason !== UNTOLD) ends[count] += 1
  }
  return { ...task, ...ends }
}

/** Empty until a worker has recorded the message. */
async function deliveriesOf(client: Client, messageId: string): Promise<Delivery[]> {
  try {
    return (await listDeliveries({ client, path: { messageId } })).deliveries
  } catch (error) {
    if (exitOf(error) === 'notFound') return []
    throw error
  }
}
