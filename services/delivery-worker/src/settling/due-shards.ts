/** Tells the loop of lanes when a shard next has a due delivery. Whoever learns of it is below that loop. */
type OnDue = (shard: number, at: number | null) => void

export class DueShards {
  #listener: OnDue | undefined

  /** Before this call, nobody is told: the loop looks at every shard when it starts. */
  notify(listener: OnDue): void {
    this.#listener = listener
  }

  /** `at`: epoch ms by Redis's clock. null: nothing is due. */
  readonly report: OnDue = (shard, at) => this.#listener?.(shard, at)
}
