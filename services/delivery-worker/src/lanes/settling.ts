/**
 * Settles claims: one script per shard for everything that ended there since the last. A settlement that Redis does not
 * take is tried again; when its lease has run out meanwhile it changes nothing and the delivery is attempted again.
 */

import { createStateLog, type Logger } from '@fantail/runtime'
import type { LaneStore, SettleTo, Standing } from '@fantail/store'
import { tellParts } from '../shards/part-states.ts'
import { ShardQueue } from '../shards/shard-queue.ts'

/** @limit Settlements of one script. Past it: a further script follows. */
const SETTLEMENTS_PER_SCRIPT_MAX = 500

export interface Claimed {
  subscriptionId: string
  delivery: Buffer
  lease: string
  /** The endpoint's standing after the attempt, if its lane does not know it. */
  standing?: Standing | undefined
}

interface Item extends Claimed {
  to: SettleTo
  done(accepted: boolean, lease: string | null): void
}

interface Settled {
  /** False: the lease was no longer ours. */
  accepted: boolean
  /** After `markDead`: the lease that holds now. */
  lease: string | null
}

export class Settling {
  readonly #lanes: LaneStore
  readonly #queue: ShardQueue<Item>
  readonly #onDue: (shard: number, nextDueAt: number | null) => void

  constructor(lanes: LaneStore, log: Logger, onDue: (shard: number, nextDueAt: number | null) => void) {
    this.#lanes = lanes
    this.#onDue = onDue
    this.#queue = new ShardQueue<Item>({
      batchMax: SETTLEMENTS_PER_SCRIPT_MAX,
      run: (shard, batch) => this.#run(shard, batch),
      tell: tellParts(createStateLog({ log, what: 'settling', initial: 'up' })),
    })
  }

  /** `later`: nothing waits for it, so it may linger for a moment and go with others. */
  settle(shard: number, claimed: Claimed, to: SettleTo, later = false): Promise<Settled> {
    return new Promise((resolve) => {
      const done = (accepted: boolean, newLease: string | null) => resolve({ accepted, lease: newLease })
      const item = { ...claimed, to, done }
      if (later) this.#queue.pushLater(shard, item)
      else this.#queue.push(shard, item)
    })
  }

  whenIdle(): Promise<void> {
    return this.#queue.whenIdle()
  }

  async #run(shard: number, batch: Item[]): Promise<void> {
    const result = await this.#lanes.settle(shard, batch)
    batch.forEach((item, i) => {
      item.done(result.accepted[i] ?? false, result.leases[i] ?? null)
    })
    this.#onDue(shard, result.nextDueAt)
  }
}
