/**
 * Renews the leases of queues with a waiting long poll while the time moves. A client would renew the lease with its
 * next poll, but that comes in real time.
 */
import type { QueueRecord } from '@fantail/contracts'
import { passingTime, type Queues } from '@fantail/store'

/** The share of a lease's time after which the lease is renewed. */
const RENEWED_PART = 0.5

interface WaitingLeasesOptions {
  queues: Pick<Queues, 'renewLease'>
  /** Whether a long poll waits at the queue. */
  isWaiting(arn: string): boolean
  onProblem(error: unknown): void
}

export class WaitingLeases {
  readonly #options: WaitingLeasesOptions
  /** ARNs of queues whose leases are kept. */
  readonly #kept = new Set<string>()
  #renewing = 0

  constructor(options: WaitingLeasesOptions) {
    this.#options = options
  }

  get renewing(): number {
    return this.#renewing
  }

  /** Tells that a receive has just renewed the lease of the queue. */
  keep(queue: QueueRecord): void {
    if (this.#kept.has(queue.arn)) return
    this.#kept.add(queue.arn)
    this.#later(queue)
  }

  #later(queue: QueueRecord): void {
    passingTime.after((queue.leaseSeconds ?? 0) * 1_000 * RENEWED_PART, () => void this.#renew(queue))
  }

  async #renew(queue: QueueRecord): Promise<void> {
    const { queues, isWaiting, onProblem } = this.#options
    if (!isWaiting(queue.arn)) {
      this.#kept.delete(queue.arn)
      return
    }
    this.#renewing++
    try {
      await queues.renewLease(queue)
      this.#later(queue)
    } catch (error) {
      this.#kept.delete(queue.arn)
      onProblem(error)
    } finally {
      this.#renewing--
    }
  }
}
