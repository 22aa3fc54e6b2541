/**
 * Remembers lanes whose dead deliveries wait for a dead-letter queue that does not exist. These are tried again by
 * themselves, a few at a time (lane-settle.lua). When the queue exists again, all of them become due at once. This
 * memory may be lost. The first delivery that then finds the queue makes the others of its lane due.
 */
import type { Logger } from '@fantail/runtime'
import type { LaneStore } from '@fantail/store'

/** @limit Lanes that a worker remembers as waiting for a queue. Past it: further lanes find out by themselves. */
const WAITING_LANES_MAX = 10_000
/** The shortest time between two releases of a lane. Each letter that finds its queue requests one. */
const RELEASE_EVERY_MS = 1_000

interface WaitingLane {
  shard: number
  subscriptionId: string
}

interface MissingQueuesOptions {
  lanes: Pick<LaneStore, 'releaseDead'>
  log: Pick<Logger, 'warn' | 'info' | 'debug'>
  /** Monotonic ms. */
  now?: () => number
}

export class MissingQueues {
  readonly #options: MissingQueuesOptions
  readonly #now: () => number
  /** By queue: subscription id → shard. */
  readonly #queues = new Map<string, Map<string, number>>()
  readonly #releasedAt = new Map<string, number>()
  #lanes = 0

  constructor(options: MissingQueuesOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** A delivery of the lane waits for this queue. */
  add(queueArn: string, { shard, subscriptionId }: WaitingLane): void {
    let lanes = this.#queues.get(queueArn)
    if (lanes?.has(subscriptionId) || this.#lanes >= WAITING_LANES_MAX) return
    if (!lanes) {
      lanes = new Map()
      this.#queues.set(queueArn, lanes)
      this.#options.log.warn({ queueArn }, 'dead_letter_queue.missing')
    }
    lanes.set(subscriptionId, shard)
    this.#lanes++
  }

  /** Called when the queue has changed. It may exist again. */
  changed(queueArn: string): void {
    const lanes = this.#queues.get(queueArn)
    if (!lanes) return
    this.#queues.delete(queueArn)
    this.#lanes -= lanes.size
    for (const [subscriptionId, shard] of lanes) this.#release({ shard, subscriptionId })
  }

  /** Called when a delivery of this lane that had waited has found the queue. */
  found(queueArn: string, lane: WaitingLane): void {
    if (this.#queues.has(queueArn)) this.#options.log.info({ queueArn }, 'dead_letter_queue.found')
    this.changed(queueArn)
    const at = this.#releasedAt.get(lane.subscriptionId) ?? Number.NEGATIVE_INFINITY
    if (this.#now() - at >= RELEASE_EVERY_MS) this.#release(lane)
  }

  #release({ shard, subscriptionId }: WaitingLane): void {
    if (this.#releasedAt.size >= WAITING_LANES_MAX) this.#releasedAt.clear()
    this.#releasedAt.set(subscriptionId, this.#now())
    // If this fails, the deliveries are tried again by themselves.
    this.#options.lanes
      .releaseDead(shard, subscriptionId)
      .catch((error) => this.#options.log.debug({ subscriptionId, err: error }, 'dead_letters.unreleased'))
  }
}
