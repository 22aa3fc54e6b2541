/**
 * Waits for replicas (FANTAIL_MIN_REPLICAS) before a caller gets its answer, or before the source of a copy is deleted.
 * Examples are a parked delivery, whose job is completed next, and an appended message, whose lane entry is deleted
 * next. Without the wait, a failover in the next moment could lose the only copy. A wait blocks its connection, so it
 * needs a separate one.
 *
 * Redis's WAIT covers the writes of its own connection. Since Redis 7.2 a script that only reads does not count as a
 * write. A repeated publish writes nothing, because an earlier one, perhaps of another process, has. A barrier is
 * therefore written right before each WAIT. Replicas apply writes in order, so the barrier's offset covers every
 * earlier write.
 *
 * If too few replicas are connected, or if they were late three times in a row, a shard continues without them for a
 * while. Otherwise everything would stop, and publishing already reports that copies are missing. `strict` is for a
 * caller's answer: it fails after one wait.
 *
 * There is one WAIT at a time, for all writes whose replies came before it. It blocks its connection, for a whole
 * second if a replica is missing. With one WAIT per write, the writes of a burst would wait for each other until they
 * time out.
 */
import { FantailError } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { barrierKey } from '../keys/keys.ts'
import { isCluster, nodeOf } from './connections/cluster.ts'
import { readScript } from './scripts.ts'

const BARRIER = readScript('write-barrier-1')

/** @limit One WAIT for replicas. Past it: a publish gets 503, a move asks again. */
const ACKS_WAIT_MS = 1_000
/**
 * One WAIT of a publish after a failed one. Past it: the publish gets 503. A publish may wait for the writes before it,
 * and then for its own. Both together must take less than two seconds.
 */
const ACKS_WAIT_AGAIN_MS = 700
/** Time for which moves continue without replicas that did not answer. Past it: they are asked again. */
const REPLICAS_PAUSE_MS = 5_000
/**
 * Waits in a row in which connected replicas are late. Past it: moves continue without them. A failover may promote a
 * replica that is connected but late. A late replica on a busy machine therefore gets more than one wait.
 */
const LATE_WAITS_MAX = 3

/** Age of a wait that says how many replicas are missing. Past it: only Redis's own list of replicas says it. */
const WAITED_AGE_MS_MAX = 30_000

const NONE = Promise.resolve(undefined)

interface ReplicaLack {
  missing: number
  error: Error
}

export interface ReplicaAcksOptions {
  /** FANTAIL_MIN_REPLICAS. */
  minReplicas: number
  /** Too few replicas are an error (`storage_unavailable`). */
  strict?: boolean
  /** Called after each wait with the master, and with what it lacks if too few replicas have answered. */
  onWait?: ((node: Redis, lack: ReplicaLack | undefined) => void) | undefined
}

/** The state for one master: the running WAIT, and the next one. */
interface Waits {
  running: Promise<number | undefined>
  next: Promise<number> | undefined
  /** Whether the latest wait has found too few replicas. */
  failed: boolean
  /** Whether one of the next WAIT's callers needs a strict answer. */
  strict: boolean
  /** Barriers to write before the next WAIT: one per written slot. */
  barriers: Set<string>
  /** How many waits in a row had connected but late replicas. */
  late: number
}

export class ReplicaAcks {
  /** The connection to write on. */
  readonly redis: Redis
  readonly #options: ReplicaAcksOptions
  /** By connection to a master: until when its replicas are not waited for. */
  readonly #pausedUntil = new WeakMap<Redis, number>()
  readonly #waits = new WeakMap<Redis, Waits>()

  constructor(redis: Redis, options: ReplicaAcksOptions = { minReplicas: 0 }) {
    this.redis = redis
    this.#options = options
  }

