import type { Redis } from 'ioredis'
import { runScript, type Script, type ScriptValue } from '../redis/scripts.ts'
import { shardBase, shardOf } from '../redis/shards.ts'

/** Runs a script of the queue's home shard. Its first argument is the queue's ARN. */
export function runOnQueue(
  redis: Redis,
  arn: string,
  script: Script,
  args: ScriptValue[] = [],
): Promise<unknown> {
  return runScript(redis, script, [shardBase(shardOf(arn))], [arn, ...args])
}
