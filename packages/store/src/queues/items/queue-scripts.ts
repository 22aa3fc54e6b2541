/** Scripts of queues. */
import { shardBase, shardOf } from '../../keys/shards.ts'

/** The common arguments of every queue script: its shard and its ARN. */
export function atQueue(arn: string): { base: string; arn: string } {
  return { base: shardBase(shardOf(arn)), arn }
}
