/**
 * The time of new messages and of live events. It is Redis's time, read when the connection is ready and every half
 * minute, and continued by the monotonic clock in between. Deliveries expire by Redis's time, so this machine's own
 * clock must not decide it. In a cluster the slowest master's clock counts, so that no message is in another master's
 * future.
 */
import { passingTime, type Redis, readSlowestTime } from '@fantail/store'

const ASK_EVERY_MS = 30_000

export interface RedisClock {
  /** Epoch ms. Until Redis has answered, this machine's time. */
  now(): number
  stop(): void
}

export function createRedisClock(redis: Redis): RedisClock {
  let offset = Date.now() - performance.now()
  const ask = async () => {
    const askedAt = performance.now()
    try {
      const redisNow = await readSlowestTime(redis)
      offset = redisNow - (askedAt + performance.now()) / 2
    } catch {
      // Redis is unreachable. The clock continues, and is set again when the connection is back.
    }
  }
  const onReady = () => void ask()
  redis.on('ready', onReady)
  if (redis.status === 'ready') onReady()
  const timer = setInterval(onReady, ASK_EVERY_MS)
  timer.unref()
  return {
    now: () => Math.floor(offset + passingTime.now()),
    stop: () => {
      clearInterval(timer)
      redis.off('ready', onReady)
    },
  }
}
