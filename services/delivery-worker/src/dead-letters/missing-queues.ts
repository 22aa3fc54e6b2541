/**
 * Remembers lanes with dead deliveries whose dead-letter queue does not exist. Such a delivery looks for its queue
 * again at intervals. The more deliveries of its lane wait, the longer the interval (lane-settle.lua). When the queue
 * is created, this class makes all deliveries that wait for it due at once.
 *
 * The list is only in memory and may be incomplete. In a lane that is not on it, the first delivery that looks again
 * finds the queue. It then makes the others due.
 */
import type { Logger } from '@fantail/runtime'
import type { Lanes } from '@fantail/store'

/**
 * Lanes that a worker remembers as waiting for a queue. Past it: a further lane is not remembered, and its deliveries
 * find the queue when they look again.
 */
const WAITING_LANES_MAX = 10_000
/**
 * The shortest time between two calls that make the waiting deliveries of one lane due. Each delivery that finds its
 * queue asks for such a call.
 */
const RELEASE_EVERY_MS = 1_000

interface WaitingLane {
  shard: number
  subscriptionId: string
}

interface MissingQueuesOptions {
  lanes: Pick<Lanes, 'releaseDead'>
  log: Pick<Logger, 'warn' | 'info' | 'debug'>
  /** Monotonic ms. */
  now?: () => number
}

export class MissingQueues {
  readonly #options: MissingQueuesOptions
  readonly #now: () => number
  /** ARN of the queue → subscription id of the lane → shard of the lane. */
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
    // If this fails, the lane looks for the queue again by itself.
    this.#options.lanes
      .releaseDead(shard, subscriptionId)
      .catch((error) =>
        this.#options.log.debug({ subscriptionId, err: error }, 'dead_letters.release_failed'),
      )
  }
}
