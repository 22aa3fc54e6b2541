/**
 * A run's job is deleted because its deliveries were copied elsewhere, such as to lanes, queues or the quarantine. This
 * class remembers these copies. Redis may lose its latest writes, and come back with the job but without the copies
 * (server-marks.ts). Each copy therefore has a mark. Every mark must hold before the job is completed. If a mark does
 * not hold:
 *
 * - A parked batch, or an opened checkpoint, is looked up in the shard by its name. If it is there, it gets a new mark
 * and the run continues. If not, the run is lost.
 * - For any other copy (appended, quarantined, dropped, handed out) the run is lost when it ends.
 *
 * Before a checkpoint is written, the batches parked in its shard must still exist. A checkpoint leaves out deliveries
 * whose copies in queues may be gone (delivery-worker: bit-copies.ts). If an ended run is lost, it first writes such a
 * checkpoint. The next start then makes only these copies again.
 *
 * A job whose run is lost starts again from its checkpoints. That repeats deliveries and loses none. None of this costs
 * a command while connections stay open.
 */
import { type CheckpointNames, type Redis, type ServerMark, shardBase } from '@fantail/store'

interface CopyInShard extends Partial<CheckpointNames> {
  mark: ServerMark
}

interface RunCopiesOptions {
  mark(key: string): ServerMark
  readNames(shard: number): Promise<CheckpointNames>
}

/** Writes the checkpoint of an ended run, without deliveries whose copies may be gone. Safe to repeat. */
type SaveSettled = (holds: (copy: ServerMark) => boolean) => Promise<void>

export class RunCopies {
  readonly #options: RunCopiesOptions
  readonly #inShards = new Map<number, CopyInShard>()
  /** Marks by key. Only the first mark of a key is kept, because no later one of the key outlasts it. */
  readonly #others = new Map<string, ServerMark>()
  /** The last batch that was sent to each shard. Redis may have it even if its reply was lost. */
  readonly #sent = new Map<number, string>()
  #saveSettled: SaveSettled | undefined

  constructor(options: RunCopiesOptions) {
    this.#options = options
  }

  /** Must be called before the copy is written. */
  mark(key: string): ServerMark {
    return this.#options.mark(key)
  }

  /** Must be called before each attempt to send a batch. */
  sent(shard: number, batch: string): void {
    this.#sent.set(shard, batch)
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

  /**
   * Whether the run has copies that cannot be looked up again. If the mark of such a copy does not hold, the run is
   * lost.
   */
  get hasUnnamed(): boolean {
    return this.#others.size > 0
  }

  /** Must be called when the run has ended. If the run is lost after that, `save` is called. */
  beforeLoss(save: SaveSettled): void {
    this.#saveSettled = save
  }

  /** Writes the checkpoint of an ended run that is about to be lost. Rejects if Redis does not answer. */
  async saveSettled(sentOn?: Redis): Promise<void> {
    await this.#saveSettled?.((copy) => copy.holds(sentOn))
  }

  /** Whether all marks hold, so that the job may be completed on `sentOn` in this turn of the event loop. */
  hold(sentOn?: Redis): boolean {
    return this.#unnamedHold(sentOn) && this.#holdIn([...this.#inShards.keys()], sentOn)
  }

  /**
   * Returns true if the job may be completed in this turn of the event loop, and false if the run is lost. Rejects if
   * Redis does not answer, if a connection closes meanwhile, or if the connections lead to different servers.
   */
  async prove(sentOn?: Redis): Promise<boolean> {
    const proven = this.#unnamedHold(sentOn) && (await this.#prove([...this.#inShards.keys()], sentOn))
    return proven && this.#unnamedHold(sentOn)
  }

  /** Like `prove`, but before a write to the run's checkpoint in this shard: only copies in this shard matter. */
  proveIn(shard: number): Promise<boolean> | true {
    return this.#holdIn([shard]) || this.#prove([shard])
  }

  #unnamedHold(sentOn?: Redis): boolean {
    return [...this.#others.values()].every((mark) => mark.holds(sentOn))
  }

  #holdIn(shards: number[], sentOn?: Redis): boolean {
    const inShards = shards.map((shard) => this.#inShards.get(shard)?.mark)
    return inShards.every((mark) => !mark || mark.holds(sentOn))
  }

  async #prove(shards: number[], sentOn?: Redis): Promise<boolean> {
    const found = await Promise.all(shards.map((shard) => this.#find(shard, sentOn)))
    if (found.includes(false)) return false
    if (!this.#holdIn(shards, sentOn))
      throw new Error('a connection to Redis has closed, or leads to another server than the others')
    return true
  }

  async #find(shard: number, sentOn?: Redis): Promise<boolean> {
    const copy = this.#inShards.get(shard)
    if (!copy || copy.mark.holds(sentOn)) return true
    const mark = this.#options.mark(shardBase(shard))
    const { fence, batch } = await this.#options.readNames(shard)
    const found = batch !== null && batch === this.#sent.get(shard) ? { batch } : undefined
    if (!found && (copy.batch === undefined ? fence !== copy.fence : batch !== copy.batch)) return false
    // Another batch may have been parked meanwhile. It has its own mark, which stays.
    if (this.#inShards.get(shard) === copy) this.#inShards.set(shard, { ...copy, ...found, mark })
    return true
  }
}
