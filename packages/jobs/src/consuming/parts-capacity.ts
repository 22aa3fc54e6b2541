/**
 * Capacity of Redis for parts of jobs. A backlog up to the watermark must not be one worker's work, job by job. Nor may
 * the parts of all its jobs fill Redis: when memory is full BullMQ starts no job, and nothing would ever end. So parts
 * may use a little beyond the watermark, and leave the rest to dispatch and parking.
 */
import { type MemorySample, type Redis, readMemory } from '@fantail/store'

const PARTS_SAMPLE_MS = 250
/**
 * Publishing ends at PUBLISH_SHARE.
 * @limit memory Share of Redis's memory up to which parts are added. Past it: a large job is left whole.
 */
export const PARTS_SHARE = 0.8
/**
 * @limit Share of that capacity that one consumer uses by one sample, since others do so at the same time. Past it: a
 * large job is left whole.
 */
const SAMPLE_SHARE = 1 / 8
/** Memory of a part with its entry among the job's children. Measured: 1,020 bytes with a job number of one digit. */
export const PART_BYTES = 1_200

interface PartsCapacityOptions {
  redis: Redis
  /** Stands for maxmemory where Redis has none (FANTAIL_REDIS_MEMORY_BYTES). */
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

  /** Whether so many parts may be added; counted as added where they may. Rejects where Redis fails. */
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
