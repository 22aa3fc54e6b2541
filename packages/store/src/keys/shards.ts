/**
 * The 48 fixed hash tags. Tag i has the Redis Cluster slot (i + ½) · 16384 / 48, so that shards spread evenly over any
 * number of masters. A changed tag would orphan the data that is stored under it.
 */
const TAGS = [
  '8gt', '8yc', 'g3n', '8c4', 'mws', 'og', '4ba', 'pt6', '653', 'alq', '4x6', '61s', '8vv', '8ha', '2l4', '8r6',
  'eoi', '2ht', '47k', '4mt', 'cji', 'i0c', '4i4', '6dy', 'gfz', '265', '8vh', '2hj', '22u', 'e5h', 'cjw', 'c0h',
  '47u', '6dg', '6zp', '435', 'k9', 'gio', '8gj', 'oy', '5f', 'miz', 'k6e', '6o2', 'ia7', '61m', '6kr', 'alo',
] as const // biome-ignore format: four rows of twelve would be forty-eight lines

export const SHARD_COUNT = TAGS.length

/** The prefix of all keys of a shard. Scripts get it, and append to it. */
export function shardBase(shard: number): string {
  const tag = TAGS[shard]
  if (tag === undefined) throw new RangeError(`no shard ${shard}`)
  return `ft:{${tag}}:`
}

/** The home shard of a topic, queue or subscription: FNV-1a over its ARN or id. */
export function shardOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i)
    hash = Math.imul(hash, 0x01000193)
  }
  return (hash >>> 0) % SHARD_COUNT
}

/**
 * The shard of slice `n` is `n` shards after the topic's home shard. All data of a small topic is therefore in one
 * shard.
 */
export function sliceShard(topicArn: string, sliceNumber: number): number {
  return (shardOf(topicArn) + sliceNumber) % SHARD_COUNT
}
