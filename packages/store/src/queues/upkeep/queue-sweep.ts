/**
 * Removes expired messages in all queues, and finishes work that a crash has interrupted. A queue whose data cannot be
 * read does not stop the others. The next sweep tries it again.
 */
import type { Redis } from 'ioredis'
import { queueKey, queuesKey, topicKey } from '../../keys.ts'
import { type OnUnreadable, whenReadable } from '../../records/unreadable.ts'
import { listNames } from '../../redis/pages.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import type { QueueDefinitions } from '../definitions/queue-definitions.ts'
import { type ItemReply, readItems } from '../queue-items.ts'
import type { QueueMover } from '../queue-mover.ts'
import { atQueue } from '../queue-scripts.ts'
import type { UnreadableItems } from './unreadable-items.ts'

const SWEEP = readScript('sweep-queue-1')

/** @limit Expired messages that one script of the sweep removes. Past it: a further script follows. */
const SWEEP_ITEMS_MAX = 500
/** @limit Interrupted moves that one script of the sweep finishes. Past it: a further script follows. */
const SWEEP_MOVES_MAX = 10
/** @limit Queues that the sweep lists at once. Past it: a further list follows. */
const SWEEP_QUEUES_MAX = 200

interface Parts {
  redis: Redis
  mover: QueueMover
  definitions: Pick<QueueDefinitions, 'delete'>
  unreadable: UnreadableItems
  onUnreadable: OnUnreadable
}

/** Returns how many messages it has removed. */
export async function sweepQueues(parts: Parts): Promise<number> {
  let removed = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: string[] = await listNames(parts.redis, {
      key: queuesKey,
      prefix: '',
      after,
      limit: SWEEP_QUEUES_MAX,
      onUnreadable: parts.onUnreadable,
    })
    for (const arn of page) {
      removed += (await whenReadable(queueKey(arn), parts.onUnreadable, () => sweepQueue(parts, arn))) ?? 0
    }
    after = page.length < SWEEP_QUEUES_MAX ? undefined : page.at(-1)
  }
  return removed
}

async function sweepQueue(parts: Parts, arn: string): Promise<number> {
  for (let removed = 0; ; ) {
    const args = { ...atQueue(arn), itemsMax: SWEEP_ITEMS_MAX, movesMax: SWEEP_MOVES_MAX }
    const reply = (await runScript(parts.redis, SWEEP, args)) as [number, Buffer, ItemReply[], Buffer] | null
    if (reply === null) return removed
    removed += reply[0]
    const { items, unreadable } = readItems(reply[2])
    await parts.unreadable.remove(arn, unreadable)
    await parts.mover.move(arn, String(reply[1]), items)
    if (reply[0] > 0 || reply[2].length > 0) continue
    if (reply[3].length > 0) await deleteOrphan(parts, arn, String(reply[3]))
    return removed
  }
}

/**
 * Deletes an empty queue that a topic made, if the topic no longer exists. The topic's deletion may have been
 * interrupted.
 */
async function deleteOrphan({ redis, definitions }: Parts, arn: string, topicArn: string): Promise<void> {
  if ((await redis.exists(topicKey(topicArn))) === 0) await definitions.delete(arn, { emptyAndOf: topicArn })
}
