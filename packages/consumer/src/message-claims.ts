/**
 * Handles each message once, although a queue may deliver it twice.
 *
 * free ─ claim ─▶ claimed (under a lease) ─ finish ─▶ done (until its time is over)
 * claimed ─ release, or the lease ends because the consumer died ─▶ free
 *
 * A message counts as done only after its handler has returned. A handler that dies is therefore run again.
 */
import { randomUUID } from 'node:crypto'

/** `busy`: another consumer handles the message; its claim ends after `busySeconds`, unless it is renewed. */
export type Claim = 'claimed' | 'done' | { busySeconds: number }

export interface Idempotency {
  /** `token` names the claim. To claim again with the same token renews the lease. */
  claim(key: string, token: string, leaseSeconds: number): Promise<Claim>
  /** Notes that the message is done. */
  finish(key: string, token: string): Promise<void>
  /** Gives the claim back, so that the message can be handled again. */
  release(key: string, token: string): Promise<void>
}

/** The command of a Redis client that is needed, in the form of ioredis. */
export interface RedisEval {
  eval(script: string, numberOfKeys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
}

export interface RedisIdempotencyOptions {
  /** How long a message counts as done. It must exceed the time in which the message can come again. */
  ttlSeconds: number
  /** Beginning of the keys. Default: `fantail-consumer:`. */
  prefix?: string
}

const DONE = 'done'
const CLAIM = `
local owner = redis.call('GET', KEYS[1])
if owner == '${DONE}' then return -1 end
if owner and owner ~= ARGV[1] then return redis.call('PTTL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return -2
`
const FINISH = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], '${DONE}', 'PX', ARGV[2])
return 1
`
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`
const IS_DONE = -1
const IS_CLAIMED = -2

/** Keeps claims in Redis, one key per message. Throws `TypeError` for a time that is not positive. */
export function redisIdempotency(
  redis: RedisEval,
  { ttlSeconds, prefix = 'fantail-consumer:' }: RedisIdempotencyOptions,
): Idempotency {
  if (!(ttlSeconds > 0)) throw new TypeError(`ttlSeconds must be more than 0, not ${ttlSeconds}`)
  return {
    claim: async (key, token, leaseSeconds) => {
      const leaseMs = Math.ceil(leaseSeconds * 1_000)
      const reply = Number(await redis.eval(CLAIM, 1, prefix + key, token, leaseMs))
      if (reply === IS_DONE) return 'done'
      return reply === IS_CLAIMED ? 'claimed' : { busySeconds: Math.max(1, Math.ceil(reply / 1_000)) }
    },
    finish: async (key, token) => {
      await redis.eval(FINISH, 1, prefix + key, token, Math.ceil(ttlSeconds * 1_000))
    },
    release: async (key, token) => {
      await redis.eval(RELEASE, 1, prefix + key, token)
    },
  }
}

export const newToken = (): string => randomUUID()
