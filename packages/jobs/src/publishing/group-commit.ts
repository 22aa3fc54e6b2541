/**
 * Group commit: requests that arrive during a write are written together in the next one.
 *
 * A request is waiting (in `waiting`), in a write (its group was given to `write`), or answered. It leaves `waiting`
 * exactly once: into a group, or by its deadline. A request that was answered "not stored" is therefore in no later
 * group. When idle, no timer runs and no latency is added, because the first request starts a write at once.
 *
 * The next write waits until as many requests have come as the last ones took, but only for a few ms from the start of
 * the last one. Publishers that wait for their answers then come back together. Without this pause, the first of them
 * would start a write alone, and the others would wait for it. Publishers that do not wait for their answers get larger
 * groups, too. A lone publisher does not wait.
 *
 * Usually one write is in flight. Another starts when the waiting requests fill a group, or when the oldest is older
 * than `secondWriteAfterMs`. There are at most `writesMax` writes. A group is bounded by messages, bytes and
 * deliveries. A request is never split.
 */
import { FantailError } from '@fantail/contracts'

export interface GroupLimits {
  messagesMax: number
  bytesMax: number
  deliveriesMax: number
  writesMax: number
  gatheredMax: number
  gatherMsEach: number
  gatherMsMax: number
  secondWriteAfterMs: number
  pendingBytesMax: number
  pendingMs: number
}

/** The share of the expected requests that is still expected if the last write took fewer. */
const EXPECTED_KEPT = 0.8

/** docs/performance.md has what a pause saves (fan-out 1, half load). */
const GROUP_LIMITS: GroupLimits = {
  /** Messages of one group. Past it: the others wait for a further write. */
  messagesMax: 128,
  /** Text of one group; a larger request is a group of its own. Past it: the others wait for a further write. */
  bytesMax: 1_048_576,
  /** Expected deliveries of one group. Past it: the others wait for a further write. */
  deliveriesMax: 1_000,
  /** Writes of one dispatch queue under way at a time. Past it: requests wait. */
  writesMax: 8,
  /** Requests that a write waits for. Past it: it does not wait for more. */
  gatheredMax: 32,
  /** How long a write waits for each of them. Past it: it starts with those that have come. */
  gatherMsEach: 2,
  /** How long a write waits for all of them. Past it: it starts with those that have come. */
  gatherMsMax: 8,
  secondWriteAfterMs: 10,
  /**
   * @limit memory (API, each dispatch queue; worker, each dispatch queue) Text of all requests that wait for one
   * dispatch queue in a process. Past it: `storage_unavailable`.
   */
  pendingBytesMax: 67_108_864,
  // A caller should be answered within two seconds, including the time on the network.
  /** @limit Wait of one request. Past it: `storage_unavailable`; the message is not stored. */
  pendingMs: 1_500,
}

interface GroupCommitOptions<T> {
  /** Stores one group atomically. Rejects if the group is not stored, or if that is unknown. */
  write(items: T[]): Promise<void>
  /** False while nothing can be written. Requests then wait for `flush()` or their deadline. */
  canWrite?(): boolean
  limits?: Partial<GroupLimits>
}

/** The part of a group's bounds that a request uses. */
export interface RequestWeight {
  bytes: number
  /** Expected number of subscriptions that receive each message. */
  fanOut: number
}

interface Request<T> extends RequestWeight {
  items: T[]
  since: number
  resolve(): void
  reject(error: unknown): void
}

