/**
 * Renews the leases of unsent claims, and their send times in throttled lanes. One script per shard handles all
 * requests since the last one.
 */
import { createStateLog, joinStates, type Logger } from '@fantail/runtime'
import type { LaneRenewal, Lanes, RenewedClaim } from '@fantail/store'
import { ShardQueue } from '../settling/shard-queue.ts'

/** Lanes whose claims one script renews. Past it: a further script follows. */
const LANES_PER_SCRIPT_MAX = 100
/** Time for which a renewed lease lasts after the attempt's deadline. After it: the delivery waits again. */
export const RENEWED_LEASE_MARGIN_MS = 2_000

interface Item extends LaneRenewal {
  done(renewed: RenewedClaim[]): void
}

interface RenewalsOptions {
  lanes: Pick<Lanes, 'renew'>
  attemptTimeoutMs: number
  log: Logger
}

export class Renewals {
  readonly #options: RenewalsOptions
  readonly #queue: ShardQueue<Item>

  constructor(options: RenewalsOptions) {
    this.#options = options
    this.#queue = new ShardQueue<Item>({
      batchMax: LANES_PER_SCRIPT_MAX,
      run: (shard, batch) => this.#run(shard, batch),
      drop: (shard, { subscriptionId, done }, error) => {
        options.log.error({ shard, subscriptionId, err: error }, 'renewals.failed')
        done([])
      },
      report: joinStates(createStateLog({ log: options.log, what: 'renewals', initial: 'up' })),
    })
  }

  /** Resolves with one result for each claim, in order. Resolves with none if data of the lane is unreadable. */
  renew(shard: number, renewal: LaneRenewal): Promise<RenewedClaim[]> {
    return new Promise((done) => this.#queue.push(shard, { ...renewal, done }))
  }

  async #run(shard: number, batch: Item[]): Promise<void> {
    const leaseMs = this.#options.attemptTimeoutMs + RENEWED_LEASE_MARGIN_MS
    const renewed = await this.#options.lanes.renew(shard, { leaseMs, lanes: batch })
    batch.forEach((item, i) => {
      item.done(renewed[i] ?? [])
    })
  }
}
