/**
 * Sends commands of several callers to Redis in one write, so that they make one round trip. On a cluster there is one
 * write per master.
 */
import type { Redis } from 'ioredis'
import { mastersOf } from './connections/cluster.ts'

/** All commands that `ask` sends before it returns go in one write. Their answers arrive as usual. */
export function inOneWrite<T>(redis: Redis, ask: () => T): T {
  const streams = mastersOf(redis).map(({ stream }) => stream as typeof stream | undefined)
  for (const stream of streams) stream?.cork()
  try {
    return ask()
  } finally {
    for (const stream of streams) stream?.uncork()
  }
}
