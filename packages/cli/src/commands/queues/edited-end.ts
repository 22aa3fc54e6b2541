/** Reads how an edited letter has ended. An edited letter is a new message, so its redrive does not count its end. */
import { type Client, type Delivery, listDeliveries, type Redrive } from '@fantail/client/api'
import { exitOf } from '../../output/exit-codes.ts'

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
