/**
 * Loads the messages of claimed deliveries from Redis. A message is loaded once for all its deliveries in a shard, and
 * cached.
 */
import { bodySealsOf, type Links } from '@fantail/delivery'
import { type BodySeals, type Lanes, SealKeyError } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import { contextOf, MessageContext } from '../messages/message-context.ts'
import { bytesOf, type LoadingBodies } from './body-bytes.ts'

/** @limit memory (worker) Bodies that a worker caches. Past it: the least recently used one is dropped. */
const BODY_CACHE_BYTES_MAX = 67_108_864
/**
 * Bodies are read from Redis in groups of this size. If a group fails, the groups that have arrived stay in the cache.
 * The next try therefore reads fewer bodies.
 */
const BODIES_TOGETHER = 100
/** Groups that one take reads at the same time. */
const FETCHES_AT_ONCE = 2
/**
 * Bodies that a worker has requested from Redis and not received yet. Past it: further requests wait. This number of
 * bodies has at most 50 MB. They are two full groups, or many groups of a few bodies each.
 */
const COMING_MAX = 200

/** A body that cannot be decoded, with its bytes. */
export class UnreadableBody extends Error {
  readonly raw: Buffer

  constructor(raw: Buffer, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.raw = raw
  }
}

type Read = MessageContext | UnreadableBody | SealKeyError | null
export type LaneBody = Read | undefined
type Found = Map<string, Read>

interface Fetching {
  found: Found
  loading: LoadingBodies | undefined
}

export class LaneBodies {
  readonly #lanes: Pick<Lanes, 'bodies'>
  readonly #reading: Omit<Parameters<typeof contextOf>[1], 'lasting'>
  readonly #cache = new LRUCache<string, MessageContext>({
    maxSize: BODY_CACHE_BYTES_MAX,
    sizeCalculation: bytesOf,
  })

  /** Number of bodies that were requested and have not arrived. */
  #coming = 0
  readonly #waiting: (() => void)[] = []

  constructor(lanes: Pick<Lanes, 'bodies'>, links?: Links, seals: BodySeals = bodySealsOf(undefined)) {
    this.#lanes = lanes
    this.#reading = { seals, links }
  }

  /**
   * Returns a body for each delivery, in the same order. null: the body is gone. UnreadableBody: it cannot be decoded,
   * or is another message's. SealKeyError: it is sealed, and its key is missing. Undefined: it was not loaded,
   * because `loading` had no capacity for more. `brought`: bodies that are here already.
   */
  async get(
    shard: number,
    deliveries: Buffer[],
    loading?: LoadingBodies,
    brought?: ReadonlyMap<string, Buffer>,
  ): Promise<LaneBody[]> {
    const keys = deliveries.map((delivery) => delivery.toString('latin1', 0, 16))
    // The cache may drop a message before the other messages arrive. Keep the messages that it has now.
    const found: Found = new Map()
    for (const key of keys) {
      const known = this.#cache.get(key)
      const body = brought?.get(key)
      if (known) found.set(key, known)
      else if (body && !found.has(key)) this.#keep(key, body, { found, loading })
    }
    const missing = [...new Set(keys.filter((key) => !found.has(key)))]
    const fetchAll = async () => {
      while (missing.length > 0 && (await this.#fetchSome(shard, missing, { found, loading })));
    }
    if (missing.length > 0) await Promise.all(Array.from({ length: FETCHES_AT_ONCE }, fetchAll))
    return keys.map((key) => found.get(key))
  }

  /** Fetches the next group. Returns false if `loading` had no capacity for it. */
  async #fetchSome(shard: number, missing: string[], { found, loading }: Fetching): Promise<boolean> {
    const reserved = Math.min(missing.length, BODIES_TOGETHER)
    while (this.#coming > 0 && this.#coming + reserved > COMING_MAX)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (loading && !loading.hasCapacity) return false
    this.#coming += reserved
    try {
      await this.#fetch(shard, missing.splice(0, reserved), { found, loading })
    } finally {
      this.#coming -= reserved
      for (const resolve of this.#waiting.splice(0)) resolve()
    }
    return true
  }

  async #fetch(shard: number, keys: string[], { found, loading }: Fetching): Promise<void> {
    if (keys.length === 0) return
    const bodies = await this.#lanes.bodies(
      shard,
      keys.map((key) => Buffer.from(key, 'latin1')),
    )
    keys.forEach((key, i) => {
      this.#keep(key, bodies[i] ?? null, { found, loading })
    })
  }

  #keep(key: string, body: Buffer | null, { found, loading }: Fetching): void {
    const context = this.read(body, key)
    found.set(key, context)
    if (!(context instanceof MessageContext)) return
    this.#cache.set(key, context)
    loading?.add(context)
  }

  /** Caches a message that other code has read and that a lane will need soon. */
  cache(context: MessageContext): void {
    this.#cache.set(context.id.toString('latin1'), context)
  }

  /** `id`: the message's, in Latin-1. null: there is no body. The errors are those of `get`. */
  read(body: Buffer | null, id: string): Read {
    if (body === null) return null
    try {
      const context = contextOf(body.toString(), { ...this.#reading, lasting: true })
      if (context.id.toString('latin1') === id) return context
      return new UnreadableBody(body, new TypeError('it is the body of another message'))
    } catch (error) {
      return error instanceof SealKeyError ? error : new UnreadableBody(body, error)
    }
  }
}
