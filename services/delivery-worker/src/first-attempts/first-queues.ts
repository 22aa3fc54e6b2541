/**
 * Holds first attempts that wait, in one queue per subscription. They wait for a slot of the subscription or of the
 * worker, or for a check of the snapshot.
 */

import type { FirstAttempt } from '../attempts/first-attempt.ts'
import type { AttemptSlots } from '../capacity/attempt-slots.ts'
import type { BusyTargets } from '../capacity/busy-targets.ts'
import type { CapacityAnnouncer } from '../capacity/freed-capacity.ts'
import type { Unit } from '../runs/unit.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { EndpointCrowd } from './endpoint-crowd.ts'
import { SnapshotChecks, type SnapshotChecksOptions, type SnapshotState } from './snapshot-checks.ts'

/**
 * Stalled queues, whose first attempt cannot start yet, that one search for an attempt passes after a slot was freed.
 * Past it: the search ends, and a freed slot goes to its own subscription until an attempt waits for a slot of the
 * worker again. Without this bound, the searches would cost too much: slots are freed thousands of times a second, and
 * thousands of queues may be stalled.
 */
const STALLED_QUEUES_MAX = 16

export interface FirstQueuesOptions {
  slots: AttemptSlots
  targets: Pick<BusyTargets, 'isBusy'>
  snapshots: SnapshotChecksOptions['snapshots']
  crowd: EndpointCrowd
  /** First attempts that wait for a signature. They count as queued. */
  signatures: { readonly size: number }
  freed: CapacityAnnouncer
  goesByLane(subscription: CompiledSubscription): boolean
  /** Called when the attempt has its slot. `now`: by performance.now(). */
  run(attempt: FirstAttempt, now: number): void
  /** Called when the attempt leaves the queue without a slot. */
  park(attempt: FirstAttempt): void
}

export class FirstQueues {
  readonly #options: FirstQueuesOptions
  /** Subscription → its queue. The queue that has waited longest comes first. */
  readonly #queues = new Map<string, SubscriptionQueue>()
  readonly #checks: SnapshotChecks
  #waiting = 0
  /** True if an attempt waits for a slot of the worker, and not only for one of its subscription. */
  #starved = false

  constructor(options: FirstQueuesOptions) {
    this.#options = options
    const { snapshots } = options
    this.#checks = new SnapshotChecks({ snapshots, checked: (unit, state) => this.#checked(unit, state) })
  }

  get size(): number {
    return this.#waiting + this.#options.signatures.size
  }

  /** Runs, queues or parks the attempt. Called when `queuedAt` is set. */
  offer(attempt: FirstAttempt): void {
    const { id, maxInFlight } = attempt.subscription.record
    const { slots, crowd } = this.#options
    const queue = this.#queues.get(id)
    const mustCheck = this.#checks.isDue(attempt.unit, attempt.queuedAt)
    if (!queue && !mustCheck && slots.acquireFirst(id, maxInFlight)) {
      this.#options.run(attempt, performance.now())
      return
    }
    this.#starved ||= slots.freeForFirst <= 0
    if (!slots.isProven(id)) {
      crowd.join(attempt.queuedAt)
      if (crowd.isSilent(this.size)) {
        this.#options.park(attempt)
        return
      }
    }
    this.#waiting++
    if (queue) queue.push(attempt)
    else this.#queues.set(id, new SubscriptionQueue(attempt))
    if (!queue && mustCheck) this.startWaiting(id)
  }

  /**
   * Called when an attempt of the subscription has ended. Attempts that wait for a slot of the worker come first.
   * Otherwise one subscription would keep many slots, and open many connections, while others wait. `now`: by
   * performance.now().
   */
  ended(id: string, now: number): void {
    this.capacityFreed(now)
    this.startWaiting(id, now)
  }

