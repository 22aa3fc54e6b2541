/**
 * The copies that a run has written, because of which its job will be deleted. Redis may lose its latest writes, and
 * come back with the job but without the copies (server-marks.ts). Each copy therefore has a mark. Every mark must hold
 * before the job is completed, and before a checkpoint says that more is settled. If a mark does not hold:
 *
 * - A parked batch, or an opened checkpoint, is looked up in the shard by its name. If it is there, it gets a new mark
 * and the run continues. If not, the run is lost.
 * - For any other copy (appended, quarantined, dropped, handed out) the run is lost.
 *
 * A job whose run is lost starts again from its checkpoints. That repeats deliveries and loses none. None of this costs
 * a command while connections stay open.
 */
import { type CheckpointNames, type ServerMark, shardBase } from '@fantail/store'

interface CopyInShard extends Partial<CheckpointNames> {
  mark: ServerMark
}

interface RunCopiesOptions {
  mark(key: string): ServerMark
  /** Reads the names in the run's checkpoint in the shard. */
  readNames(shard: number): Promise<CheckpointNames>
}

/** When the connection that completes the job was opened. Marks know this of all other connections. */
type OpenSince = () => number

const ALWAYS: OpenSince = () => Number.NEGATIVE_INFINITY

export class RunCopies {
  readonly #options: RunCopiesOptions
  readonly #inShards = new Map<number, CopyInShard>()
  /** Marks by key. Only the first mark of a key is kept, because no later one of the key outlasts it. */
  readonly #others = new Map<string, ServerMark>()

  constructor(options: RunCopiesOptions) {
    this.#options = options
  }

  /** Must be called before the copy is written. */
  mark(key: string): ServerMark {
    return this.#options.mark(key)
  }

  /** Notes that the batch is in the shard's lanes. */
  parked(shard: number, batch: string, mark: ServerMark): void {
    this.#inShards.set(shard, { mark, batch })
  }

  /** Notes that the shard's earlier checkpoint was read, under this run's fence. */
  opened(shard: number, fence: number, mark: ServerMark): void {
    if (!this.#inShards.has(shard)) this.#inShards.set(shard, { mark, fence: String(fence) })
  }

  /** Notes a copy that cannot be looked up again. */
  wrote(mark: ServerMark): void {
    if (!this.#others.has(mark.key)) this.#others.set(mark.key, mark)
  }

  /** Whether all marks hold, so that the job may be completed in this turn of the event loop. */
  stand(openSince = ALWAYS): boolean {
    return this.#standIn([...this.#inShards.keys()], openSince)
  }

  /**
   * Returns true if the job may be completed in this turn of the event loop, and false if the run is lost. Rejects if
   * Redis does not answer, or if a connection closes meanwhile.
   */
  prove(openSince = ALWAYS): Promise<boolean> {
    return this.#prove([...this.#inShards.keys()], openSince)
  }

  /** Like `prove`, before a write to the run's checkpoint in the shard. */
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
    // Another batch may have been parked meanwhile. It has its own mark, which stays.
    if (this.#inShards.get(shard) === copy) this.#inShards.set(shard, { ...copy, mark })
    return true
  }
}

function holds(mark: ServerMark, openSince: OpenSince): boolean {
  return mark.holds() && openSince() <= mark.at
}
