/**
 * Writes after which somebody forgets a copy of his own: parks (the job that is completed), appends to queues (the lane
 * entry, the sender). With FANTAIL_MIN_REPLICAS they are waited for as publishes are, else a failover in the next moment
 * could lose what only the new place has. On a connection of its own: nothing else is answered on it meanwhile.
 *
 * A shard whose master has too few replicas goes on without them, and is asked again after a pause: what it holds up
 * would be everything, and publishing says already that copies are missing. `strict` is for what a caller is told of.
 *
 * One WAIT at a time, for all writes whose replies have come before it: it blocks its connection, for all of its second
 * where a replica is missing. One each let what came in a burst block each other beyond the time that a command has.
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

/** Of one master: the WAIT that is under way, and the one that comes after it. */
interface Waits {
  running: Promise<unknown>
  next: Promise<number> | undefined
  /** Of those who wait for the next: somebody is to be told. */
  strict: boolean
}

export class HeldWrites {
  /** The connection to write on. */
  readonly redis: Redis
  readonly #options: HeldWritesOptions
  /** By the connection to a master: until when its replicas are not waited for. */
  readonly #pausedUntil = new WeakMap<Redis, number>()
  readonly #waits = new WeakMap<Redis, Waits>()

  constructor(redis: Redis, options: HeldWritesOptions = { minReplicas: 0 }) {
    this.redis = redis
    this.#options = options
  }

  /**
   * To be awaited right after the reply to a write; rejects where the connection is lost, and the write may be too. With
   * `strict` false also a strict one is content with what replicas there are.
   */
  async confirm(key: string, strict = this.#options.strict ?? false): Promise<void> {
    const { minReplicas } = this.#options
    if (minReplicas === 0) return
    const node = nodeOf(this.redis, key)
    if (!strict && this.#isPaused(node)) return
    const reached = await this.#replicasOf(node, strict)
    if (strict && reached < minReplicas) throw tooFewReplicas(reached, minReplicas)
  }

  #isPaused(node: Redis): boolean {
    return performance.now() < (this.#pausedUntil.get(node) ?? 0)
  }

  /** How many hold what was written so far; where nobody strict asks during a pause, as many as there should be. */
  #replicasOf(node: Redis, strict: boolean): Promise<number> {
    let waits = this.#waits.get(node)
    if (!waits) {
      waits = { running: Promise.resolve(), next: undefined, strict: false }
      this.#waits.set(node, waits)
    }
    waits.strict ||= strict
    waits.next ??= this.#waitNext(node, waits)
    return waits.next
  }

  async #waitNext(node: Redis, waits: Waits): Promise<number> {
    await waits.running
    // After this turn: the replies that one read brings are confirmed together.
    await new Promise((resolve) => setImmediate(resolve))
    const { strict } = waits
    waits.next = undefined
    waits.strict = false
    const { minReplicas } = this.#options
    if (!strict && this.#isPaused(node)) return minReplicas
    const asked = node.wait(minReplicas, WAIT_MS)
    waits.running = asked.catch(() => undefined)
    const reached = await asked
    if (reached < minReplicas) this.#pausedUntil.set(node, performance.now() + PAUSE_MS)
    return reached
  }
}

function tooFewReplicas(reached: number, minReplicas: number): FantailError {
  const message = `stored, but only ${reached} of ${minReplicas} replicas confirmed it; it may be lost in a failover`
  return new FantailError('storage_unavailable', message, { retryAfterSeconds: 1 })
}
