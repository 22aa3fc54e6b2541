/**
 * First attempts that wait, in a queue per subscription: the subscription or the worker is at its cap, or the snapshot
 * is being checked.
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
  /** First attempts that wait for a signature: they count as queued. */
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
  /** An attempt waits for a slot of the worker, not only of its own subscription. */
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

  /** Starts what the subscription has queued as far as it has slots. */
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

  /** Starts what waits for a slot of the worker rather than of its subscription, the longest waiting first. */
  capacityFreed(): void {
    const { slots } = this.#options
    if (!this.#starved || slots.freeForFirst <= 0) return
    this.#starved = false
    for (const id of this.#queues.keys()) {
      if (slots.freeForFirst <= 0) return
      this.startWaiting(id)
    }
  }

  /** Parks what the subscription has queued. */
  park(id: string): void {
    if (this.#parkQueue(id)) this.#options.freed.announce()
  }

  parkAll(): void {
    for (const id of [...this.#queues.keys()]) this.#parkQueue(id)
    this.#options.freed.announce()
  }

  /** A queue that moves is not parked, however long: lanes cost more than waiting. */
  parkStuck(now: number): void {
    const { slots, crowd } = this.#options
    const slowMs = slots.slowMs
    const isCrowdSilent = crowd.isSilent(this.size)
    // Attempts that take the freed capacity are checked the next time.
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
    // Where nothing changed, only what this unit held up: there may be thousands of units, each with its check.
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
