/**
 * Keeps the rings of kept messages within their share of Redis's memory, and makes them give way to accepted messages.
 * One process at a time checks, at most once a second: workers while they keep messages, and the API when memory gets
 * short. A sweep once a minute also removes messages that are too old. Past the bounds, the largest ring of a master
 * loses its oldest messages. Two processes may check with the same figures. A ring is therefore trimmed to a size, and
 * trimming it again removes nothing.
 */
import type { Redis } from 'ioredis'
import { ASSUMED_MEMORY_BYTES, type MemorySample, parseMemory } from '../capacity/storage-guard.ts'
import { keptKey, keptWholeKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { masterOfShard, nodeOf } from '../redis/connections/cluster.ts'
import { takeRole } from '../redis/leader.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { sideBySide } from '../redis/side-by-side.ts'

/** A topic's ring, and about how many bytes it fills. */
export interface Ring {
  arn: string
  uid: string
  shard: number
  bytes: number
}

/** The rings of all topics, in one round trip. */
export async function ringsOf(redis: Redis): Promise<Ring[]> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.hgetall(keptKey(shardBase(shard)))
  const hashes = (await replies(pipeline)) as Record<string, string>[]
  return hashes.flatMap((hash, shard) =>
    Object.entries(hash).map(([name, bytes]) => ringOf(name, shard, Number(bytes))),
  )
}

/** Rings that have kept jobs whole, also removed ones whose jobs are not deleted yet. In one round trip. */
async function ringsWithJobs(redis: Redis): Promise<Ring[]> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.smembers(keptWholeKey(shardBase(shard)))
  const sets = (await replies(pipeline)) as string[][]
  return sets.flatMap((names, shard) => names.map((name) => ringOf(name, shard, 0)))
}

function ringOf(name: string, shard: number, bytes: number): Ring {
  const [uid = '', arn = ''] = name.split(' ')
  return { arn, uid, shard, bytes }
}

const TRIM = readScript('trim-kept-1')

const KEPT_CHECK_MS = 1_000
/**
 * Publishing is refused from 75 %, so rings are smaller before that.
 * @limit memory (Redis) Share of Redis's memory past which kept messages give way. Past it: rings lose their oldest
 * messages, and nothing more is kept.
 */
export const KEPT_GIVE_WAY_SHARE = 0.7
/** Scripts that one check of the rings runs. Past it: the next check continues. */
const KEPT_TRIMS_MAX = 2_000
/** Rings that a sweep trims at a time. Past it: the others follow. */
const RINGS_AT_ONCE = 4

interface KeptUpkeepOptions {
  redis: Redis
  /** The share of Redis's memory that all rings may fill together (0 to 1). On a cluster: the rings of one master. */
  share: number
  /** Stands for Redis's maxmemory if none is set. */
  memoryBytes?: number | undefined
  onProblem(error: unknown): void
  /** Monotonic ms. */
  now?: () => number
}

interface Trimmed {
  removed: number
  /** The bytes that the ring still fills. */
  left: number
  /** Whether there may be jobs without a ring. */
  hasMore: boolean
}

export class KeptUpkeep {
  readonly #options: KeptUpkeepOptions
  readonly #now: () => number
  #checkedAt = Number.NEGATIVE_INFINITY
  #checking: Promise<unknown> | undefined

