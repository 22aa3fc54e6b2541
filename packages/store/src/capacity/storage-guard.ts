/**
 * The watermark: it stops publishing and all other growth before Redis is full. Accepted messages can then still be
 * dispatched, parked and dead-lettered. While callers come, the guard knows Redis's memory from a sample that is at
 * most 250 ms old. Without callers it takes no samples. A failed sample changes nothing, because a write to an
 * unreachable Redis fails by itself.
 *
 * The waiting deliveries of one topic may fill a quarter of the memory for publishing. Past that, only this topic is
 * refused, so that its dead endpoint does not use up the capacity of all others. This is not checked while all topics
 * together fill less than that quarter.
 */
import { FantailError } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { topicBytesKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { masterOfShard, mastersOf } from '../redis/connections/cluster.ts'

const SAMPLE_EVERY_MS = 250
/** After a pause this long, the last sample is too old. A publish then waits for a new one. */
const SAMPLE_STALE_MS = 1_000
/**
 * @limit memory (Redis) The watermark: the share of Redis's memory that publishing and all other growth caused by
 * callers may fill. Past it: `storage_full`.
 */
export const PUBLISH_SHARE = 0.75
/**
 * Each dead letter copies its message, so dead letters could exhaust any reserve.
 * @limit memory (Redis) Share of Redis's memory past which no dead letter is appended. Past it: the delivery waits in
 * its lane, declared dead.
 */
const DEAD_LETTER_SHARE = 1.05
/**
 * @limit memory (Redis, each topic) Share of the watermark that one topic's waiting deliveries may fill. Past it:
 * publishes to this topic are refused with `rate_limited`.
 */
const TOPIC_SHARE = 0.25
/** Assumed memory of Redis if it is unknown. */
export const ASSUMED_MEMORY_BYTES = 1_073_741_824
const TOPICS_EVERY_MS = 1_000
/**
 * @limit memory (Redis) Share of the host's memory that stands for `maxmemory` if Redis has none;
 * FANTAIL_REDIS_MEMORY_BYTES replaces it.
 */
const HOST_SHARE = 0.5
/** Seconds in the `Retry-After` of such a refusal. */
const RETRY_AFTER_SECONDS = 5

interface StorageGuardOptions {
  redis: Redis
  /** Topic uid → bytes that its deliveries in lanes fill (`readTopicBytes`). */
  topicBytes?: () => Promise<Map<string, number>>
  /**
   * Used instead of Redis's maxmemory if none is set (FANTAIL_REDIS_MEMORY_BYTES). Undefined: half of the host's
   * memory.
   */
  memoryBytes?: number | undefined
  /** Called when the guard begins to refuse, and when it admits again. */
  onState?: (state: 'full' | 'free', sample: MemorySample) => void
  /** Called with each sample. */
  onSample?: (sample: MemorySample) => void
  /** Called at each refusal: past the watermark, or past the topic's share. */
  onRefused?: (reason: 'storage_full' | 'topic_share') => void
  /** Monotonic ms. */
  now?: () => number
}

export interface MemorySample {
  usedBytes: number
  /** The most that Redis may use in all; Infinity if unknown. */
  limitBytes: number
}

export class StorageGuard {
  readonly #options: StorageGuardOptions
  readonly #now: () => number
  #sampledAt = Number.NEGATIVE_INFINITY
  #sampling: Promise<void> | undefined
  /** True if the running sample is the first one after a pause. */
  #afterPause = false
  #sample: MemorySample | undefined
  #full = false
  #topicsAt = Number.NEGATIVE_INFINITY
  #greedy: ReadonlySet<string> = new Set()

  constructor(options: StorageGuardOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** The last sample, if there was one. */
  get sample(): MemorySample | undefined {
    return this.#sample
  }

  /**
   * Throws `storage_full` past the watermark, and `rate_limited` if the topic (by uid) fills more than its share. It
   * returns a promise only if it must await a sample.
   */
  admit(topicUid?: string): Promise<void> | undefined {
    return this.#fresh(() => this.#refuseWhenFull(topicUid))
  }

  /** Takes a new sample if the last one is old. It returns a promise only after a pause, when it awaits the sample. */
  refresh(): Promise<void> | undefined {
    return this.#fresh(() => undefined)
  }

  /** Like `admit`, for a dead letter. Throws `storage_full` if dead letters have used up their share. */
  admitDeadLetter(): Promise<void> | undefined {
    return this.#fresh(() => this.#refuseDeadLetter())
  }

  /** Calls `judge` with the last sample, or after a pause with a new one. */
  #fresh(judge: () => void): Promise<void> | undefined {
    const age = this.#now() - this.#sampledAt
    if (age > SAMPLE_EVERY_MS && !this.#sampling) {
      // If a sample takes long, the last sample becomes old although callers keep coming. That is not a pause: Redis is
      // slow, and if callers waited for samples, it would get slower.
      this.#afterPause = age > SAMPLE_STALE_MS
      this.#sampling = this.#takeSample()
    }
    if (this.#afterPause && this.#sampling) return this.#sampling.then(judge)
    judge()
    return undefined
  }

  #refuseDeadLetter(): void {
    const { usedBytes = 0, limitBytes = Number.POSITIVE_INFINITY } = this.#sample ?? {}
    if (usedBytes < limitBytes * DEAD_LETTER_SHARE) return
    throw storageFull('storage is full; the dead letter waits in its lane')
  }

  #refuseWhenFull(topicUid: string | undefined): void {
    if (topicUid !== undefined && this.#greedy.has(topicUid)) {
      this.#options.onRefused?.('topic_share')
      const message = 'too much of this topic waits to be delivered; the message is not stored'
      throw new FantailError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
    }
    if (!this.#full) return
    this.#options.onRefused?.('storage_full')
    throw storageFull(
      `Redis has used ${PUBLISH_SHARE * 100} % of its memory or more; nothing was stored, retry later`,
    )
  }

  async #takeSample(): Promise<void> {
    try {
      this.#sample = await readMemory(this.#options.redis, this.#options.memoryBytes)
      this.#options.onSample?.(this.#sample)
      const full = this.#sample.usedBytes >= this.#sample.limitBytes * PUBLISH_SHARE
      const changed = full !== this.#full
      this.#full = full
      if (changed) this.#options.onState?.(full ? 'full' : 'free', this.#sample)
      await this.#sampleTopics(this.#sample)
    } catch {
      // Redis is unreachable or busy. The publish that follows fails for the same reason, and reports it.
    } finally {
      this.#sampledAt = this.#now()
      this.#sampling = undefined
    }
  }

  /**
   * A refused topic is admitted again when it fills less than nine tenths of its share. Otherwise it would be refused
   * and admitted again and again.
   */
  async #sampleTopics({ usedBytes, limitBytes }: MemorySample): Promise<void> {
    const share = limitBytes * PUBLISH_SHARE * TOPIC_SHARE
    if (!this.#options.topicBytes || this.#now() - this.#topicsAt < TOPICS_EVERY_MS) return
    this.#topicsAt = this.#now()
    if (usedBytes < share && this.#greedy.size === 0) return
    const bytes = await this.#options.topicBytes()
    const greedy = [...bytes].filter(([uid, used]) => used >= share * (this.#greedy.has(uid) ? 0.9 : 1))
    this.#greedy = new Set(greedy.map(([uid]) => uid))
  }
}

function storageFull(message: string): FantailError {
  return new FantailError('storage_full', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}

/**
 * Approximate bytes of each topic's waiting deliveries, by topic uid; one round trip. On a cluster each master has its
 * own memory, so a topic has the bytes of the master that holds most of them.
 */
export async function readTopicBytes(redis: Redis): Promise<Map<string, number>> {
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) =>
    redis.hgetall(topicBytesKey(shardBase(shard))),
  )
  const masters = new Map<string, Map<string, number>>()
  for (const [shard, byTopic] of (await Promise.all(shards)).entries()) {
    const master = masterOfShard(redis, shard)
    const totals = masters.get(master) ?? new Map<string, number>()
    masters.set(master, totals)
    for (const [uid, bytes] of Object.entries(byTopic))
      totals.set(uid, (totals.get(uid) ?? 0) + Number(bytes))
  }
  const most = new Map<string, number>()
  for (const totals of masters.values()) {
    for (const [uid, bytes] of totals) most.set(uid, Math.max(most.get(uid) ?? 0, bytes))
  }
  return most
}

/** Memory of Redis. On a cluster it is the fullest master's, because a message may have to be parked on any master. */
export async function readMemory(redis: Redis, memoryBytes?: number): Promise<MemorySample> {
  const infos = await Promise.all(mastersOf(redis).map((master) => master.info('memory')))
  const samples = infos.map((info) => parseMemory(info, memoryBytes))
  const fullness = ({ usedBytes, limitBytes }: MemorySample) => usedBytes / limitBytes
  const [fullest] = samples.toSorted((a, b) => fullness(b) - fullness(a))
  if (!fullest) throw new Error('Connection is closed.')
  return fullest
}

export function parseMemory(info: string, memoryBytes?: number): MemorySample {
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  const hostBytes = field('total_system_memory')
  const assumed = memoryBytes ?? (hostBytes > 0 ? hostBytes * HOST_SHARE : Number.POSITIVE_INFINITY)
  return { usedBytes: field('used_memory'), limitBytes: field('maxmemory') || assumed }
}
