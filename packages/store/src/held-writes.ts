/**
 * Writes after which somebody forgets a copy of his own: parks (the job that is completed), appends to queues (the lane
 * entry, the sender). With FANTAIL_MIN_REPLICAS they are waited for as publishes are, else a failover in the next moment
 * could lose what only the new place has. On a connection of its own: nothing else is answered on it meanwhile.
 *
 * A shard whose master has too few replicas goes on without them, and is asked again after a pause: what it holds up
 * would be everything, and publishing says already that copies are missing. `strict` is for what a caller is told of.
 */
import { FantailError } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { nodeOf } from './cluster.ts'

const WAIT_MS = 1_000
const PAUSE_MS = 5_000

export interface HeldWritesOptions {
  /** FANTAIL_MIN_REPLICAS. */
  minReplicas: number
  /** Too few replicas are an error, `storage_unavailable`. */
  strict?: boolean
}

export class HeldWrites {
  /** The connection to write on. */
  readonly redis: Redis
  readonly #options: HeldWritesOptions
  /** By the connection to a master: until when its replicas are not waited for. */
  readonly #pausedUntil = new WeakMap<Redis, number>()

  constructor(redis: Redis, options: HeldWritesOptions = { minReplicas: 0 }) {
    this.redis = redis
    this.#options = options
  }

  /**
   * To be awaited right after the reply to a write; rejects where the connection is lost, and the write may be too. With
   * `strict` false also a strict one is content with what replicas there are.
   */
  async confirm(key: string, strict = this.#options.strict): Promise<void> {
    const { minReplicas } = this.#options
    if (minReplicas === 0) return
    const node = nodeOf(this.redis, key)
    if (!strict && performance.now() < (this.#pausedUntil.get(node) ?? 0)) return
    const reached = await node.wait(minReplicas, WAIT_MS)
    if (reached >= minReplicas) return
    if (strict) throw tooFewReplicas(reached, minReplicas)
    this.#pausedUntil.set(node, performance.now() + PAUSE_MS)
  }
}

export function tooFewReplicas(reached: number, minReplicas: number): FantailError {
  const message = `stored, but only ${reached} of ${minReplicas} replicas confirmed it; it may be lost in a failover`
  return new FantailError('storage_unavailable', message, { retryAfterSeconds: 1 })
}