export class GroupCommit<T> {
  readonly #options: GroupCommitOptions<T>
  readonly #limits: GroupLimits
  #waiting: Request<T>[] = []
  #waitingBytes = 0
  #waitingMessages = 0
  #writes = 0
  /** When the last write started, by performance.now(). */
  #startedAt = Number.NEGATIVE_INFINITY
  /** How many requests the next write waits for: as many as the last one took, or a little less than before that. */
  #expected = 0
  #scheduled = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options
    this.#limits = { ...GROUP_LIMITS, ...options.limits }
  }

  /** Number of requests that are not in a write yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Resolves when the request is stored. Rejects with the error of `write`. Rejects with `storage_unavailable` if the
   * request was refused, or reached its deadline before a write. In that case it is certainly not stored.
   */
  add(items: T[], weight: RequestWeight): Promise<void> {
    if (this.#waitingBytes + weight.bytes > this.#limits.pendingBytesMax) {
      return Promise.reject(notStored('too many publishes are waiting for storage'))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, ...weight, since: performance.now(), resolve, reject })
      this.#waitingBytes += weight.bytes
      this.#waitingMessages += items.length
      this.#schedule()
    })
  }

  /** Starts every write that may start now. Called when the storage works again. */
  flush(): void {
    this.#refuseOverdue()
    while (this.#mayWrite()) void this.#writeGroup(this.#nextGroup())
    this.#armTimer()
  }

  /** Refuses waiting requests. Requests that are being written get the result of their write. */
  close(): void {
    clearTimeout(this.#timer)
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    this.#waitingMessages = 0
    for (const request of waiting) request.reject(notStored('shutting down'))
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    // Runs after this turn of the event loop, so that requests from one read of many sockets go together.
    setImmediate(() => {
      this.#scheduled = false
      this.flush()
    })
  }

  #mayWrite(): boolean {
    const oldest = this.#waiting[0]
    if (!oldest || this.#writes >= this.#limits.writesMax) return false
    if (this.#options.canWrite?.() === false) return false
    if (this.#isFull()) return true
    if (this.#writes === 0 && this.#waiting.length >= this.#expected) return true
    return performance.now() >= this.#mayWriteAt(oldest)
  }

  /** When the next write may start if no further request arrives. */
  #mayWriteAt({ since }: Request<T>): number {
    const { gatherMsEach, gatherMsMax, secondWriteAfterMs } = this.#limits
    if (this.#writes > 0) return since + secondWriteAfterMs
    return this.#startedAt + Math.min(gatherMsEach * this.#expected, gatherMsMax)
  }

  /** The waiting requests fill a group, so waiting longer would not make it larger. */
  #isFull(): boolean {
    return this.#waitingMessages >= this.#limits.messagesMax || this.#waitingBytes >= this.#limits.bytesMax
  }

  #nextGroup(): Request<T>[] {
    const { messagesMax, bytesMax, deliveriesMax } = this.#limits
    let [messages, bytes, deliveries, count] = [0, 0, 0, 0]
    for (const request of this.#waiting) {
      messages += request.items.length
      bytes += request.bytes
      deliveries += request.items.length * request.fanOut
      if (count > 0 && (messages > messagesMax || bytes > bytesMax || deliveries > deliveriesMax)) break
      count++
    }
    const group = this.#waiting.splice(0, count)
    for (const request of group) this.#forget(request)
    return group
  }

  #forget({ bytes, items }: Request<T>): void {
    this.#waitingBytes -= bytes
    this.#waitingMessages -= items.length
  }

  async #writeGroup(group: Request<T>[]): Promise<void> {
    this.#writes++
    this.#startedAt = performance.now()
    const expected = Math.max(group.length, Math.floor(this.#expected * EXPECTED_KEPT))
    this.#expected = Math.min(expected, this.#limits.gatheredMax)
    try {
      await this.#options.write(
        group.length === 1 && group[0] ? group[0].items : group.flatMap((r) => r.items),
      )
      for (const request of group) request.resolve()
    } catch (error) {
      for (const request of group) request.reject(error)
    } finally {
      this.#writes--
      this.flush()
    }
  }

  #refuseOverdue(): void {
    const limit = performance.now() - this.#limits.pendingMs
    while (this.#waiting[0] && this.#waiting[0].since <= limit) {
      const request = this.#waiting.shift()
      if (!request) return
      this.#forget(request)
      request.reject(notStored('storage did not take the publish in time'))
    }
  }

  /** Sets one timer, for the next write or for the deadline of the oldest request. None is set if nothing waits. */
  #armTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const oldest = this.#waiting[0]
    if (!oldest) return
    const writable = this.#options.canWrite?.() !== false && this.#writes < this.#limits.writesMax
    const dueAt = writable ? this.#mayWriteAt(oldest) : oldest.since + this.#limits.pendingMs
    this.#timer = setTimeout(() => this.flush(), Math.max(1, dueAt - performance.now()))
  }
}

function notStored(why: string): FantailError {
  return new FantailError('storage_unavailable', `${why}; the message is not stored`, {
    retryAfterSeconds: 1,
  })
}