  /**
   * Resolves when the replicas hold every write to the key's slot before the call, by any process. Rejects if the
   * connection is lost or the slot has moved to another master, because the write may then be lost too. `strict` false
   * overrides the option: missing replicas are then accepted.
   */
  async confirm(key: string, strict = this.#options.strict ?? false): Promise<void> {
    const { minReplicas } = this.#options
    if (minReplicas === 0) return
    const node = nodeOf(this.redis, key)
    if (strict) return this.#confirmStrictly(node, key)
    let reached = 0
    while (reached < minReplicas && !this.#isPaused(node))
      reached = await this.#replicasOf(node, barrierKey(key), false)
  }

  async #confirmStrictly(node: Redis, key: string): Promise<void> {
    const { minReplicas } = this.#options
    const reached = await this.#replicasOf(node, barrierKey(key), true).catch((error: unknown) => {
      throw unconfirmed(error)
    })
    if (reached < minReplicas) throw tooFewReplicas(reached, minReplicas)
  }

  /** Like `confirm`, for writes under any of the keys. */
  async confirmAll(keys: string[], strict?: boolean): Promise<void> {
    await Promise.all(keys.map((key) => this.confirm(key, strict)))
  }

  #isPaused(node: Redis): boolean {
    return performance.now() < (this.#pausedUntil.get(node) ?? 0)
  }

  /**
   * How many replicas hold the writes so far. During a pause, and without a strict caller, it returns the required
   * number without asking.
   */
  #replicasOf(node: Redis, barrier: string, strict: boolean): Promise<number> {
    let waits = this.#waits.get(node)
    if (!waits) {
      waits = { running: NONE, next: undefined, failed: false, strict: false, barriers: new Set(), late: 0 }
      this.#waits.set(node, waits)
    }
    waits.strict ||= strict
    // If nothing can move to another master, one barrier is enough.
    if (isCluster(this.redis) || waits.barriers.size === 0) waits.barriers.add(barrier)
    waits.next ??= this.#waitNext(node, waits)
    return waits.next
  }

  async #waitNext(node: Redis, waits: Waits): Promise<number> {
    const hadFailed = waits.failed
    const reachedBefore = await waits.running
    // Waits for the end of this turn, so that replies of one read are confirmed together.
    await new Promise((resolve) => setImmediate(resolve))
    const { strict, barriers } = waits
    waits.next = undefined
    waits.strict = false
    waits.barriers = new Set()
    if (!strict && this.#isPaused(node)) return this.#options.minReplicas
    // Two waits in a row have failed. Replicas that lack the earlier writes lack these, too. Nobody waits once more.
    if (strict && hadFailed && waits.failed && reachedBefore !== undefined) return reachedBefore
    const waitMs = strict && waits.failed ? ACKS_WAIT_AGAIN_MS : ACKS_WAIT_MS
    const asked = this.#ask(node, waits, { barriers, waitMs })
    const running = asked
      .catch(() => undefined)
      .finally(() => {
        if (waits.running === running) waits.running = NONE
      })
    waits.running = running
    return asked
  }

  async #ask(node: Redis, waits: Waits, { barriers, waitMs }: { barriers: Set<string>; waitMs: number }) {
    const { minReplicas } = this.#options
    const reached = await askReplicas(node, barriers, { minReplicas, waitMs })
    waits.failed = reached < minReplicas
    const lack = { missing: minReplicas - reached, error: tooFewReplicas(reached, minReplicas) }
    this.#options.onWait?.(node, waits.failed ? lack : undefined)
    if (reached >= minReplicas) waits.late = 0
    else if (await this.#goesOnWithout(node, waits))
      this.#pausedUntil.set(node, performance.now() + REPLICAS_PAUSE_MS)
    return reached
  }

  /** Whether to continue after a failed wait: no replica could be promoted, or late ones had all their waits. */
  async #goesOnWithout(node: Redis, waits: Waits): Promise<boolean> {
    // If this gets no answer, the next wait fails in the same way, or counts the replicas.
    const text = await node.info('replication').catch(() => '')
    const connected = /^connected_slaves:(\d+)/m.exec(text)?.[1]
    if (connected !== undefined && Number(connected) < this.#options.minReplicas) return true
    waits.late += 1
    return waits.late >= LATE_WAITS_MAX
  }
}

/** Follows the waits of a process. A master that has left its cluster does not count. */
export class ReplicaWatch {
  readonly #lacking = new Map<Redis, ReplicaLack & { at: number }>()
  readonly #onState: (state: 'up' | 'down', error?: Error) => void

  /** `onState`: called after each wait. It is `down` while replicas of any master are missing. */
  constructor(onState: (state: 'up' | 'down', error?: Error) => void) {
    this.#onState = onState
  }

  readonly onWait: NonNullable<ReplicaAcksOptions['onWait']> = (node, lack) => {
    if (lack) this.#lacking.set(node, { ...lack, at: performance.now() })
    else this.#lacking.delete(node)
    for (const one of this.#lacking.keys()) if (one.status === 'end') this.#lacking.delete(one)
    const [first] = this.#lacking.values()
    if (first) this.#onState('down', first.error)
    else this.#onState('up')
  }

  /** How many replicas were missing in the latest waits. Those of the worst master. */
  get missing(): number {
    const since = performance.now() - WAITED_AGE_MS_MAX
    const lately = [...this.#lacking].filter(([node, { at }]) => node.status !== 'end' && at > since)
    return Math.max(0, ...lately.map(([, { missing }]) => missing))
  }
}

/** Writes the barrier, also when memory is full. Rejects if Redis refuses writes. */
export async function writeBarrier(redis: Redis, barrier: string): Promise<void> {
  await redis.eval(BARRIER.lua, BARRIER.keys, barrier)
}

/**
 * Takes one round trip. EVALSHA could need a second one for an unknown script, but WAIT must follow the barrier
 * directly. A barrier in a slot that has moved is refused, so a WAIT at the wrong master never counts.
 */
async function askReplicas(
  node: Redis,
  barriers: Iterable<string>,
  { minReplicas, waitMs }: { minReplicas: number; waitMs: number },
): Promise<number> {
  const written = Array.from(barriers, (barrier) => writeBarrier(node, barrier))
  const [reached] = await Promise.all([node.wait(minReplicas, waitMs), ...written])
  return reached
}

function unconfirmed(cause: unknown): FantailError {
  const message = 'stored, but it is unknown whether replicas hold it; it may be lost in a failover'
  return new FantailError('storage_unavailable', message, { retryAfterSeconds: 1, cause })
}

function tooFewReplicas(reached: number, minReplicas: number): FantailError {
  const message = `stored, but only ${reached} of ${minReplicas} replicas confirmed it; it may be lost in a failover`
  return new FantailError('storage_unavailable', message, { retryAfterSeconds: 1 })
}
