/** The single log line of a publish, for both APIs. */

import { msSince } from '../http/duration.ts'
import type { Log } from '../http/log.ts'
import type { Receipt } from './message-store.ts'

interface Published {
  requestId: string
  topicArn: string
  receipts: Receipt[]
  bytes: number
  /** The answer repeats that of an earlier publish. */
  replayed: boolean
  /** Monotonic ms. */
  startedAt: number
}

export function logPublished(log: Log, published: Published): void {
  if (!log.isLevelEnabled('info')) return
  const { requestId, topicArn, receipts, bytes, replayed, startedAt } = published
  const ids = receipts.map(({ messageId }) => messageId)
  const which = ids.length === 1 ? { messageId: ids[0] } : { messageIds: ids }
  log.info(
    { requestId, topicArn, ...which, bytes, replayed, durationMs: msSince(startedAt) },
    'message.published',
  )
}
