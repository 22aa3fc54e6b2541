/**
 * Mends due sets (`due`, `unproven`, `paused`) of another type, without which no lane of the shard is served. The wrong
 * value is first moved to `due:torn`. While this key exists, each sweep puts all lanes and logs of the shard into
 * these sets again. The key is deleted at the end, so a crash loses no lane.
 */
import type { Redis } from 'ioredis'
import { dueKey, pausedKey, tornDueSetsKey, unprovenKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { mastersOf } from '../redis/connections/cluster.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import type { OnUnreadable } from '../redis/unreadable.ts'

const RESTORE = readScript('restore-due-1')

const DUE_SETS: [(base: string) => string, string][] = [
  [dueKey, 'zset'],
  [unprovenKey, 'zset'],
  [pausedKey, 'set'],
]
/** Keys that one step of the scan looks at. */
const SCANNED_KEYS = 500

/** Returns how many lanes and logs were put into due sets again. */
export async function mendDueSets(redis: Redis, onUnreadable: OnUnreadable): Promise<number> {
  const looks = batch(redis)
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)
  for (const base of shards.map(shardBase)) {
    for (const [key] of DUE_SETS) looks.type(key(base))
    looks.exists(tornDueSetsKey(base))
  }
  const found = await replies(looks)
  let mended = 0
  for (const shard of shards) {
    const base = shardBase(shard)
    const at = shard * (DUE_SETS.length + 1)
    let isTorn = found[at + DUE_SETS.length] === 1
    for (const [i, [key, type]] of DUE_SETS.entries()) {
      const seen = found[at + i]
      if (seen === type || seen === 'none') continue
      onUnreadable(new TypeError(`it was a ${seen} instead of a ${type}, and is made again`), key(base))
      await redis.rename(key(base), tornDueSetsKey(base))
      isTorn = true
    }
    if (isTorn) mended += await restoreAll(redis, shard)
  }
  return mended
}

async function restoreAll(redis: Redis, shard: number): Promise<number> {
  const base = shardBase(shard)
  let count = 0
  for (const master of mastersOf(redis)) {
    let cursor = '0'
    do {
      const [next, keys] = await master.scan(cursor, 'MATCH', `${base}*`, 'COUNT', SCANNED_KEYS)
      const names = keys.flatMap((key) => memberFor(key.slice(base.length)))
      await runScript(redis, RESTORE, { base, shard, names: names.map((name) => ({ name })) })
      count += names.length
      cursor = next
    } while (cursor !== '0')
  }
  await redis.del(tornDueSetsKey(base))
  return count
}

/** The member of a due set that a key of the shard belongs to. `log:<uid>:<group>` is the log of an isolated group. */
function memberFor(key: string): string[] {
  if (key.startsWith('lane:')) return [key.slice('lane:'.length)]
  if (!key.startsWith('log:')) return []
  const name = key.slice('log:'.length)
  return [name.includes(':') ? `isolated:${name}` : key]
}
