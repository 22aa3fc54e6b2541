/**
 * Runs a redrive task, one batch at a time.
 *
 * choose ──▶ recorded in the task, its items chosen ──move──▶ in lanes or queues ──finish──▶ gone from the source
 *
 * Every start of a task takes a new fence. Each step carries it and is refused under an older one. A crash after
 * `choose` leaves the batch in the task, and the next start gets the same one. The target shards remember the items of
 * that batch, so the repetition adds nothing, even if they have been delivered or consumed since.
 *
 * A batch ends only while the marks of everything that it moved still hold (copies/server-marks.ts).
 *
 * On a cluster the source's master may fail over and lose its latest writes. The targets may then have seen a later
 * batch than the task's. In that case the batch gets a number after that one and is moved, perhaps a second time;
 * otherwise it would be refused for ever.
 */
import type { Redis } from 'ioredis'
import { ServerMarks } from '../copies/server-marks.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { type ItemReply, type ReadItem, tryReadItem } from '../queues/items/queue-items.ts'
import { filterJson } from '../queues/items/redrive-counts.ts'
import { ReplicaAcks } from '../redis/replica-acks.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import {
  type Moved,
  REDRIVE_ITEMS_MAX,
  type RedriveBatch,
  type RedriveMove,
  RedriveMoves,
  type RedriveRun,
} from './redrive-moves.ts'
import { type PurgedPage, purgePage, taskPlace } from './redrive-records.ts'

const OPEN = readScript('open-redrive-1')
const CHOOSE = readScript('choose-redriven-1')
const FINISH = readScript('finish-redriven-1')
const RECORD_CANARY = readScript('record-canary-1')
const RENUMBER = readScript('renumber-redriven-1')

/** Bytes of one batch of a redrive. Past it: the next batch takes the others. */
const REDRIVE_BYTES_MAX = 4_194_304
/** Dead letters that one script looks at for a batch. Past it: the next script looks on. */
const REDRIVE_SCAN_ITEMS_MAX = 1_000

/**
 * `again`: this page has nothing to move. `wait`: the rate does not allow a batch yet. `canary`: the first messages are
 * moved, and their ends are awaited. `caughtUp`: a resend that follows has sent everything. `stop`: the task is paused
 * or ended. `stale`: another run has the task.
 */
export type RedriveChoice =
  | { kind: 'batch'; batch: RedriveBatch }
  | { kind: 'wait'; waitMs: number }
  | { kind: 'canary'; waitedMs: number }
  | { kind: 'again' | 'caughtUp' | 'stop' | 'stale' }

interface RedriveBatchesOptions {
  redis: Redis
  lanes: Pick<Lanes, 'parkRedriven'>
  subscriptions: Pick<Subscriptions, 'locate'>
  /** The connection for appends, which waits for replicas. Default: `redis`, and replicas are not waited for. */
  acks?: ReplicaAcks
}

export class RedriveBatches {
  readonly #redis: Redis
  readonly #moves: RedriveMoves

  constructor({ redis, lanes, subscriptions, acks = new ReplicaAcks(redis) }: RedriveBatchesOptions) {
    this.#redis = redis
    const servers = new ServerMarks([redis, acks.redis])
    this.#moves = new RedriveMoves({ lanes, subscriptions, acks, servers })
  }

  /** Returns the fence of a new run, which makes all earlier runs stale. null: the task must not be run. */
  async open(id: string): Promise<number | null> {
    const fence = await runScript(this.#redis, OPEN, taskPlace(id))
    return fence === 0 ? null : (fence as number)
  }

  async choose(run: RedriveRun): Promise<RedriveChoice> {
    const reply = await runScript(this.#redis, CHOOSE, {
      ...taskPlace(run.id),
      fence: run.fence,
      itemsMax: REDRIVE_ITEMS_MAX,
      bytesMax: REDRIVE_BYTES_MAX,
      lookedAtMax: REDRIVE_SCAN_ITEMS_MAX,
      filterJson: filterJson(run.filter),
    })
    const [kind, value, items] = reply as ChooseReply
    switch (String(kind)) {
      case 'batch':
        return { kind: 'batch', batch: { number: value ?? 0, items: (items ?? []).map(batchItem) } }
      case 'wait':
        return { kind: 'wait', waitMs: value ?? 0 }
      case 'canary':
        return { kind: 'canary', waitedMs: value ?? 0 }
      default:
        return { kind: String(kind) as 'again' | 'stop' | 'stale' }
    }
  }

  /** Ends the wait for a canary. With a reason the task pauses itself. Returns false if another run has the task. */
  async recordCanary({ id, fence }: RedriveRun, reason = ''): Promise<boolean> {
    return (await runScript(this.#redis, RECORD_CANARY, { ...taskPlace(id), fence, reason })) === 1
  }

  /** The next step of a purge task. */
  purge(run: RedriveRun): Promise<PurgedPage> {
    return purgePage(this.#redis, run)
  }

  /** Moves each message to its place. Safe to repeat. */
  move(run: RedriveRun, batch: RedriveBatch): Promise<RedriveMove> {
    return this.#moves.move(run, batch)
  }

  /**
   * Gives the open batch a number after `laterBatch`, so that the target accepts it. Returns false if another run has
   * the task.
   */
  async renumber(run: RedriveRun, number: number, laterBatch: number): Promise<boolean> {
    const args = { ...taskPlace(run.id), fence: run.fence, batch: number, number: laterBatch + 1 }
    return (await runScript(this.#redis, RENUMBER, args)) === 1
  }

  /**
   * Ends the batch, and with `error` the task. Returns false if another run has the task. Throws if Redis may have lost
   * moved messages. The batch then stays open and is moved again.
   */
  async finish(
    run: RedriveRun,
    number: number,
    moved: Map<string, boolean>,
    { error = '', marks = [], shards = [], inLanes = 0 }: { error?: string } & Partial<Moved> = {},
  ): Promise<boolean> {
    if (!marks.every((mark) => mark.holds())) throw new Error('a connection to Redis has closed meanwhile')
    const items = Array.from(moved, ([item, isMoved]) => ({ item, isMoved }))
    const args = {
      ...taskPlace(run.id),
      fence: run.fence,
      batch: number,
      failure: error,
      shards: shards.join(','),
      inLanes,
      items,
    }
    return (await runScript(this.#redis, FINISH, args)) === 1
  }
}

type ChooseReply = [kind: Buffer, value?: number, items?: ItemReply[]]

function batchItem(reply: ItemReply): RedriveBatch['items'][number] {
  return { id: String(reply[0]), item: reply[1] == null ? null : readable(reply) }
}

/** null: the letter cannot be decoded. It stays in the source until a receive moves it to the quarantine. */
function readable(reply: ItemReply): ReadItem | null {
  const item = tryReadItem(reply)
  return 'problem' in item ? null : item
}