  /** Starts queued attempts of the subscription while it has slots. `now`: by performance.now(). */
  startWaiting(id: string, now = performance.now()): void {
    const queue = this.#queues.get(id)
    if (!queue) return
    while (this.#startFirst(queue, now));
    if (!queue.first) this.#remove(id, queue)
  }

  /**
   * Starts attempts that wait for a slot of the worker: one of each queue in turn, the longest waiting queue first. A
   * stalled queue loses its turn. `now`: by performance.now(). Without it the clock is read only if attempts wait.
   */
  capacityFreed(now?: number): void {
    const { slots } = this.#options
    if (!this.#starved || slots.freeForFirst <= 0) return
    this.#starved = false
    let at = now ?? performance.now()
    let stalled = 0
    for (const [id, queue] of this.#queues) {
      if (slots.freeForFirst <= 0) {
        this.#starved = true
        return
      }
      if (stalled === STALLED_QUEUES_MAX) return
      // Starting an attempt takes a while.
      if (this.#startFirst(queue, at)) at = performance.now()
      else if (queue.first) stalled++
      // At the end, where this loop meets it again.
      if (this.#remove(id, queue) && queue.first) this.#queues.set(id, queue)
    }
  }

  /** An attempt that ends while it is started may have removed the queue, and a later one may have made another. */
  #remove(id: string, queue: SubscriptionQueue): boolean {
    return this.#queues.get(id) === queue && this.#queues.delete(id)
  }

  /** Returns false if the first attempt must wait, or if none is left. */
  #startFirst(queue: SubscriptionQueue, now: number): boolean {
    const { slots, targets } = this.#options
    for (let next = queue.first; next; next = queue.first) {
      if (this.#checks.mustWait(next.unit, now)) {
        // The queue waits for Redis. This time says nothing about its endpoint.
        queue.movedAt = Math.max(queue.movedAt, now)
        return false
      }
      const { id, maxInFlight } = next.subscription.record
      const isBusy = targets.isBusy(next.unit.context)
      if (!isBusy && !slots.acquireFirst(id, maxInFlight)) {
        this.#starved ||= slots.freeForFirst <= 0
        return false
      }
      queue.removeFirst()
      this.#waiting--
      if (isBusy) this.#options.park(next)
      else {
        this.#options.run(next, now)
        queue.movedAt = next.startedAt
        return true
      }
    }
    return false
  }

  /** Parks all queued attempts of the subscription. */
  park(id: string): void {
    if (this.#parkQueue(id)) this.#options.freed.announce()
  }

  parkAll(): void {
    for (const id of [...this.#queues.keys()]) this.#parkQueue(id)
    this.#options.freed.announce()
  }

  /**
   * Parks the attempts of queues in which none was started lately. If attempts are started, even a long queue is not
   * parked, because lanes cost more than waiting.
   */
  parkStuck(now: number): void {
    const { slots, crowd } = this.#options
    const slowMs = slots.slowMs
    const isCrowdSilent = crowd.isSilent(this.size)
    // Attempts that get the freed capacity are checked the next time.
    let left = this.#queues.size
    let waiting = this.#waiting
    let at = performance.now()
    for (const [id, { movedAt }] of this.#queues) {
      if (left-- === 0) return
      this.startWaiting(id, at)
      const waitsInVain = now - movedAt > slowMs || (isCrowdSilent && !slots.isProven(id))
      if (waitsInVain || slots.isSlow(id)) this.park(id)
      if (this.#waiting === waiting) continue
      // Starting attempts takes a while.
      waiting = this.#waiting
      at = performance.now()
    }
  }

  #parkQueue(id: string): boolean {
    const queue = this.#queues.get(id)
    if (!queue) return false
    const waiting = queue.all()
    this.#queues.delete(id)
    this.#waiting -= waiting.length
    for (const attempt of waiting) this.#options.park(attempt)
    return waiting.length > 0
  }

  #checked(unit: Unit, state: SnapshotState): void {
    // There may be thousands of queues, and starting their attempts takes a while. The clock is read for each, so that
    // none starts by a snapshot that has become too old meanwhile.
    if (state !== 'current') {
      this.#requeue(unit, state)
      for (const id of [...this.#queues.keys()]) this.startWaiting(id)
      return
    }
    // Nothing changed, so only queues that waited for this unit are started. There may be thousands of units, each with
    // its own check, and thousands of queues of other topics.
    for (const { record } of unit.matched)
      if (this.#queues.get(record.id)?.first?.unit === unit) this.startWaiting(record.id)
  }

  /** The unit's queued attempts follow the new snapshot, or go to their lanes, which have the latest settings. */
  #requeue(unit: Unit, state: SnapshotState): void {
    for (const [id, queue] of this.#queues) {
      const isKept = (attempt: FirstAttempt) => attempt.unit !== unit || this.#useSnapshot(attempt, state)
      const waiting = queue.all().filter(isKept)
      queue.replace(waiting)
      if (waiting.length === 0) this.#queues.delete(id)
    }
    this.#options.freed.announce()
  }

  /** Returns false if the attempt was parked. */
  #useSnapshot(attempt: FirstAttempt, state: SnapshotState): boolean {
    const subscription = attempt.unit.slice.byId.get(attempt.subscription.record.id)
    if (state === 'changed' && subscription && !this.#options.goesByLane(subscription)) {
      attempt.subscription = subscription
      return true
    }
    this.#waiting--
    this.#options.park(attempt)
    return false
  }
}

/**
 * Empty elements at the head of a queue, from which attempts were started. Past it: they are removed together, which is
 * cheaper than one by one.
 */
const HEAD_MAX = 64

class SubscriptionQueue {
  /**
   * When an attempt was last started, or else when the first one was queued, by performance.now(). It is later if the
   * queue has waited for a check of the snapshot.
   */
  movedAt: number
  /** The elements of started attempts are empty, so that the queue does not keep these attempts in memory. */
  #waiting: (FirstAttempt | undefined)[]
  /** Index of the first waiting attempt. Attempts before it have been started. */
  #head = 0

  constructor(first: FirstAttempt) {
    this.movedAt = first.queuedAt
    this.#waiting = [first]
  }

  get first(): FirstAttempt | undefined {
    return this.#waiting[this.#head]
  }

  push(attempt: FirstAttempt): void {
    this.#waiting.push(attempt)
  }

  removeFirst(): void {
    this.#waiting[this.#head] = undefined
    this.#head++
    if (this.#head < HEAD_MAX) return
    this.#waiting.splice(0, this.#head)
    this.#head = 0
  }

  /** The waiting attempts at present. */
  all(): FirstAttempt[] {
    return this.#waiting.slice(this.#head).filter((attempt) => attempt !== undefined)
  }

  replace(waiting: FirstAttempt[]): void {
    this.#waiting = waiting
    this.#head = 0
  }
}
