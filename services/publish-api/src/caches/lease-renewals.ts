/**
 * Renews the lease of a queue when a client receives from it. A client may receive many times a second, so a lease is
 * renewed only after a part of its time. A lease may therefore end earlier than `leaseSeconds` after the last receive,
 * by at most that part.
 */
import type { QueueRecord } from '@fantail/contracts'
import { passingTime, type Queues } from '@fantail/store'
import { LRUCache } from 'lru-cache'

/** A lease is renewed again after this part of its time, but at the latest after 10 seconds. */
const PART = 1 / 6
const RENEW_AFTER_MS = 10_000
/** Leased queues whose last renewal a process remembers. Past it: a lease is renewed more often. */
const KNOWN_RENEWALS_MAX = 1_000

export class LeaseRenewals {
  readonly #queues: Pick<Queues, 'renewLease'>
  readonly #onRenewed: ((queue: QueueRecord) => void) | undefined
  /** By uid of the queue: until when no renewal is needed, by passingTime.now(). */
  readonly #fresh = new LRUCache<string, number>({ max: KNOWN_RENEWALS_MAX })

  /** `onRenewed`: called after each renewal. */
  constructor(queues: Pick<Queues, 'renewLease'>, onRenewed?: (queue: QueueRecord) => void) {
    this.#queues = queues
    this.#onRenewed = onRenewed
  }

  /** Call it before each receive. Throws `not_found` if the lease has ended. */
  async received(queue: QueueRecord): Promise<void> {
    if (!queue.leaseSeconds) return
    const now = passingTime.now()
    if (now < (this.#fresh.get(queue.uid) ?? 0)) return
    await this.#queues.renewLease(queue)
    this.#fresh.set(queue.uid, now + Math.min(RENEW_AFTER_MS, queue.leaseSeconds * 1_000 * PART))
    this.#onRenewed?.(queue)
  }
}
