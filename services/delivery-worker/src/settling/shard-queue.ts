/**
 * Collects items for scripts, per shard. Items that arrive while a script runs go together into the next one. If Redis
 * fails, the batch is tried again, with growing delays, until it succeeds. The scripts allow this, because each may be
 * repeated without harm. Later items of the shard wait meanwhile, because they may depend on the batch.
 *
 * A script may also fail because of one item, for example if the data of its lane is unreadable. The batch is tried a
 * few times, and then in halves, until the faulty item is alone. That item is given up, so it never stops its shard.
 *
 * Items that are not urgent may wait for a moment if the last script of their shard began just before. They then share
 * a script with other items, and one write with other shards.
 */
import type { ReportMember } from '@fantail/runtime'
import { isScriptFault } from '@fantail/store'

/** First pause before a failed script is tried again. The pause doubles with each try. */
const RETRY_MS_MIN = 100
/** Longest pause before a failed script is tried again. */
const RETRY_MS_MAX = 2_000
/** Tries of a script that fails although Redis works. Past it: its items are tried in halves. */
const FAULTY_TRIES_MAX = 3
const LINGER_MS = 50

interface ShardQueueOptions<T> {
  batchMax: number
  /** Runs the script; `batch` is never empty. */
  run(shard: number, batch: T[]): Promise<void>
  /** Called with an item whose script fails although Redis works. The item must not be waited for any longer. */
  drop(shard: number, item: T, error: unknown): void
  report: ReportMember
}

interface Line<T> {
  items: T[]
  running: boolean
  /** When its last script began, by performance.now(). */
  ranAt: number
}

export class ShardQueue<T> {
  readonly #options: ShardQueueOptions<T>
  readonly #lines = new Map<number, Line<T>>()
  /** Number of items that no script has handled yet. */
  #pending = 0
  readonly #lingering = new Map<number, Line<T>>()
  #timer: NodeJS.Timeout | undefined
  #idle: (() => void)[] = []

  constructor(options: ShardQueueOptions<T>) {
    this.#options = options
  }

  push(shard: number, item: T): void {
    this.#begin(shard, this.#add(shard, item))
  }

  /** Like `push`, but up to LINGER_MS later. */
  pushLingering(shard: number, item: T): void {
    const line = this.#add(shard, item)
    if (line.running) return
    if (performance.now() - line.ranAt > LINGER_MS) {
      this.#begin(shard, line)
      return
    }
    this.#lingering.set(shard, line)
    this.#timer ??= setTimeout(() => this.#beginLingering(), LINGER_MS)
  }

  get pending(): number {
    return this.#pending
  }

  /** Resolves when no item is left. */
  async whenIdle(): Promise<void> {
    this.#beginLingering()
    if (this.#pending === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #add(shard: number, item: T): Line<T> {
    let line = this.#lines.get(shard)
    if (!line) {
      line = { items: [], running: false, ranAt: Number.NEGATIVE_INFINITY }
      this.#lines.set(shard, line)
    }
    this.#pending++
    line.items.push(item)
    return line
  }

  #begin(shard: number, line: Line<T>): void {
    if (line.running) return
    line.running = true
    // Waits for the end of this turn. Items from one reply of Redis, or from one burst of answers, then go together.
    setImmediate(() => void this.#drain(shard, line))
  }

  #beginLingering(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [shard, line] of this.#lingering) this.#begin(shard, line)
    this.#lingering.clear()
  }

  async #drain(shard: number, line: Line<T>): Promise<void> {
    while (line.items.length > 0) {
      const batch = line.items.splice(0, this.#options.batchMax)
      line.ranAt = performance.now()
      await this.#runUntilDone(shard, batch)
      this.#pending -= batch.length
    }
    line.running = false
    if (this.#pending === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #runUntilDone(shard: number, batch: T[]): Promise<void> {
    const { run, report } = this.#options
    let faults = 0
    for (let delayMs = RETRY_MS_MIN; ; delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)) {
      try {
        await run(shard, batch)
        report(shard, 'up')
        return
      } catch (error) {
        faults = isFault(error) ? faults + 1 : 0
        if (faults >= FAULTY_TRIES_MAX) return this.#runInHalves(shard, batch, error)
        report(shard, 'down', error)
        await new Promise((resolve) => setTimeout(resolve, delayMs * (0.5 + Math.random() / 2)))
      }
    }
  }

  /** Runs the halves of a faulty batch one after the other, so that its items keep their order. */
  async #runInHalves(shard: number, batch: T[], error: unknown): Promise<void> {
    const { drop, report } = this.#options
    const [item] = batch
    if (batch.length > 1) {
      const middle = batch.length >> 1
      await this.#runHalf(shard, batch.slice(0, middle))
      await this.#runHalf(shard, batch.slice(middle))
    } else if (item !== undefined) drop(shard, item, error)
    report(shard, 'up')
  }

  async #runHalf(shard: number, half: T[]): Promise<void> {
    try {
      await this.#options.run(shard, half)
    } catch (error) {
      await (isFault(error) ? this.#runInHalves(shard, half, error) : this.#runUntilDone(shard, half))
    }
  }
}

/** Whether the items are the cause, and not the state of Redis or of the connection. */
function isFault(error: unknown): boolean {
  return isScriptFault(error) || error instanceof TypeError || error instanceof RangeError
}
