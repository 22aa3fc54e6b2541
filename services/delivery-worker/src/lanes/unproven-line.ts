/**
 * Tracks for each shard when its lanes of unproven endpoints are served, and which shard is next.
 *
 * All shards form one line. The first is the shard whose first lane has waited longest. A take from it serves the lanes
 * that have waited longer than the first lane of any other shard. A worker's knowledge may be out of date, since other
 * workers take too. The reply to a take corrects it.
 */

/**
 * A lane may go before a lane of another shard that began to wait earlier, by at most this time. So lanes of a shard
 * that began to wait at about the same time are served by one take.
 */
const SLACK_MS = 250

export interface ShardInLine {
  shard: number
  /** Redis time since which the first lane of the shard has waited. */
  at: number
  /** Lanes that have waited since this time or longer are served. undefined: all are. */
  till: number | undefined
}

export class UnprovenLine {
  readonly #shards = new Map<number, number>()

  /**
   * Sets the time of the shard's first lane. null: no lane waits. Returns true if the time is earlier than the known
   * one.
   */
  report(shard: number, at: number | null): boolean {
    if (at === null || (this.#shards.get(shard) ?? Number.POSITIVE_INFINITY) <= at) return false
    this.#shards.set(shard, at)
    return true
  }

  /** Called when a take from the shard begins. Its reply will give the next time. */
  forget(shard: number): void {
    this.#shards.delete(shard)
  }

  /** The first shard in the line, whether its time has come or not. */
  get first(): ShardInLine | undefined {
    let first: ShardInLine | undefined
    let second = Number.POSITIVE_INFINITY
    for (const [shard, at] of this.#shards) {
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
