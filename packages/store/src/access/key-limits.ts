/**
 * Limits rates over all processes, by buckets of tokens in Redis. API keys with a rate limit have such a bucket, and so
 * have mail domains. A process takes several tokens at a time.
 */
import type { Redis } from 'ioredis'
import { API_KEYS_BASE } from '../keys/keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const TAKE = readScript('take-tokens-1')

export interface TokensAsked {
  keyId: string
  ratePerSecond: number
  wanted: number
}

export interface TokensGiven {
  given: number
  /** How many ms until the bucket has one more token. */
  nextInMs: number
}

export class KeyLimits {
  readonly #redis: Redis
  readonly #base: string

  /** `base`: the beginning of the names of its keys. */
  constructor(redis: Redis, base = API_KEYS_BASE) {
    this.#redis = redis
    this.#base = base
  }

  async take({ keyId, ratePerSecond, wanted }: TokensAsked): Promise<TokensGiven> {
    const args = { base: this.#base, id: keyId, rate: ratePerSecond, wanted }
    const reply = await runScript(this.#redis, TAKE, args)
    const [given = 0, nextInMs = 0] = reply as number[]
    return { given, nextInMs }
  }
}
