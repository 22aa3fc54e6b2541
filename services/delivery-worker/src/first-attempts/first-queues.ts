/**
 * First attempts that wait, in a queue per subscription. The subscription or the worker has no slot, or the snapshot is
 * being checked.
 */
import type { AttemptSlots } from '../attempts/attempt-slots.ts'
import type { CapacityAnnouncer } from '../attempts/freed-capacity.ts'
import type { Unit } from '../dispatch/job-run.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { EndpointCrowd } from './endpoint-crowd.ts'
import type { FirstAttempt } from './first-attempt.ts'
import { SnapshotChecks, type SnapshotChecksOptions, type SnapshotState } from './snapshot-checks.ts'
import { SubscriptionQueue } from './subscription-queue.ts'

export interface FirstQueuesOptions {
  slots: AttemptSlots
  snapshots: SnapshotChecksOptions['snapshots']
  crowd: EndpointCrowd
  /** First attempts that wait for a signature. They count as queued. */
  signatures: { readonly size: number }
  freed: CapacityAnnouncer
  goesByLane(subscription: CompiledSubscription): boolean
  /** It has its slot. */
  run(attempt: FirstAttempt): void
  /** It waits no longer here. */
  park(attempt: FirstAttempt): void
}

export class FirstQueues {
  readonly #options: FirstQueuesOptions
  /** By subscription, the longest waiting first. */
  readonly #queues = new Map<string, SubscriptionQueue>()
  readonly #checks: SnapshotChecks
  #waiting = 0
  /** Some attempt waits for a slot of the worker, not only for one of its subscription. */
  #starved = false

  constructor(options: FirstQueuesOptions) {
    this.#options = options
    const { snapshots } = options
    this.#checks = new SnapshotChecks({ snapshots, checked: (unit, state) => this.#checked(unit, state) })
  }

  get size(): number {
    return this.#waiting + this.#options.signatures.size
  }

  /** Runs, queues or parks it. */
  offer(attempt: FirstAttempt): void {
    const { id, maxInFlight } = attempt.subscription.record
    const { slots, crowd } = this.#options
    const queue = this.#queues.get(id)
    const mustCheck = this.#checks.isDue(attempt.unit)
    if (!queue && !mustCheck && slots.acquireFirst(id, maxInFlight)) {
      this.#options.run(attempt)
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

  /** Starts queued attempts of the subscription while it has slots. */
  startWaiting(id: string): void {
    const queue = this.#queues.get(id)
    if (!queue) return
    const { slots } = this.#options
    for (let next = queue.first; next; next = queue.first) {
      if (this.#checks.mustWait(next.unit)) return
      if (!slots.acquireFirst(id, next.subscription.record.maxInFlight)) {
        this.#starved ||= slots.freeForFirst <= 0
        return
      }
      queue.removeFirst()
      this.#waiting--
      this.#options.run(next)
      queue.movedAt = next.startedAt
    }
    this.#queues.delete(id)
  }

  /** Starts attempts that wait for a slot of the worker. Those that have waited longest come first. */
  capacityFreed(): void {
    const { slots } = this.#options
    if (!this.#starved || slots.freeForFirst <= 0) return
    this.#starved = false
    for (const id of this.#queues.keys()) {
      if (slots.freeForFirst <= 0) return
      this.startWaiting(id)
    }
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
   * Parks queues that do not move. A queue that moves is not parked, however long it is, because lanes cost more than
   * waiting.
   */
  parkStuck(now: number): void {
    const { slots, crowd } = this.#options
    const slowMs = slots.slowMs
    const isCrowdSilent = crowd.isSilent(this.size)
    // Attempts that get the freed capacity are checked the next time.
    for (const [id, queue] of [...this.#queues]) {
      const { movedAt } = queue
      this.startWaiting(id)
      const waitsInVain = now - movedAt > slowMs || (isCrowdSilent && !slots.isProven(id))
      if (waitsInVain || slots.isSlow(id)) this.park(id)
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
    if (state !== 'current') this.#requeue(unit, state)
    // If nothing changed, only queues that waited for this unit are started. There may be thousands of units, each with
    // its own check.
    for (const [id, queue] of [...this.#queues])
      if (state !== 'current' || queue.first?.unit === unit) this.startWaiting(id)
  }

  /** The unit's queued attempts follow the new snapshot, or go to their lanes, which have the latest settings. */
  #requeue(unit: Unit, state: SnapshotState): void {
    for (const [id, queue] of this.#queues) {
      const isKept = (attempt: FirstAttempt) => attempt.unit !== unit || this.#renew(attempt, state)
      const waiting = queue.all().filter(isKept)
      queue.replace(waiting)
      if (waiting.length === 0) this.#queues.delete(id)
    }
    this.#options.freed.announce()
  }

  /** False: it is parked. */
  #renew(attempt: FirstAttempt, state: SnapshotState): boolean {
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
