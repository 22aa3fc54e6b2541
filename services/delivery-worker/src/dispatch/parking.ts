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
 * A checkpoint must not outlive the deliveries that were parked before it. If Redis may have lost these, the run's
 * latest batch in the shard is looked up first (jobs: run-copies.ts).
 */

import { randomBytes } from 'node:crypto'
import type { DispatchRun } from '@fantail/jobs'
import { createStateLog, type Logger } from '@fantail/runtime'
import {
  batchField,
  type LaneStore,
  type ParkAs,
  type ParkJob,
  type ParkMessage,
  type ParkOutcome,
  type Standing,
  shardBase,
} from '@fantail/store'
import { reportParts } from '../shards/part-states.ts'
import { ShardQueue } from '../shards/shard-queue.ts'
import type { MessageContext } from '../topics/message-context.ts'

/** @limit Deliveries that one script parks. Past it: a further script follows. */
const ENTRIES_PER_SCRIPT_MAX = 500
const NAME_BYTES = 9

/** The part of a run that parking needs. */
export interface FencedRun {
  key: string
  fence: number
  lost: boolean
  /** True if no checkpoint is needed any more. */
  ended: boolean
  copies: Pick<DispatchRun['copies'], 'mark' | 'sent' | 'parked' | 'proveIn'>
  /** Checkpoint fields of this shard that have changed since the last that was stored. */
  checkpointFields(shard: number): [string, Buffer][]
  /** Called when the fields that were read last are stored. */
  checkpointed(shard: number): void
}

interface ParkItem {
  run: FencedRun
  subscriptionId: string
  delivery: Buffer
  context: MessageContext
  park: ParkAs
  /** Absent: the endpoint's standing has not changed. */
  standing?: Standing | undefined
  /**
   * Marks the delivery as settled in the checkpoint of its run. Called right before the script that parks the delivery.
   */
  mark(): void
  /** Called once. `stale`: the run is lost, and another worker has the delivery. */
  done(outcome: ParkOutcome | 'stale', lease: string | null): void
}

type Item = ParkItem | { run: FencedRun; checkpoint: true }

export class Parking {
  readonly #lanes: Pick<LaneStore, 'park'>
  readonly #queue: ShardQueue<Item>
  readonly #onDue: (shard: number, nextDueAt: number | null) => void

  /** Number of each batch. It stays the same for every try. */
  readonly #numbers = new WeakMap<Item[], number>()
  #batches = 0
  /** The beginning of the names of this process's batches. */
  readonly #name = randomBytes(NAME_BYTES).toString('base64url')

  constructor(
    lanes: Pick<LaneStore, 'park'>,
    log: Logger,
    onDue: (shard: number, nextDueAt: number | null) => void,
  ) {
    this.#lanes = lanes
    this.#onDue = onDue
    this.#queue = new ShardQueue<Item>({
      batchMax: ENTRIES_PER_SCRIPT_MAX,
      run: (shard, batch) => this.#run(shard, batch),
      report: reportParts(createStateLog({ log, what: 'parking', initial: 'up' })),
    })
  }

  park(shard: number, item: ParkItem): void {
    this.#queue.push(shard, item)
  }

  /** Writes which deliveries the run has settled in this shard. */
  checkpoint(shard: number, run: FencedRun): void {
    this.#queue.push(shard, { run, checkpoint: true })
  }

  whenIdle(): Promise<void> {
    return this.#queue.whenIdle()
  }

  async #run(shard: number, batch: Item[]): Promise<void> {
    const groups = groupByRun(batch)
    await proveCopies(shard, [...groups.keys()])
    for (const items of groups.values()) for (const item of items) item.mark()
    const name = `${this.#name}.${this.#numberOf(batch)}`
    const { request, groupsSent } = buildRequest(shard, groups, name)
    const marks = groupsSent.map((run) => run.copies.mark(shardBase(shard)))
    for (const run of groupsSent) if (groups.get(run)?.length) run.copies.sent(shard, name)
    const result =
      request.jobs.length === 0 ? { jobs: [], nextDueAt: null } : await this.#lanes.park(shard, request)
    for (const [run, items] of groups) {
      const at = groupsSent.indexOf(run)
      const parked = result.jobs[at]
      if (!parked || parked.stale) run.lost = true
      else run.checkpointed(shard)
      const mark = marks[at]
      if (mark && parked?.stale === false && items.length > 0) run.copies.parked(shard, name, mark)
      items.forEach((item, i) => {
        if (!parked || parked.stale) item.done('stale', null)
        else item.done(parked.outcomes[i] ?? 'gone', parked.leases[i] ?? null)
      })
    }
    this.#onDue(shard, result.nextDueAt)
  }

  #numberOf(batch: Item[]): number {
    const number = this.#numbers.get(batch) ?? ++this.#batches
    this.#numbers.set(batch, number)
    return number
  }
}

/**
 * Checks the copies of all runs. A run that has lost a copy becomes lost. Resolves in the turn of the event loop in
 * which all other copies hold.
 */
async function proveCopies(shard: number, runs: FencedRun[]): Promise<void> {
  for (;;) {
    const open = runs.filter((run) => !run.lost && !run.ended)
    const asked = open.map((run) => ({ run, proven: run.copies.proveIn(shard) }))
    if (asked.every(({ proven }) => proven === true)) return
    await Promise.all(
      asked.map(async ({ run, proven }) => {
        if (!(await proven)) run.lost = true
      }),
    )
  }
}

function groupByRun(batch: Item[]): Map<FencedRun, ParkItem[]> {
  const groups = new Map<FencedRun, ParkItem[]>()
  for (const item of batch) {
    const items = groups.get(item.run) ?? []
    if (!('checkpoint' in item)) items.push(item)
    groups.set(item.run, items)
  }
  return groups
}

function buildRequest(shard: number, groups: Map<FencedRun, ParkItem[]>, batch: string) {
  const messages: ParkMessage[] = []
  const positions = new Map<MessageContext, number>()
  const jobs: ParkJob[] = []
  const groupsSent: FencedRun[] = []
  const position = (context: MessageContext) => {
    let at = positions.get(context)
    if (at === undefined) {
      at = messages.push({ id: context.id, body: context.body }) - 1
      positions.set(context, at)
    }
    return at
  }
  for (const [run, items] of groups) {
    if (run.lost || run.ended) continue
    const entries = items.map(({ subscriptionId, delivery, context, park, standing }) => ({
      subscriptionId,
      delivery,
      message: position(context),
      park,
      standing,
    }))
    groupsSent.push(run)
    const fields = run.checkpointFields(shard)
    if (entries.length > 0) fields.push(batchField(batch))
    jobs.push({ job: run.key, fence: run.fence, fields, entries })
  }
  return { request: { messages, jobs }, groupsSent }
}
