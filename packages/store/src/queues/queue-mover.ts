/**
 * Moves messages that were received too often to the dead-letter queue. A move spans two shards. The items stay noted
 * until they have been appended to the other queue under their own ids. After a crash the append is repeated. That
 * changes nothing and loses nothing.
 */
import type { Redis } from 'ioredis'
import { ServerMarks } from '../copies/server-marks.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import type { ReadItem } from './items/queue-items.ts'
import { atQueue } from './items/queue-records.ts'
import { chunksOf, movedItem } from './kinds/queue-sending.ts'
import type { QueueSender } from './queue-sender.ts'

const SETTLE_MOVES = readScript('settle-moves-1')

export class QueueMover {
  readonly #redis: Redis
  readonly #sender: Pick<QueueSender, 'store'>
  readonly #servers: ServerMarks

  /** `acksRedis`: the connection that `sender` writes on. */
  constructor(redis: Redis, sender: Pick<QueueSender, 'store'>, acksRedis: Redis) {
    this.#redis = redis
    this.#sender = sender
    this.#servers = new ServerMarks([redis, acksRedis])
  }

  /** Moves `items`, which are noted. If there is no target queue, they become visible again. */
  async move(arn: string, target: string, items: ReadItem[]): Promise<void> {
    if (items.length === 0) return
    let moved = target !== ''
    const mark = this.#servers.mark(shardBase(shardOf(target)))
    for (const chunk of chunksOf(items.map((item) => movedItem(item, arn)))) {
      moved = moved && (await this.#sender.store(target, chunk, { whenFull: true })) !== null
    }
    // Redis may have lost the append. It is repeated when the lease of the move has ended.
    if (moved && !mark.holds()) return
    const moves = items.map(({ message }) => ({ id: message.messageId, count: message.receiveCount }))
    await runScript(this.#redis, SETTLE_MOVES, { ...atQueue(arn), forgets: moved, moves })
  }
}
