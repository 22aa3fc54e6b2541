/**
 * Knows for each shard when its lanes of unproven endpoints have their turn, and which shard is next.
 *
 * All shards form one line. The first is the shard whose first lane has waited longest. A take from it serves the lanes
 * that have waited longer than the first lane of any other shard. A worker's knowledge may be out of date, since other
 * workers take too. The reply to a take corrects it.
 */

/**
 * A lane may go before one of another shard that began to wait up to this much earlier. Lanes that began to wait
 * together then go in one take.
 */
const SLACK_MS = 250

export interface ShardTurn {
  shard: number
  /** Redis time of its first. */
  at: number
  /** Lanes that have waited since this time or longer have their turn. undefined: all have. */
  till: number | undefined
}

export class TurnLine {
  readonly #turns = new Map<number, number>()

  /** Returns true if the time is earlier than the known one. null: no lane waits. */
  report(shard: number, at: number | null): boolean {
    if (at === null || (this.#turns.get(shard) ?? Number.POSITIVE_INFINITY) <= at) return false
    this.#turns.set(shard, at)
    return true
  }

  /** Called when the shard is being taken from. The reply will give its next time. */
  forget(shard: number): void {
    this.#turns.delete(shard)
  }

  /** The first shard in the line, whether its time has come or not. */
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
