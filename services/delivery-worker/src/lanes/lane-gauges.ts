/**
 * Reads the gauges of lanes and of FIFO logs at a scrape. It shows at most as many lanes as telemetry keeps, the ones
 * with the most waiting deliveries. It does not use snapshots, because a scrape would load slices that this worker
 * does not need, and the cache would drop needed ones.
 */
import { nameOfArn } from '@fantail/contracts'
import { busyLanes, drainOf, fifoLogFigures, type Lanes, type Redis } from '@fantail/store'
import type { FifoLogObservation, LaneObservation } from '@fantail/telemetry'

/** Lanes of a shard that the gauges read. Past it: the others are left out. */
const LANES_PER_SHARD_MAX = 200

interface LaneGaugesOptions {
  redis: Redis
  lanes: Pick<Lanes, 'figures'>
  now(): number
}

export async function observeLanes({ redis, lanes, now }: LaneGaugesOptions): Promise<LaneObservation[]> {
  const busy = await busyLanes(redis, LANES_PER_SHARD_MAX)
  const figures = await lanes.figures(busy)
  return busy.flatMap(({ subscriptionId, paused, topicArn }, i) => {
    const figure = figures[i]
    if (!figure) return []
    const { waiting, inFlight, oldestPublishedAt } = figure
    return {
      topic: nameOfArn(topicArn),
      subscription: subscriptionId,
      waiting,
      inFlight,
      oldestSeconds: oldestPublishedAt === null ? null : Math.max(0, now() - oldestPublishedAt) / 1_000,
      drainSeconds: drainOf(figure, { paused, now: now() }).seconds,
    }
  })
}

export async function observeFifoLogs({
  redis,
  now,
}: Pick<LaneGaugesOptions, 'redis' | 'now'>): Promise<FifoLogObservation[]> {
  const logs = await fifoLogFigures(redis)
  return logs.map(({ topicArn, messages, oldestPublishedAt }) => ({
    topic: nameOfArn(topicArn),
    messages,
    oldestSeconds: Math.max(0, now() - oldestPublishedAt) / 1_000,
  }))
}
