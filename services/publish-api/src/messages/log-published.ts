/** The single log line of a publish, and its live events, for both APIs. */
import type { ApiDeps } from '../deps/api-deps.ts'
import { msSince } from '../http/log.ts'
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

type Tools = Pick<ApiDeps, 'log' | 'live' | 'clock'>

export function logPublished({ log, live, clock }: Tools, published: Published): void {
  if (live.on && !published.replayed) sendPublished(live, published, clock())
  if (!log.isLevelEnabled('info')) return
  const { requestId, topicArn, receipts, bytes, replayed, startedAt } = published
  const ids = receipts.map(({ messageId }) => messageId)
  const which = ids.length === 1 ? { messageId: ids[0] } : { messageIds: ids }
  log.info(
    { requestId, topicArn, ...which, bytes, replayed, durationMs: msSince(startedAt) },
    'message.published',
  )
}

function sendPublished(live: Tools['live'], { topicArn, receipts }: Published, at: number): void {
  if (live.leavesOut('published', topicArn, receipts.length)) return
  const facts = { type: 'published', topicArn } as const
  for (const { messageId } of receipts) live.send(facts, () => ({ ...facts, at, messageId }))
}
