/**
 * Bytes of the queues that topics make for their dead letters: a share of Redis's memory for each, and one for all of
 * them together. Each script that stores a letter keeps its own queue within bounds. All together are looked at once a
 * second while letters come, by one process at a time; past their share the queue that fills most loses its oldest.
 *
 * Rejected: to remove the oldest letter of all queues. A dead endpoint at full rate would then remove the letters of
 * everybody else, which are older, before its own.
 */
import type { Redis } from 'ioredis'
import type { MemorySample } from '../../capacity/storage-guard.ts'
import { letterBytesKey } from '../../keys.ts'
import { masterOfShard } from '../../redis/cluster.ts'
import { takeRole } from '../../redis/leader.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../../redis/shards.ts'

const TRIM = readScript('trim-letters-1')

const CHECK_EVERY_MS = 1_000
/** Memory of Redis that the shares are of, if nothing tells how much there is. */
const ASSUMED_BYTES = 1_073_741_824

export interface LetterShares {
  /** Of Redis's memory, 0 to 1: one topic's queue. */
  perQueue: number
  /** All of them together; on a cluster, those of one master. */
  together: number
}

interface LetterQuotaOptions {
  redis: Redis
  shares: LetterShares
  /** The last one, if there was any. */
  sample(): MemorySample | undefined
  /** Letters of this topic's queue were removed to make space for others. */
  onRemoved(topicArn: string, letters: number): void
  onProblem(error: unknown): void
  /** Monotonic ms. */
  now?: () => number
}

interface Filled {
  arn: string
  bytes: number
}

export class LetterQuota {
  readonly #options: LetterQuotaOptions
  readonly #now: () => number
  #checkedAt = Number.NEGATIVE_INFINITY
  #checking: Promise<void> | undefined

  constructor(options: LetterQuotaOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** What one topic's queue may fill. */
  get queueBytes(): number {
    return this.#options.shares.perQueue * this.#memoryBytes
  }

  get #memoryBytes(): number {
    const limit = this.#options.sample()?.limitBytes ?? Number.POSITIVE_INFINITY
    return Number.isFinite(limit) ? limit : ASSUMED_BYTES
  }

  /** A letter was stored: all of them together are looked at, unless they were a moment ago. */
  stored(): void {
    if (this.#checking || this.#now() - this.#checkedAt < CHECK_EVERY_MS) return
    this.#checkedAt = this.#now()
    this.#checking = this.#check()
      .catch((error) => this.#options.onProblem(error))
      .finally(() => {
        this.#checking = undefined
      })
  }

  async whenIdle(): Promise<void> {
    await this.#checking
  }

  async #check(): Promise<void> {
    const { redis, shares } = this.#options
    if (!(await takeRole(redis, 'letter-quota', CHECK_EVERY_MS))) return
    const bytesMax = shares.together * this.#memoryBytes
    for (const queues of (await filledQueues(redis)).values()) {
      let over = queues.reduce((sum, { bytes }) => sum + bytes, 0) - bytesMax
      while (over > 0) {
        const freed = await this.#trimLargest(queues, over)
        if (freed === 0) break
        over -= freed
      }
    }
  }

  /** No more than what makes it as small as the next one, so that the largest ones shrink alike. */
  async #trimLargest(queues: Filled[], over: number): Promise<number> {
    const [largest, second] = queues.sort((a, b) => b.bytes - a.bytes)
    if (!largest) return 0
    const wanted = Math.ceil(
      Math.min(over, Math.max(largest.bytes - (second?.bytes ?? 0), over / queues.length)),
    )
    const reply = await runScript(this.#options.redis, TRIM, {
      base: shardBase(shardOf(largest.arn)),
      arn: largest.arn,
      bytesToFree: wanted,
    })
    const [removed, freed, topicArn] = reply as [number, number, Buffer]
    largest.bytes -= freed
    if (removed > 0) this.#options.onRemoved(String(topicArn), removed)
    return freed
  }
}

/** By master, as each master's memory is its own. */
async function filledQueues(redis: Redis): Promise<Map<string, Filled[]>> {
  const hashes = await Promise.all(
    Array.from({ length: SHARD_COUNT }, (_, shard) => redis.hgetall(letterBytesKey(shardBase(shard)))),
  )
  const masters = new Map<string, Filled[]>()
  for (const [shard, hash] of hashes.entries()) {
    const master = masterOfShard(redis, shard)
    const queues = masters.get(master) ?? []
    masters.set(master, queues)
    for (const [arn, bytes] of Object.entries(hash)) queues.push({ arn, bytes: Number(bytes) })
  }
  return masters
}
