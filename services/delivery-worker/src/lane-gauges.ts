/**
 * What the gauges of lanes show at a scrape: at most as many lanes as telemetry keeps, those with most to do; and those of
 * the logs of FIFO topics.
 */
import { parseArn } from '@fantail/contracts'
import { busyLanes, fifoLogFigures, type LaneStore, type Redis } from '@fantail/store'
import type { FifoLogObservation, LaneObservation } from '@fantail/telemetry'
import type { PlanCache } from './plan-cache.ts'

const LANES_PER_SHARD_MAX = 200

export interface LaneGaugesOptions {
  redis: Redis
  lanes: LaneStore
  plans: PlanCache
  now(): number
}

export async function observeLanes({
  redis,
  lanes,
  plans,
  now,
}: LaneGaugesOptions): Promise<LaneObservation[]> {
  const busy = await busyLanes(redis, LANES_PER_SHARD_MAX)
  const figures = await lanes.figures(busy)
  const slices = await Promise.all(busy.map((lane) => plans.slice(lane)))
  return busy.flatMap(({ subscriptionId }, i) => {
    const [figure, slice] = [figures[i], slices[i]]
    if (!figure || !slice) return []
    const { waiting, inFlight, oldestPublishedAt, rate } = figure
    const paused = slice.byId.get(subscriptionId)?.record.status === 'paused'
    return {
      topic: slice.topic.name,
      subscription: subscriptionId,
      waiting,
      inFlight,
      oldestSeconds: oldestPublishedAt === null ? null : Math.max(0, now() - oldestPublishedAt) / 1_000,
      drainSeconds: rate === null || paused ? null : waiting / rate,
    }
  })
}

export async function observeFifoLogs({
  redis,
  now,
}: Pick<LaneGaugesOptions, 'redis' | 'now'>): Promise<FifoLogObservation[]> {
  const logs = await fifoLogFigures(redis)
  return logs.map(({ topicArn, messages, oldestPublishedAt }) => ({
    topic: parseArn(topicArn)?.name ?? topicArn,
    messages,
    oldestSeconds: Math.max(0, now() - oldestPublishedAt) / 1_000,
  }))
}
