/**
 * Settles claims. One script per shard settles everything that has ended since the last one. A settlement is repeated
 * if Redis is unreachable. If its lease has ended meanwhile, it changes nothing, and the delivery is attempted again.
 * The same happens if a settlement fails because data of its lane is unreadable.
 *
 * Some claims end because of a copy (a dead letter, an append to a queue, an entry of the quarantine). Such a claim
 * ends only while the copy's mark holds (store: server-marks.ts). A delivery to an endpoint needs no mark: if Redis
 * loses the settlement, the attempt is repeated.
 */
import { createStateLog, joinStates, type Logger } from '@fantail/runtime'
import { deliveryItemId, type Lanes, type ServerMark, type SettleTo, type Standing } from '@fantail/store'
import { ShardQueue } from './shard-queue.ts'

/** Settlements of one script. Past it: a further script follows. */
const SETTLEMENTS_PER_SCRIPT_MAX = 500

export interface Claimed {
  subscriptionId: string
  delivery: Buffer
  lease: string
  /** The endpoint's standing after the attempt, if its lane has another one. */
  standing?: Standing | undefined
}

export interface SettleHow {
  /** True if nobody waits for this settlement. It may then wait for a moment and share a script with others. */
  mayLinger?: boolean
  /**
   * The claim ends because a copy was written. This is the mark of the copy. If it no longer holds, nothing is changed.
   */
  restsOn?: ServerMark | undefined
}

interface Item extends Claimed {
  to: SettleTo
  restsOn: ServerMark | undefined
  done(accepted: boolean, lease: string | null): void
}

interface Settled {
  /** False: the lease was not the current one, or the mark of its copy no longer holds. */
  accepted: boolean
  /** After `declareDead`: the new lease. */
  lease: string | null
}

/** Redis has blocked the lane until the credential works. */
type OnBlocked = (shard: number, subscriptionId: string, credential: string) => void

export class Settling {
  readonly #lanes: Lanes
  readonly #log: Logger
  readonly #queue: ShardQueue<Item>
  readonly #onDue: (shard: number, nextDueAt: number | null) => void
  #onBlocked: OnBlocked | undefined

  constructor(lanes: Lanes, log: Logger, onDue: (shard: number, nextDueAt: number | null) => void) {
    this.#lanes = lanes
    this.#log = log
    this.#onDue = onDue
    this.#queue = new ShardQueue<Item>({
      batchMax: SETTLEMENTS_PER_SCRIPT_MAX,
      run: (shard, batch) => this.#run(shard, batch),
      drop: (shard, item, error) => {
        this.#logFailed(shard, item, error)
        item.done(false, null)
      },
      report: joinStates(createStateLog({ log, what: 'settling', initial: 'up' })),
    })
  }

  /** The listener is built later than this class. */
  notifyBlocked(listener: OnBlocked): void {
    this.#onBlocked = listener
  }

  settle(
    shard: number,
    claimed: Claimed,
    to: SettleTo,
    { mayLinger = false, restsOn }: SettleHow = {},
  ): Promise<Settled> {
    return new Promise((resolve) => {
      const done = (accepted: boolean, newLease: string | null) => resolve({ accepted, lease: newLease })
      const item = { ...claimed, to, restsOn, done }
      if (mayLinger) this.#queue.pushLingering(shard, item)
      else this.#queue.push(shard, item)
    })
  }

  get pending(): number {
    return this.#queue.pending
  }

  whenIdle(): Promise<void> {
    return this.#queue.whenIdle()
  }

  async #run(shard: number, batch: Item[]): Promise<void> {
    const holds = ({ restsOn }: Item) => restsOn === undefined || restsOn.holds()
    // The copy may be lost. The lease ends, and the worker that claims the delivery next writes the copy again.
    for (const item of batch) if (!holds(item)) item.done(false, null)
    const items = batch.filter(holds)
    if (items.length === 0) return
    const result = await this.#lanes.settle(shard, items)
    items.forEach((item, i) => {
      const error = result.failed?.get(i)
      if (error !== undefined) this.#logFailed(shard, item, error)
      item.done(result.accepted[i] ?? false, result.leases[i] ?? null)
      if (item.to.op === 'block') this.#onBlocked?.(shard, item.subscriptionId, item.to.credential)
    })
    this.#onDue(shard, result.nextDueAt)
  }

  #logFailed(shard: number, { subscriptionId, delivery, to: { op } }: Item, err: unknown): void {
    const deliveryId = deliveryItemId(subscriptionId, delivery)
    this.#log.error({ shard, subscriptionId, deliveryId, op, err }, 'settling.failed')
  }
}
