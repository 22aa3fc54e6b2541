/**
 * Removes expired messages in all queues, and finishes work that a crash has interrupted. A queue whose data cannot be
 * read does not stop the others. The next sweep tries it again.
 */
import type { Redis } from 'ioredis'
import { queueKey, queuesKey, topicKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { SHARDS_AT_ONCE, sideBySide } from '../redis/side-by-side.ts'
import { type OnUnreadable, whenReadable } from '../redis/unreadable.ts'
import type { QueueDefinitions } from './definitions/queue-definitions.ts'
import { type ItemReply, readItems } from './items/queue-items.ts'
import { atQueue } from './items/queue-records.ts'
import type { QueueMover } from './queue-mover.ts'
import type { UnreadableItems } from './upkeep/unreadable-items.ts'

const SWEEP = readScript('sweep-queue-1')
const FIND = readScript('find-queue-work-1')

/** Expired messages that one script of the sweep removes. Past it: a further script follows. */
const SWEEP_ITEMS_MAX = 500
/** Interrupted moves that one script of the sweep finishes. Past it: a further script follows. */
const SWEEP_MOVES_MAX = 10
/** Queues that one script of the sweep looks at. Past it: a further script follows. */
const SWEEP_QUEUES_MAX = 500

interface Parts {
  redis: Redis
  mover: QueueMover
  definitions: Pick<QueueDefinitions, 'delete'>
  unreadable: UnreadableItems
  onUnreadable: OnUnreadable
}

/** Returns how many messages it has removed. Idle queues cost one script for many of them. */
export async function sweepQueues(parts: Parts): Promise<number> {
  const asked = batch(parts.redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) asked.exists(queuesKey(shardBase(shard)))
  const shards = (await replies(asked)).flatMap((exists, shard) => (exists === 1 ? [shard] : []))
  const removed = await sideBySide(shards, SHARDS_AT_ONCE, async (shard) => {
    const key = queuesKey(shardBase(shard))
    return (await whenReadable(key, parts.onUnreadable, () => sweepShard(parts, shard))) ?? 0
  })
  return removed.reduce((sum, count) => sum + count, 0)
}

type FoundReply = [last: Buffer, found: Buffer[], empty: Buffer[]]

async function sweepShard(parts: Parts, shard: number): Promise<number> {
  const base = shardBase(shard)
  let removed = 0
  for (let after = ''; ; ) {
    const args = { base, after, queuesMax: SWEEP_QUEUES_MAX }
    const [last, found, empty] = (await runScript(parts.redis, FIND, args)) as FoundReply
    for (const arn of found.map(String)) {
      removed += (await whenReadable(queueKey(arn), parts.onUnreadable, () => sweepQueue(parts, arn))) ?? 0
    }
    await deleteOrphans(parts, empty.map(String))
    if (last.length === 0) return removed
    after = String(last)
  }
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
    await deleteOrphans(parts, reply[3].length > 0 ? [arn, String(reply[3])] : [])
    return removed
  }
}

/**
 * Deletes empty queues that topics made, if their topics no longer exist. The deletion of a topic may have been
 * interrupted. `pairs`: ARNs of queue and topic, one after the other.
 */
async function deleteOrphans({ redis, definitions }: Parts, pairs: string[]): Promise<void> {
  if (pairs.length === 0) return
  const asked = batch(redis)
  for (let i = 1; i < pairs.length; i += 2) asked.exists(topicKey(pairs[i] ?? ''))
  for (const [i, exists] of (await replies(asked)).entries()) {
    const [arn = '', topicArn = ''] = pairs.slice(2 * i)
    if (exists === 0) await definitions.delete(arn, { emptyAndOf: topicArn })
  }
}
