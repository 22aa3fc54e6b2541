/** Messages of claimed deliveries: fetched once per message and shard, kept while there is room (64 MiB). */
import type { Message } from '@fantail/contracts'
import type { LaneStore } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import { MessageContext } from './message-context.ts'

const CACHE_BYTES_MAX = 67_108_864
/** Asked for at once, but answered and kept by so many: of much that comes slowly, the next try has less to wait for. */
const BODIES_TOGETHER = 100

export class LaneBodies {
  readonly #lanes: Pick<LaneStore, 'messages'>
  readonly #publicUrl: string | undefined
  readonly #cache = new LRUCache<string, MessageContext>({
    maxSize: CACHE_BYTES_MAX,
    // The stored text, the message parsed from it, and its envelope.
    sizeCalculation: (context) => 1_000 + context.body.length * 4,
  })

  constructor(lanes: Pick<LaneStore, 'messages'>, publicUrl: string | undefined) {
    this.#lanes = lanes
    this.#publicUrl = publicUrl
  }

  /** By position; null where the body is gone, an Error where it cannot be read. */
  async get(shard: number, deliveries: Buffer[]): Promise<(MessageContext | Error | null)[]> {
    const keys = deliveries.map((delivery) => delivery.toString('latin1', 0, 16))
    // Taken out of the cache now: it may have dropped any of them by the time the others have come.
    const found = new Map<string, MessageContext | Error | null>()
    for (const key of keys) {
      const known = this.#cache.get(key)
      if (known) found.set(key, known)
    }
    const missing = [...new Set(keys.filter((key) => !found.has(key)))]
    if (missing.length > 0) {
      const asked: Promise<void>[] = []
      for (let at = 0; at < missing.length; at += BODIES_TOGETHER)
        asked.push(this.#fetch(shard, missing.slice(at, at + BODIES_TOGETHER), found))
      await Promise.all(asked)
    }
    return keys.map((key) => found.get(key) ?? null)
  }

  async #fetch(shard: number, keys: string[], found: Map<string, MessageContext | Error | null>) {
    const bodies = await this.#lanes.messages(
      shard,
      keys.map((key) => Buffer.from(key, 'latin1')),
    )
    keys.forEach((key, i) => {
      const context = this.read(bodies[i] ?? null)
      found.set(key, context)
      if (context instanceof MessageContext) this.#cache.set(key, context)
    })
  }

  /** One that was read elsewhere, and that a lane will soon ask for. */
  keep(context: MessageContext): void {
    this.#cache.set(context.id.toString('latin1'), context)
  }

  /** null where there is no body, an Error where it cannot be read. */
  read(body: Buffer | null): MessageContext | Error | null {
    if (body === null) return null
    const text = body.toString()
    try {
      return new MessageContext(JSON.parse(text) as Message, this.#publicUrl, text)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }
}
