/** Figures of a bounded number of queues, for gauges. */

import type { Redis } from 'ioredis'
import { queueKey, queuesKey } from '../keys/keys.ts'
import { listNames } from '../redis/pages.ts'
import { whenReadable } from '../redis/unreadable.ts'
import type { QueueWithCounts } from './items/queue-records.ts'
import type { Queues } from './queues.ts'

/** Figures of at most `max` queues, the first by ARN, without unreadable ones. Takes two round trips. */
export async function queueFigures(
  redis: Redis,
  queues: Pick<Queues, 'getWithCounts'>,
  max: number,
): Promise<QueueWithCounts[]> {
  const arns = await listNames(redis, { key: queuesKey, prefix: '', after: '', limit: max })
  const found = await Promise.all(
    arns.map((arn) =>
      whenReadable(
        queueKey(arn),
        () => undefined,
        () => queues.getWithCounts(arn),
      ),
    ),
  )
  return found.filter((queue) => queue !== null && queue !== undefined)
}
