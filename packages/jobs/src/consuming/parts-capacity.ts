/**
 * Redis's capacity for parts of jobs. When a backlog fills Redis up to the watermark, large jobs must still be cut, or
 * one worker would do each alone. But parts must not fill Redis either. When memory is full, BullMQ starts no job, so
 * nothing would ever end. Parts may therefore use a little memory past the watermark. The rest is for dispatch and
 * parking.
 */
import { type MemorySample, type Redis, readMemory } from '@fantail/store'

const PARTS_SAMPLE_MS = 250
/**
 * Publishing ends at PUBLISH_SHARE, which is lower.
 * @limit memory (Redis) Share of Redis's memory up to which parts are added. Past it: a large job is left whole.
 */
export const PARTS_SHARE = 0.8
/**
 * Share of the free capacity that one consumer uses by one sample, because others use it at the same time. Past it: a
 * large job is left whole.
 */
const SAMPLE_SHARE = 1 / 8
/** Memory of a part, with its entry among the job's children. Measured: 1,020 bytes if the job number has one digit. */
export const PART_BYTES = 1_200

interface PartsCapacityOptions {
  redis: Redis
  /** Used instead of Redis's maxmemory if none is set (FANTAIL_REDIS_MEMORY_BYTES). */
  memoryBytes?: number | undefined
  read?: () => Promise<MemorySample>
}

export class PartsCapacity {
  readonly #read: () => Promise<MemorySample>
  #sampledAt = Number.NEGATIVE_INFINITY
  #sampling: Promise<void> | undefined
  #left = 0

  constructor({ redis, memoryBytes, read = () => readMemory(redis, memoryBytes) }: PartsCapacityOptions) {
    this.#read = read
  }

  /** Whether this many parts may be added. If so, they are counted as added. Rejects if Redis fails. */
  async take(parts: number): Promise<boolean> {
    if (performance.now() - this.#sampledAt > PARTS_SAMPLE_MS) {
      this.#sampling ??= this.#sample().finally(() => {
        this.#sampling = undefined
      })
      await this.#sampling
    }
    const bytes = parts * PART_BYTES
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  async #sample(): Promise<void> {
    const { usedBytes, limitBytes } = await this.#read()
    this.#left = (limitBytes * PARTS_SHARE - usedBytes) * SAMPLE_SHARE
    this.#sampledAt = performance.now()
  }
}
