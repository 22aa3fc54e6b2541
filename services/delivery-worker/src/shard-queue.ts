/**
 * Items for one shard's scripts: what arrives while a script runs goes together into the next one. A batch that failed
 * is tried again, later and later, until it is done: the scripts are safe to repeat. What comes after it may rely on it,
 * and waits.
 */
import type { TellPart } from './part-states.ts'

const RETRY_MS_MIN = 100
const RETRY_MS_MAX = 2_000

export interface ShardQueueOptions<T> {
  batchMax: number
  /** Runs the script; `batch` is never empty. */
  run(shard: number, batch: T[]): Promise<void>
  tell: TellPart
}

interface Line<T> {
  items: T[]
  running: boolean
}

export class ShardQueue<T> {
  readonly #options: ShardQueueOptions<T>
  readonly #lines = new Map<number, Line<T>>()
  /** Items that no script has dealt with yet. */
  #pending = 0
  #idle: (() => void)[] = []

  constructor(options: ShardQueueOptions<T>) {
    this.#options = options
  }

  push(shard: number, item: T): void {
    let line = this.#lines.get(shard)
    if (!line) {
      line = { items: [], running: false }
      this.#lines.set(shard, line)
    }
    this.#pending++
    line.items.push(item)
    if (line.running) return
    line.running = true
    // After this turn, so that what one reply of Redis or one burst of answers brings goes together.
    const started = line
    setImmediate(() => void this.#drain(shard, started))
  }

  /** Resolves when nothing is pending. */
  async whenIdle(): Promise<void> {
    if (this.#pending === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  async #drain(shard: number, line: Line<T>): Promise<void> {
    while (line.items.length > 0) {
      const batch = line.items.splice(0, this.#options.batchMax)
      await this.#runUntilDone(shard, batch)
      this.#pending -= batch.length
    }
    line.running = false
    if (this.#pending === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #runUntilDone(shard: number, batch: T[]): Promise<void> {
    for (let delayMs = RETRY_MS_MIN; ; delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)) {
      try {
        await this.#options.run(shard, batch)
        this.#options.tell(shard, 'up')
        return
      } catch (error) {
        this.#options.tell(shard, 'down', error)
        await new Promise((resolve) => setTimeout(resolve, delayMs * (0.5 + Math.random() / 2)))
      }
    }
  }
}
