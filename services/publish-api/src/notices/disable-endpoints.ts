/** Pauses subscriptions whose endpoints have failed for as many days as their topic allows (`disableAfterDays`). */
import { FantailError, type SubscriptionRecord, type TopicRecord } from '@fantail/contracts'
import { type LaneFigures, placeOfSubscription } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { JudgedLane } from '../lanes/lane-board.ts'

const DAY_MS = 86_400_000
/** Subscriptions that a round pauses. Past it: the next rounds pause the others. */
const DISABLED_PER_ROUND_MAX = 1_000

type Tools = Pick<ApiDeps, 'subscriptions' | 'lanes' | 'topicCache' | 'log'>

/** The lanes come from the board, so each of them has failed within the last day. */
export async function disableEndpoints(
  tools: Tools,
  topics: readonly TopicRecord[],
  { lanes, now }: { lanes: readonly JudgedLane[]; now: number },
): Promise<void> {
  const days = new Map(topics.flatMap(({ arn, disableAfterDays: days }) => (days ? [[arn, days]] : [])))
  if (days.size === 0) return
  const isOver = ({ topicArn, status }: Judged, { failing }: Pick<LaneFigures, 'failing'>) => {
    const limit = days.get(topicArn)
    if (limit === undefined || status !== 'active' || failing === null) return false
    return now - failing.since >= limit * DAY_MS
  }
  const found = lanes.filter(({ subscription, figures }) => isOver(subscription, figures))
  for (const { subscription } of found.slice(0, DISABLED_PER_ROUND_MAX)) {
    const { id, topicArn } = subscription
    try {
      await disable(tools, id, isOver)
    } catch (error) {
      // The others, and the notices of the round, must not wait for this one. The next round tries again.
      tools.log.error({ topicArn, subscriptionId: id, err: error }, 'subscription.disable_failed')
    }
  }
}

type Judged = Pick<SubscriptionRecord, 'topicArn' | 'status'>

/**
 * The board may be some seconds old, and the endpoint may have recovered. So the lane is read again, and after the
 * record: a resume between both changes `resumes`.
 */
async function disable(
  { subscriptions, lanes, topicCache, log }: Tools,
  id: string,
  isOver: (subscription: Judged, figures: LaneFigures) => boolean,
): Promise<void> {
  const known = await subscriptions.getReadable(id)
  const [figures] = await lanes.figures([{ subscriptionId: id, shard: placeOfSubscription(id)?.shard ?? 0 }])
  if (!known || !figures || !isOver(known, figures)) return
  const { topicArn, endpoint, resumes = 0 } = known
  let isNew = false
  try {
    await subscriptions.update(id, (current) => {
      const isSame = current.endpoint === endpoint && (current.resumes ?? 0) === resumes
      isNew = isSame && current.status === 'active' && !current.unsubscribed
      return isNew ? { status: 'paused', pausedBecause: 'failing' } : {}
    })
  } catch (error) {
    if (error instanceof FantailError && error.code === 'not_found') return
    throw error
  }
  if (!isNew) return
  topicCache.forget(topicArn)
  log.warn({ topicArn, subscriptionId: id, failingSince: figures.failing?.since }, 'subscription.disabled')
}
