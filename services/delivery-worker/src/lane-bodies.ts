/** Messages of claimed deliveries: fetched once per message and shard, kept while there is room (64 MiB). */
import type { Message } from '@fantail/contracts'
import type { LaneStore } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import { MessageContext } from './message-context.ts'

const CACHE_BYTES_MAX = 67_108_864

export class LaneBodies {
  readonly #lanes: LaneStore
  readonly #publicUrl: string | undefined
  readonly #cache = new LRUCache<string, MessageContext>({
    maxSize: CACHE_BYTES_MAX,
    // The stored text, the message parsed from it, and its envelope.
    sizeCalculation: (context) => 1_000 + context.body.length * 4,
  })

  constructor(lanes: LaneStore, publicUrl: string | undefined) {
    this.#lanes = lanes
    this.#publicUrl = publicUrl
  }

  /** By position; null where the body is gone, an Error where it cannot be read. */
  async get(shard: number, deliveries: Buffer[]): Promise<(MessageContext | Error | null)[]> {
    const keys = deliveries.map((delivery) => delivery.toString('latin1', 0, 16))
    const missing = [...new Set(keys.filter((key) => !this.#cache.has(key)))]
    const fetched = new Map<string, MessageContext | Error | null>()
    if (missing.length > 0) {
      const bodies = await this.#lanes.messages(
        shard,
        missing.map((key) => Buffer.from(key, 'latin1')),
      )
      missing.forEach((key, i) => {
        fetched.set(key, this.#read(bodies[i] ?? null))
      })
    }
    return keys
      .map((key) => this.#cache.get(key) ?? fetched.get(key) ?? null)
      .map((context, i) => {
        const key = keys[i]
        if (context instanceof MessageContext && key !== undefined) this.#cache.set(key, context)
        return context
      })
  }

  #read(body: Buffer | null): MessageContext | Error | null {
    if (body === null) return null
    const text = body.toString()
    try {
      return new MessageContext(JSON.parse(text) as Message, this.#publicUrl, text)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }
}
