/** Caches the settings of queues for sending and receiving over the AWS protocols. */
import type { QueueRecord } from '@fantail/contracts'
import type { Queues } from '@fantail/store'
import { FreshCache } from './fresh-cache.ts'

interface QueueCacheOptions {
  queues: Pick<Queues, 'get'>
}

export class QueueCache extends FreshCache<QueueRecord> {
  constructor({ queues }: QueueCacheOptions) {
    super({ look: (arn) => queues.get(arn) })
  }
}
