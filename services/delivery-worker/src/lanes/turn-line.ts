/**
 * When lanes of unproven endpoints have their turn, by shard, and which shard is next.
 *
 * All shards form one queue. The shard whose first lane has waited longest is taken from, up to where another shard's
 * first has waited longer. A worker's knowledge may be out of date, since other workers take too; the reply to a take
 * corrects it.
 */

/** A lane may go that much before one of another shard: lanes that began to wait together go in one take. */
const SLACK_MS = 250

export interface ShardTurn {
  shard: number
  /** Redis time of its first. */
  at: number
  /** Those that have waited since then or longer have their turn; undefined: all. */
  till: number | undefined
}

export class TurnLine {
  readonly #turns = new Map<number, number>()

  /** True if that is earlier than was known; null: nothing waits. */
  report(shard: number, at: number | null): boolean {
    if (at === null || (this.#turns.get(shard) ?? Number.POSITIVE_INFINITY) <= at) return false
    this.#turns.set(shard, at)
    return true
  }

  /** It is being taken from: the reply says when it is next. */
  forget(shard: number): void {
    this.#turns.delete(shard)
  }

  /** The shard that is first in the line, whether its time has come or not. */
  get first(): ShardTurn | undefined {
    let first: ShardTurn | undefined
    let second = Number.POSITIVE_INFINITY
    for (const [shard, at] of this.#turns) {
      if (first && at >= first.at) {
        second = Math.min(second, at)
      } else {
        if (first) second = first.at
        first = { shard, at, till: undefined }
      }
    }
    return first && second < Number.POSITIVE_INFINITY ? { ...first, till: second + SLACK_MS } : first
  }
}
