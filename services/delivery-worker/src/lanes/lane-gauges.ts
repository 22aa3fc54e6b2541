/**
 * What the gauges of lanes show at a scrape: at most as many lanes as telemetry keeps, those with most to do; and those
 * of the logs of FIFO topics. No snapshot is asked for: a scrape would else load slices that this worker has nothing to
 * do with, and push out of the cache those that it has.
 */
import { parseArn } from '@fantail/contracts'
import { busyLanes, fifoLogFigures, type LaneStore, type Redis } from '@fantail/store'
import type { FifoLogObservation, LaneObservation } from '@fantail/telemetry'

/** @limit Lanes of a shard that the gauges look at. Past it: the others are left out. */
const LANES_PER_SHARD_MAX = 200

export interface LaneGaugesOptions {
  redis: Redis
  lanes: Pick<LaneStore, 'figures'>
  now(): number
}

export async function observeLanes({ redis, lanes, now }: LaneGaugesOptions): Promise<LaneObservation[]> {
  const busy = await busyLanes(redis, LANES_PER_SHARD_MAX)
  const figures = await lanes.figures(busy)
  return busy.flatMap(({ subscriptionId, paused, topicArn }, i) => {
    const figure = figures[i]
    if (!figure) return []
    const { waiting, inFlight, oldestPublishedAt, rate } = figure
    return {
      topic: parseArn(topicArn)?.name ?? topicArn,
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
