/**
 * Parks deliveries and writes checkpoints. All runs share the scripts: one script per shard writes for all of them.
 *
 * A park carries its run's fence, and the run's checkpoint as it will be after the park. Both are one write, so a
 * worker that takes the job over finds exactly what is settled. If the park is refused as stale, the run is lost.
 *
 * A batch is sent again until a reply comes. Each batch has a name, by which the script recognises a repeated try. The
 * script then does not park a delivery again that has left its lane since, and counts no delivery twice. Names contain
 * random bytes, so no two processes use the same name. This matters after a failover, when two runs may have the same
 * fence. With equal names, the script would take a batch of one run for a repeated batch of the other, and not park it.
 *
 * If data of a lane is unreadable, a delivery for it cannot be parked. The others of its batch are parked, and the run
 * stores that. Then the run is lost. Later starts of the job try the delivery alone, after growing pauses
 * (isolating-runs.ts).
 *
 * A checkpoint must not outlive the deliveries that were parked before it. If Redis may have lost these, the run's
 * latest batch in the shard is looked up first (jobs: run-copies.ts).
 */
import { randomBytes } from 'node:crypto'
import { createStateLog, joinStates, type Logger } from '@fantail/runtime'
import { type Lanes, type ParkedJob, type ParkResult, shardBase } from '@fantail/store'
import {
  buildRequest,
  type FencedRun,
  groupByRun,
  type Item,
  type ParkItem,
  proveCopies,
} from './park-items.ts'
import { ShardQueue } from './shard-queue.ts'

/** Deliveries that one script parks. Past it: a further script follows. */
const ENTRIES_PER_SCRIPT_MAX = 500
const NAME_BYTES = 9
const NOTHING_PARKED: ParkResult = { jobs: [], nextDueAt: null }

interface ParkedRun {
  shard: number
  run: FencedRun
  items: ParkItem[]
  parked: Exclude<ParkedJob, { stale: true }>
  name: string
  mark: ReturnType<FencedRun['copies']['mark']> | undefined
}

export class Parking {
  readonly #lanes: Pick<Lanes, 'park'>
  readonly #queue: ShardQueue<Item>
  readonly #log: Logger
  readonly #onDue: (shard: number, nextDueAt: number | null) => void

  /** Number of each batch. It stays the same for every try. */
  readonly #numbers = new WeakMap<Item[], number>()
  #batches = 0
  /** The beginning of the names of this process's batches. */
  readonly #name = randomBytes(NAME_BYTES).toString('base64url')

  constructor(
    lanes: Pick<Lanes, 'park'>,
    log: Logger,
    onDue: (shard: number, nextDueAt: number | null) => void,
  ) {
    this.#lanes = lanes
    this.#log = log
    this.#onDue = onDue
    this.#queue = new ShardQueue<Item>({
      batchMax: ENTRIES_PER_SCRIPT_MAX,
      run: (shard, batch) => this.#run(shard, batch),
      drop: (shard, item, error) => this.#giveUp(shard, item, error),
      report: joinStates(createStateLog({ log, what: 'parking', initial: 'up' })),
    })
  }

  park(shard: number, item: ParkItem): void {
    this.#queue.push(shard, item)
  }

  /** Writes which deliveries the run has settled in this shard. `written`: as in CheckpointItem. */
  checkpoint(shard: number, run: FencedRun, written?: () => void): void {
    this.#queue.push(shard, { run, checkpoint: true, ...(written && { written }) })
  }

  get pending(): number {
    return this.#queue.pending
  }

  whenIdle(): Promise<void> {
    return this.#queue.whenIdle()
  }

  async #run(shard: number, batch: Item[]): Promise<void> {
    const groups = groupByRun(batch)
    await proveCopies(shard, [...groups.keys()])
    for (const items of groups.values()) for (const item of items) item.settle(true)
    const { result, groupsSent, marks, name } = await this.#send(shard, batch, groups)
    const unwritten = new Set<FencedRun>()
    for (const [run, items] of groups) {
      const at = groupsSent.indexOf(run)
      const parked = result.jobs[at]
      const mark = marks[at]
      if (!parked || parked.stale) {
        run.lost = true
        for (const item of items) item.done('stale', null)
      } else if (!this.#parked({ shard, run, items, parked, name, mark })) unwritten.add(run)
    }
    for (const item of batch) {
      if (!('checkpoint' in item)) continue
      if (unwritten.has(item.run)) this.#queue.push(shard, item)
      else item.written?.()
    }
    this.#onDue(shard, result.nextDueAt)
  }

  /** If it fails, a part of the batch may be sent next. The checkpoint must not have the other deliveries then. */
  async #send(shard: number, batch: Item[], groups: Map<FencedRun, ParkItem[]>) {
    try {
      const name = `${this.#name}.${this.#numberOf(batch)}`
      const { request, groupsSent } = buildRequest(shard, groups, name)
      const marks = groupsSent.map((run) => run.copies.mark(shardBase(shard)))
      for (const run of groupsSent) if (groups.get(run)?.length) run.copies.sent(shard, name)
      const isEmpty = request.jobs.length === 0
      const result = isEmpty ? NOTHING_PARKED : await this.#lanes.park(shard, request)
      return { result, groupsSent, marks, name }
    } catch (error) {
      for (const items of groups.values()) for (const item of items) item.settle(false)
      throw error
    }
  }

  /** Returns false if the run's checkpoint could not be written. */
  #parked({ shard, run, items, parked, name, mark }: ParkedRun): boolean {
    const { outcomes, leases } = parked
    if (mark && items.length > 0) run.copies.parked(shard, name, mark)
    const failed = items.filter((_, i) => typeof outcomes[i] === 'object')
    if (failed.length > 0) this.#lose(shard, run, failed)
    else run.checkpointed(shard)
    items.forEach((item, i) => {
      const outcome = outcomes[i] ?? 'unsubscribed'
      if (typeof outcome === 'object') this.#logFailed(shard, item, outcome.error)
      else item.done(outcome, leases[i] ?? null)
    })
    return failed.length === 0
  }

  /** The run has not written its checkpoint. It does so now, without the failed deliveries, and is lost then. */
  #lose(shard: number, run: FencedRun, failed: ParkItem[]): void {
    for (const item of failed) item.settle(false)
    const written = () => {
      run.lost = true
      for (const item of failed) item.done('stale', null)
    }
    this.#queue.push(shard, { run, checkpoint: true, written })
  }

  /** Called if the script fails for this item alone, although Redis works. */
  #giveUp(shard: number, item: Item, error: unknown): void {
    item.run.lost = true
    if ('checkpoint' in item) {
      this.#log.error({ shard, job: item.run.jobName, err: error }, 'parking.checkpoint_failed')
      item.written?.()
      return
    }
    this.#logFailed(shard, item, error instanceof Error ? error.message : String(error))
    item.done('stale', null)
  }

  #logFailed(shard: number, { run, subscriptionId, context }: ParkItem, error: string): void {
    const { messageId, topicArn } = context.message
    this.#log.error({ shard, job: run.jobName, subscriptionId, messageId, topicArn, error }, 'parking.failed')
  }

  #numberOf(batch: Item[]): number {
    const number = this.#numbers.get(batch) ?? ++this.#batches
    this.#numbers.set(batch, number)
    return number
  }
}
