/**
 * Room in Redis for parts of jobs. Their bodies are copies: a backlog that was published up to the watermark could fill the
 * rest of the memory several times over, and in a full one BullMQ starts no job, so that nothing would ever end. What
 * dispatch and parking need beyond the watermark is therefore never given to parts.
 */
import { type MemorySample, PUBLISH_SHARE, type Redis, readMemory } from '@fantail/store'

const SAMPLE_EVERY_MS = 250
/** Of the room, what one consumer may give away by one sample: others do so at the same time. */
const SAMPLE_SHARE = 1 / 8

export class PartsRoom {
  readonly #read: () => Promise<MemorySample>
  #sampledAt = Number.NEGATIVE_INFINITY
  #sampling: Promise<void> | undefined
  #left = 0

  constructor(redis: Redis, read = () => readMemory(redis)) {
    this.#read = read
  }

  /** Whether so many bytes may be added; counted as added where they may. Rejects where Redis fails. */
  async take(bytes: number): Promise<boolean> {
    if (performance.now() - this.#sampledAt > SAMPLE_EVERY_MS) {
      this.#sampling ??= this.#sample().finally(() => {
        this.#sampling = undefined
      })
      await this.#sampling
    }
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  async #sample(): Promise<void> {
    const { usedBytes, limitBytes } = await this.#read()
    this.#left = (limitBytes * PUBLISH_SHARE - usedBytes) * SAMPLE_SHARE
    this.#sampledAt = performance.now()
  }
}