  constructor(options: KeptUpkeepOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Called when messages were kept, or memory gets short. Looks at the rings, unless that was done a moment ago. */
  check(): void {
    if (this.#checking || this.#now() - this.#checkedAt < KEPT_CHECK_MS) return
    this.#checkedAt = this.#now()
    this.#checking = this.#checkInTurn()
      .catch((error) => this.#options.onProblem(error))
      .finally(() => {
        this.#checking = undefined
      })
  }

  async whenIdle(): Promise<void> {
    await this.#checking
  }

  /**
   * Removes messages that are too old, and what removed rings have left. Then removes messages of rings that have too
   * many bytes. Returns how many were too old.
   */
  async sweep(): Promise<number> {
    const { redis } = this.#options
    const [filled, withJobs] = await Promise.all([ringsOf(redis), ringsWithJobs(redis)])
    const rings = new Map([...withJobs, ...filled].map((ring) => [ring.uid, ring]))
    if (rings.size === 0) return 0
    const removed = await sideBySide([...rings.values()], RINGS_AT_ONCE, (ring) => this.#sweepRing(ring))
    await this.#shrink()
    return removed.reduce((sum, count) => sum + count, 0)
  }

  async #sweepRing(ring: Ring): Promise<number> {
    let removed = 0
    for (let round = 0; round < KEPT_TRIMS_MAX; round++) {
      const done = await this.#trim(ring, null)
      removed += done.removed
      if (done.removed === 0 && !done.hasMore) break
    }
    return removed
  }

  async #checkInTurn(): Promise<void> {
    if (await takeRole(this.#options.redis, 'kept-messages', KEPT_CHECK_MS)) await this.#shrink()
  }

  async #shrink(): Promise<void> {
    const { redis } = this.#options
    const rings = Map.groupBy(await ringsOf(redis), ({ shard }) => masterOfShard(redis, shard))
    for (const ofMaster of rings.values()) {
      let excess = await this.#excessOf(ofMaster)
      if (excess.over > 0 && (await this.#deleteDropped(ofMaster))) excess = await this.#excessOf(ofMaster)
      let { over } = excess
      for (let trims = 0; over > 0 && trims < KEPT_TRIMS_MAX; trims++) {
        const { freed, removed } = await this.#trimLargest(ofMaster, over, excess.isShort)
        // Nothing can go that its archive does not have yet. Other rings then give way.
        if (freed <= 0 && removed === 0) ofMaster.shift()
        if (ofMaster.length === 0) break
        over -= freed
      }
    }
  }

  /** Deletes the jobs of removed rings on the master of these rings. Returns whether there were any. */
  async #deleteDropped(present: Ring[]): Promise<boolean> {
    const { redis } = this.#options
    const [uids, master] = [
      new Set(present.map(({ uid }) => uid)),
      masterOfShard(redis, present[0]?.shard ?? 0),
    ]
    const dropped = (await ringsWithJobs(redis)).filter(
      ({ uid, shard }) => !uids.has(uid) && masterOfShard(redis, shard) === master,
    )
    for (const ring of dropped) await this.#sweepRing(ring)
    return dropped.length > 0
  }

  /**
   * The bytes by which the rings of a master exceed their share, or which other data needs. In the latter case memory
   * is short.
   */
  async #excessOf(rings: Ring[]): Promise<{ over: number; isShort: boolean }> {
    const { redis, share, memoryBytes } = this.#options
    const [first] = rings
    if (!first) return { over: 0, isShort: false }
    const info = await nodeOf(redis, shardBase(first.shard)).info('memory')
    const { usedBytes, limitBytes } = finite(parseMemory(info, memoryBytes))
    const filled = rings.reduce((sum, { bytes }) => sum + bytes, 0)
    const needed = usedBytes - KEPT_GIVE_WAY_SHARE * limitBytes
    return { over: Math.max(filled - share * limitBytes, needed), isShort: needed > 0 }
  }

  /**
   * Removes at most as many bytes as make the ring as small as the next one, so that the largest rings shrink equally.
   * `freed` is negative if the ring has grown by more since its bytes were read.
   */
  async #trimLargest(
    rings: Ring[],
    over: number,
    isShort: boolean,
  ): Promise<{ freed: number; removed: number }> {
    const [largest, second] = rings.sort((a, b) => b.bytes - a.bytes)
    if (!largest || largest.bytes <= 0) return { freed: 0, removed: 0 }
    const apart = largest.bytes - (second?.bytes ?? 0)
    const wanted = Math.ceil(Math.min(over, Math.max(apart, over / rings.length)))
    const { left, removed } = await this.#trim(largest, Math.max(0, largest.bytes - wanted), isShort)
    const freed = largest.bytes - left
    largest.bytes = left
    return { freed, removed }
  }

  /** `bytesMax` null: those of the ring. */
  async #trim({ arn, uid, shard }: Ring, bytesMax: number | null, isShort = false): Promise<Trimmed> {
    const reply = await runScript(this.#options.redis, TRIM, {
      base: shardBase(shard),
      arn,
      uid,
      bytesMax,
      isShort,
    })
    const [removed, left, hasMore] = reply as [number, number, number]
    return { removed, left, hasMore: hasMore === 1 }
  }
}

function finite({ usedBytes, limitBytes }: MemorySample): MemorySample {
  return { usedBytes, limitBytes: Number.isFinite(limitBytes) ? limitBytes : ASSUMED_MEMORY_BYTES }
}
