/** Scripts of queues. */
import { shardBase, shardOf } from '../redis/shards.ts'

/** What every script of a queue takes: where it stands, and its ARN. */
export function atQueue(arn: string): { base: string; arn: string } {
  return { base: shardBase(shardOf(arn)), arn }
}
