/**
 * What a run has written elsewhere: its job is deleted because of these copies. Redis may come back without its last
 * moments, with the job and without the copies (server-marks.ts). So each copy has a mark, and before the job is
 * completed, or a checkpoint says that more of it is settled, every mark holds. Where one does not:
 *
 *   parked, or a checkpoint opened ─▶ its name is looked up in the shard ─┬─ there ─▶ marked anew, the run goes on
 *   anything else: appended, quarantined, dropped, handed out             └─ gone  ─▶ the run is lost
 *                                      └──────────────────────────────────────────▶ the run is lost
 *
 * A job whose run is lost starts anew from its checkpoints, which repeats deliveries and loses none. Nothing of this
 * costs a command while connections stay open.
 */
import { type CheckpointNames, type ServerMark, shardBase } from '@fantail/store'

interface CopyInShard extends Partial<CheckpointNames> {
  mark: ServerMark
}

interface RunCopiesOptions {
  mark(key: string): ServerMark
  /** The names in the run's checkpoint in the shard. */
  readNames(shard: number): Promise<CheckpointNames>
}

/** When the connection that the job is completed on was opened; the others are known by their marks. */
type OpenSince = () => number

const ALWAYS: OpenSince = () => Number.NEGATIVE_INFINITY

export class RunCopies {
  readonly #options: RunCopiesOptions
  readonly #inShards = new Map<number, CopyInShard>()
  /** By key; the first mark of a key ends before any later one. */
  readonly #others = new Map<string, ServerMark>()

  constructor(options: RunCopiesOptions) {
    this.#options = options
  }

  /** To be taken before the copy is written. */
  mark(key: string): ServerMark {
    return this.#options.mark(key)
  }

  /** The batch is in the shard's lanes. */
  parked(shard: number, batch: string, mark: ServerMark): void {
    this.#inShards.set(shard, { mark, batch })
  }

  /** The shard's earlier checkpoint was read, under this run's fence. */
  opened(shard: number, fence: number, mark: ServerMark): void {
    if (!this.#inShards.has(shard)) this.#inShards.set(shard, { mark, fence: String(fence) })
  }

  /** A copy that cannot be looked up again. */
  wrote(mark: ServerMark): void {
    if (!this.#others.has(mark.key)) this.#others.set(mark.key, mark)
  }

  /** The job may be completed now, in this turn of the event loop. */
  stand(openSince = ALWAYS): boolean {
    return this.#standIn([...this.#inShards.keys()], openSince)
  }

  /**
   * False where the run is lost. True: the job may be completed in this turn of the event loop. Rejects where Redis
   * does not answer, or a connection closes meanwhile.
   */
  prove(openSince = ALWAYS): Promise<boolean> {
    return this.#prove([...this.#inShards.keys()], openSince)
  }

  /** Like `prove`, for a write to the run's checkpoint in the shard. */
  proveIn(shard: number): Promise<boolean> | true {
    return this.#standIn([shard], ALWAYS) || this.#prove([shard], ALWAYS)
  }

  #standIn(shards: number[], openSince: OpenSince): boolean {
    const inShards = shards.map((shard) => this.#inShards.get(shard)?.mark)
    return [...inShards, ...this.#others.values()].every((mark) => !mark || holds(mark, openSince))
  }

  async #prove(shards: number[], openSince: OpenSince): Promise<boolean> {
    if (![...this.#others.values()].every((mark) => holds(mark, openSince))) return false
    const found = await Promise.all(shards.map((shard) => this.#find(shard, openSince)))
    if (found.includes(false)) return false
    if (!this.#standIn(shards, openSince)) throw new Error('a connection to Redis has closed meanwhile')
    return true
  }

  async #find(shard: number, openSince: OpenSince): Promise<boolean> {
    const copy = this.#inShards.get(shard)
    if (!copy || holds(copy.mark, openSince)) return true
    const mark = this.#options.mark(shardBase(shard))
    const { fence, batch } = await this.#options.readNames(shard)
    if (copy.batch === undefined ? fence !== copy.fence : batch !== copy.batch) return false
    // Unless another batch was parked meanwhile, with its own mark.
    if (this.#inShards.get(shard) === copy) this.#inShards.set(shard, { ...copy, mark })
    return true
  }
}

function holds(mark: ServerMark, openSince: OpenSince): boolean {
  return mark.holds() && openSince() <= mark.at
}
