/**
 * Limits the memory for messages of running attempts: attempts of lanes, and first attempts that take longer than a
 * second. The number of slots is not enough as a limit: 2,000 attempts with messages of 256 KB would need gigabytes.
 *
 * Hanging attempts may use half of the bytes, as with slots (attempt-slots.ts). If an attempt of a proven endpoint
 * hangs for a second, it moves to the half of the unproven endpoints, even if that half is full. Proven endpoints
 * always keep their half. So for the length of one deadline, all attempts may hold one and a half times the limit. A
 * message counts once in each half, however many deliveries use it.
 */
import type { CapacityAnnouncer } from '../capacity/freed-capacity.ts'
import type { Follower } from '../messages/followers.ts'
import type { MessageContext } from '../messages/message-context.ts'

/**
 * About 128 messages of 256 KB fit, or 27,000 of 1 KB.
 * @limit memory (worker × 1.5) Bytes of the messages of a worker's lane attempts, and of first attempts that take
 * longer than a second, counted as four bytes per character. For the length of one attempt's deadline, up to 1.5 times
 * as many. Past it: claims go back to their lanes.
 */
const BODY_BYTES_MAX = 134_217_728
/** Bytes that a message takes in addition to its text. */
const CONTEXT_BYTES = 1_000
/** Bytes per character of the text. They are for the stored text, the parsed message, and its envelope. */
const BYTES_PER_CHARACTER = 4

/** Approximate bytes that a message takes in memory. */
export function bytesOf(context: MessageContext): number {
  return CONTEXT_BYTES + context.body.length * BYTES_PER_CHARACTER
}

/** The bytes that one attempt holds, until `release`. */
export interface HeldBodies {
  /** Called when the attempt has had no answer for a second. */
  hang(): void
  release(): void
}

/** The bytes that one take loads. They count until its messages are passed on. */
export interface LoadingBodies {
  readonly hasCapacity: boolean
  add(context: MessageContext): void
  end(): void
}

interface BodyBytesOptions {
  bytesMax?: number | undefined
  freed: CapacityAnnouncer
}

export class BodyBytes {
  readonly #bytesMax: number
  readonly #freed: CapacityAnnouncer
  readonly #proven = new Side()
  readonly #unproven = new Side()
  #loadingBytes = 0
  readonly #moves: Moves = {
    hang: (contexts, side) => {
      if (side !== this.#proven) return side
      for (const context of contexts) {
        this.#unproven.add(context)
        this.#proven.remove(context)
      }
      this.#freed.announce()
      return this.#unproven
    },
    release: (contexts, side) => {
      for (const context of contexts) side.remove(context)
      this.#freed.announce()
    },
  }

  constructor({ bytesMax = BODY_BYTES_MAX, freed }: BodyBytesOptions) {
    this.#bytesMax = bytesMax
    this.#freed = freed
  }

  get bytes(): number {
    return this.#proven.bytes + this.#unproven.bytes
  }

  hasCapacity(proven: boolean): boolean {
    return this.#freeOf(proven) > 0
  }

  /**
   * How many more attempts there is capacity for, by the average of the present ones. If there is any capacity, it is
   * at least one.
   */
  attemptsLeft(proven: boolean): number {
    const free = this.#freeOf(proven) - this.#loadingBytes
    if (free <= 0) return 0
    return Math.ceil(free / (proven ? this.#proven : this.#unproven).average)
  }

  /** Holds the bytes of a message. Undefined if there is no capacity. The last message may exceed the limit. */
  tryHold(
    context: MessageContext,
    proven: boolean,
    followers: readonly Follower[] = [],
  ): HeldBodies | undefined {
    if (!this.hasCapacity(proven)) return undefined
    return this.hold([context, ...followers.map(({ context }) => context)], proven)
  }

  hold(contexts: readonly MessageContext[], proven: boolean): HeldBodies {
    const side = proven ? this.#proven : this.#unproven
    for (const context of contexts) side.add(context)
    return new HeldContexts(contexts, side, this.#moves)
  }

  load(): LoadingBodies {
    const hasCapacity = () => this.#freeOf(true) > this.#loadingBytes
    const count = (bytes: number) => {
      this.#loadingBytes += bytes
    }
    let own = 0
    return {
      get hasCapacity() {
        return hasCapacity()
      },
      add: (context) => {
        const bytes = bytesOf(context)
        own += bytes
        count(bytes)
      },
      end: () => {
        count(-own)
        own = 0
        // Another class may wait for just these bytes.
        this.#freed.announce()
      },
    }
  }

  #freeOf(proven: boolean): number {
    const half = this.#bytesMax / 2
    if (proven) return this.#bytesMax - this.#proven.bytes - Math.min(this.#unproven.bytes, half)
    return Math.min(half, this.#bytesMax - this.#proven.bytes) - this.#unproven.bytes
  }
}

/** One half of the bytes: for proven endpoints, or for all others. */
class Side {
  bytes = 0
  #attempts = 0
  readonly #times = new Map<MessageContext, number>()

  /** Average bytes of an attempt. If several attempts share a message, its bytes are divided among them. */
  get average(): number {
    return this.#attempts === 0 ? CONTEXT_BYTES : Math.max(1, this.bytes / this.#attempts)
  }

  add(context: MessageContext): void {
    const times = this.#times.get(context) ?? 0
    this.#times.set(context, times + 1)
    this.#attempts++
    if (times === 0) this.bytes += bytesOf(context)
  }

  remove(context: MessageContext): void {
    const times = this.#times.get(context) ?? 0
    this.#attempts--
    if (times > 1) this.#times.set(context, times - 1)
    else if (this.#times.delete(context)) this.bytes -= bytesOf(context)
  }
}

interface Moves {
  /** Returns the half that has the bytes now. */
  hang(contexts: readonly MessageContext[], side: Side): Side
  release(contexts: readonly MessageContext[], side: Side): void
}

/** An object without functions of its own, because every attempt of a lane has one. */
class HeldContexts implements HeldBodies {
  readonly #contexts: readonly MessageContext[]
  /** Undefined: the bytes were released. */
  #side: Side | undefined
  readonly #moves: Moves

  constructor(contexts: readonly MessageContext[], side: Side, moves: Moves) {
    this.#contexts = contexts
    this.#side = side
    this.#moves = moves
  }

  hang(): void {
    if (this.#side) this.#side = this.#moves.hang(this.#contexts, this.#side)
  }

  release(): void {
    const side = this.#side
    this.#side = undefined
    if (side) this.#moves.release(this.#contexts, side)
  }
}
