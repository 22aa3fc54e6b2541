/**
 * How tests start stacks of `@fantail/testing`: from the bundle, with the Redis of all tests, and with time for a busy
 * machine.
 */
import { canSpawnRedis, redisServerPath } from '@fantail/test-kit'
import type { FantailStackOptions } from '@fantail/testing'
import { bundledServices } from '../harness/services/service-bundles.ts'

/** Stacks need a binary. Some machines have containers only. */
export const HAS_REDIS = canSpawnRedis()

export function stackOptions(): FantailStackOptions {
  return { server: bundledServices(), redis: redisServerPath(), timeoutMs: 30_000, startTimeoutMs: 60_000 }
}
