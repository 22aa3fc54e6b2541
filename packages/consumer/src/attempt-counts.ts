/**
 * Counts how often a handler has begun a message. A queue's own count also rises if a message was received and not
 * handled, because a consumer stopped or an earlier message of its FIFO group failed.
 */
import type { RedisEval } from './message-claims.ts'

export interface AttemptCounts {
  /** Adds one, and returns the new count. */
  begin(key: string): Promise<number>
  /** The message is done. */
  forget(key: string): Promise<void>
}

export interface RedisAttemptCountsOptions {
  /** A count that has not changed for this time is forgotten. */
  ttlSeconds: number
  /** Beginning of the keys. Default: `fantail-attempts:`. */
  prefix?: string
}

const BEGIN = `
local count = redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return count
`
const FORGET = `return redis.call('DEL', KEYS[1])`

/** Keeps the counts in Redis. Throws `TypeError` for a time that is not positive. */
export function redisAttemptCounts(
  redis: RedisEval,
  { ttlSeconds, prefix = 'fantail-attempts:' }: RedisAttemptCountsOptions,
): AttemptCounts {
  if (!(ttlSeconds > 0)) throw new TypeError(`ttlSeconds must be more than 0, not ${ttlSeconds}`)
  return {
    begin: async (key) => Number(await redis.eval(BEGIN, 1, prefix + key, Math.ceil(ttlSeconds * 1_000))),
    forget: async (key) => {
      await redis.eval(FORGET, 1, prefix + key)
    },
  }
}
