/** Where scripts of topics and subscriptions run: in the home shard of the topic, or in the shard of a slice. */
import { shardBase, shardOf } from '../keys/shards.ts'

export interface SlicePlace {
  sliceId: string
  shard: number
}

/** The common arguments of every script in a topic's home shard. */
export function atHome(arn: string): { base: string; shard: number; arn: string } {
  const shard = shardOf(arn)
  return { base: shardBase(shard), shard, arn }
}

/** The common arguments of every script of a slice. */
export function atSlice({ sliceId, shard }: SlicePlace): { base: string; shard: number; slice: string } {
  return { base: shardBase(shard), shard, slice: sliceId }
}

/** The settings of a topic that scripts read. They are stored next to its record. */
export interface TopicScriptSettings {
  /** Sends per second, or ''. */
  rate: string
  /** Seconds. */
  retention: string
  /** '1' if the overrides of subscriptions are disabled, else ''. */
  overrides: string
}

/** A script's reply: its outcome, and the values that belong to it. */
export async function outcomeOf(reply: Promise<unknown>): Promise<{ outcome: string; rest: Buffer[] }> {
  const [outcome, ...rest] = (await reply) as Buffer[]
  return { outcome: String(outcome), rest }
}
