/** Pauses subscriptions whose endpoints have failed for as many days as their topic allows (`disableAfterDays`). */
import { FantailError, type TopicRecord } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { JudgedLane } from '../lanes/lane-board.ts'

const DAY_MS = 86_400_000
/** Subscriptions that a round pauses. Past it: the next rounds pause the others. */
const DISABLED_PER_ROUND_MAX = 1_000

type Tools = Pick<ApiDeps, 'subscriptions' | 'topicCache' | 'log'>

/** The lanes come from the board, so each of them has failed within the last day. */
export async function disableEndpoints(
  tools: Tools,
  topics: readonly TopicRecord[],
  { lanes, now }: { lanes: readonly JudgedLane[]; now: number },
): Promise<void> {
  const days = new Map(topics.flatMap(({ arn, disableAfterDays: days }) => (days ? [[arn, days]] : [])))
  if (days.size === 0) return
  const isOver = ({ subscription: { status, topicArn }, figures }: JudgedLane) => {
    const limit = days.get(topicArn)
    if (limit === undefined || status !== 'active' || figures.failing === null) return false
    return now - figures.failing.since >= limit * DAY_MS
  }
  for (const lane of lanes.filter(isOver).slice(0, DISABLED_PER_ROUND_MAX)) await disable(tools, lane)
}

async function disable({ subscriptions, topicCache, log }: Tools, { subscription, figures }: JudgedLane) {
  const { id, topicArn, endpoint } = subscription
  let isNew = false
  try {
    await subscriptions.update(id, (current) => {
      isNew = current.endpoint === endpoint && current.status === 'active' && !current.unsubscribed
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
