/**
 * First attempts straight from the dispatch job.
 *
 * A delivery here is *queued* (its message is being signed, its subscription or the worker is at its cap), *running*,
 * *detached* (still running after a second: parked under a lease and settled when it ends), or out: delivered, or
 * parked in its lane. What is slow is parked rather than waited for, so a job never waits longer than about a second
 * for one endpoint.
 */
import { type EnvelopeSigning, type Linked, LinkedList } from '@fantail/delivery'
import { nextStep, whyNext } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { DeadState, ParkAs, RetryState } from '@fantail/store'
import { logAttempt } from '../attempts/attempt-log.ts'
import type { AttemptMaker } from '../attempts/attempt-maker.ts'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'
import { type AttemptSlots, HUNG_MS, SLOW_MS } from '../attempts/attempt-slots.ts'
import type { BodyBytes, HeldBodies } from '../attempts/body-bytes.ts'
import type { DeliveryStatus, FinishedDelivery } from '../outcomes/delivery-status.ts'
import type { Finishing } from '../outcomes/finishing.ts'
import type { WorkerMetrics } from '../outcomes/worker-metrics.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import { isCautious } from './cautious-runs.ts'
import type { Unit } from './job-run.ts'
import type { Parking } from './parking.ts'
import { SignatureWaits } from './signature-waits.ts'

/** How often running and queued deliveries are looked over, and the least age of a run that is checkpointed. */
const LOOK_MS = 25
/**
 * A snapshot older than this is checked again before an attempt (invariant 6 allows 100 ms).
 * @limit Age of the last check of a snapshot by which a first attempt starts. Past it: the revision is checked first.
 */
const FIRST_SNAPSHOT_AGE_MS_MAX = 80
/**
 * With so many queued, those of unproven endpoints wait only while some of these endpoints answer: in so long one must
 * have. Else they would fill what dispatch may queue, and every other message would wait with them.
 * @limit Waiting first attempts from which those of silent endpoints are parked at once.
 */
const CROWD_MIN = 1_000
/** @limit How long none of these endpoints may answer. Past it: their first attempts are parked. */
const CROWD_PATIENCE_MS = 100
/**
 * The same in a process that is late itself: what is parked too early costs a lane's writes, what waits stops
 * dispatch.
 * @limit The same in a process that is late itself.
 */
const CROWD_PATIENCE_MS_MAX = 1_000
/**
 * A queue forgets what it has started in pieces of this: cheaper than one by one.
 * @limit Started entries that a queue of first attempts forgets at once.
 */
const HEAD_MAX = 64

interface Delivery extends Linked<Delivery> {
  unit: Unit
  subscription: CompiledSubscription
  slot: number
  queuedAt: number
  startedAt: number
  /** Parked under a lease while it runs; settled by whichever comes last, the lease or the result. */
  detached: { lease: string | null | undefined; outcome: Outcome | undefined; held: HeldBodies } | undefined
}

/** What one subscription has waiting; `movedAt`: when something of it was last started or queued first. */
interface Queue {
  waiting: Delivery[]
  /** Those before it have been started. */
  head: number
  movedAt: number
}

export interface FirstAttemptsOptions {
  slots: AttemptSlots
  bytes: Pick<BodyBytes, 'hold' | 'hasRoom'>
  attempts: AttemptMaker
  parking: Parking
  finishing: Finishing
  signing: Pick<EnvelopeSigning, 'prepare' | 'down'>
  snapshots: SnapshotCache
  metrics: WorkerMetrics
  status: Pick<DeliveryStatus, 'delivered' | 'failed'>
  /** Deadline of one attempt; a detached attempt's lease outlasts it. */
  attemptTimeoutMs: number
  jitter: number
  maxRetrySeconds: number
  log: Logger
  /** Epoch ms by Redis's clock. */
  now(): number
  /** A delivery has left the queue or the slots: there may be room for more. */
  onRoom(): void
}

/**
 * Beyond the deadline of the attempt itself: the way back to Redis, and a worker that is short of time. A second more
 * would leave what a killed worker had in flight for longer than the 20 s in which it is to move again.
 * @limit What a lease lasts beyond the attempt's deadline. After it: the delivery waits again.
 */
export const FIRST_LEASE_MARGIN_MS = 3_500

export class FirstAttempts {
  readonly #options: FirstAttemptsOptions
  /** The one that runs longest is first. */
  readonly #running = new LinkedList<Delivery>()
  readonly #queues = new Map<string, Queue>()
  readonly #checking = new Set<Unit>()
  readonly #unsigned = new SignatureWaits<Delivery>({
    signed: (deliveries) => this.#signed(deliveries, (delivery) => this.#offer(delivery)),
    failed: (deliveries) => this.#signed(deliveries, (delivery) => this.#park(delivery, { as: 'fresh' })),
  })
  #queued = 0
  /** Something waits for a slot of the worker, not only of its own subscription. */
  #starved = false
  /** Since when something of an unproven endpoint is queued and none of these has answered (performance.now()). */
  #unansweredSince: number | undefined
  #timer: NodeJS.Timeout | undefined
  #lookDueAt = 0
  #closing = false
  #idle: (() => void)[] = []

  constructor(options: FirstAttemptsOptions) {
    this.#options = options
  }

  get queued(): number {
    return this.#queued
  }

  get running(): number {
    return this.#running.size
  }

  /** Makes, queues or parks the first attempt of every matching subscription that is not settled yet. */
  start(unit: Unit): void {
    const tooOld =
      this.#options.now() - unit.context.message.publishedAt > unit.slice.topic.retentionSeconds * 1_000
    // Attempts of a job whose starts keep ending go under leases, which outlast the job's run.
    const cautious = isCautious(unit.run)
    const now = performance.now()
    let unsigned: Map<Delivery, Promise<void>> | undefined
    for (const subscription of unit.matched) {
      const { slot } = subscription.record
      if (unit.settled.has(slot)) continue
      unit.open++
      const delivery = {
        unit,
        subscription,
        slot,
        queuedAt: now,
        startedAt: 0,
        detached: undefined,
        previous: undefined,
        next: undefined,
      }
      if (tooOld || cautious || this.#goesByLane(subscription)) this.#park(delivery, { as: 'fresh' })
      else if (subscription.signature === undefined) this.#offer(delivery)
      else unsigned = this.#offerSigned(delivery, unsigned)
    }
    if (unsigned) this.#hold(unsigned)
    this.#arm()
  }

  /** Slots came free elsewhere. */
  readonly roomChanged = (): void => {
    if (this.#starved && this.#options.slots.freeForFirst > 0) this.#pumpOthers()
  }

  /** Parks what is queued; resolves when nothing runs any more. Called once, at the end. */
  async stop(): Promise<void> {
    this.#closing = true
    this.#signed(this.#unsigned.release(), (delivery) => this.#park(delivery, { as: 'fresh' }))
    for (const id of [...this.#queues.keys()]) this.#parkQueue(id)
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
    clearTimeout(this.#timer)
  }

  #goesByLane(subscription: CompiledSubscription): boolean {
    const { status, unsubscribed, id } = subscription.record
    if (status !== 'active' || unsubscribed || subscription.rate !== null || subscription.paced) return true
    const { slots, bytes } = this.#options
    // What hangs holds all that may: a lane's turn comes when there is room again.
    if (!slots.isProven(id) && !bytes.hasRoom(false)) return true
    return this.#closing || slots.isSlow(id)
  }

  /** Adds to `unsigned` what has to wait. While no key can be had everything that needs one goes by its lane. */
  #offerSigned(
    delivery: Delivery,
    unsigned: Map<Delivery, Promise<void>> | undefined,
  ): Map<Delivery, Promise<void>> | undefined {
    const { subscription, unit } = delivery
    const { down } = this.#options.signing
    const envelope = unit.context.envelopeFor(subscription.signature)
    const signed = this.#options.signing.prepare(envelope, subscription.target)
    if (signed && !down) return (unsigned ?? new Map()).set(delivery, signed)
    if (!signed) this.#offer(delivery)
    else {
      this.#park(delivery, { as: 'fresh' })
      // It was asked for so that the key is tried again; the lane asks anew.
      signed.catch(() => undefined)
    }
    return unsigned
  }

  /** Without slots: a signature that is long in coming says nothing of the endpoint. */
  #hold(unsigned: Map<Delivery, Promise<void>>): void {
    this.#queued += unsigned.size
    this.#unsigned.hold([...unsigned.keys()], new Set(unsigned.values()))
  }

  #signed(deliveries: Delivery[], goOn: (delivery: Delivery) => void): void {
    const now = performance.now()
    this.#queued -= deliveries.length
    for (const delivery of deliveries) {
      delivery.queuedAt = now
      goOn(delivery)
    }
    this.#arm()
    this.#options.onRoom()
  }

  #offer(delivery: Delivery): void {
    const { id, maxInFlight } = delivery.subscription.record
    const queue = this.#queues.get(id)
    const old = this.#isOld(delivery.unit)
    if (!queue && !old && this.#options.slots.acquireFirst(id, maxInFlight)) {
      this.#run(delivery)
      return
    }
    this.#starved ||= this.#options.slots.freeForFirst <= 0
    if (!this.#options.slots.isProven(id)) {
      this.#unansweredSince ??= delivery.queuedAt
      if (this.#isCrowded()) {
        this.#park(delivery, { as: 'fresh' })
        return
      }
    }
    this.#queued++
    if (queue) queue.waiting.push(delivery)
    else this.#queues.set(id, { waiting: [delivery], head: 0, movedAt: delivery.queuedAt })
    if (!queue && old) this.#pump(id)
  }

  #isCrowded(): boolean {
    if (this.#unansweredSince === undefined || this.#queued < CROWD_MIN) return false
    const patienceMs = CROWD_PATIENCE_MS + this.#options.slots.slowMs - SLOW_MS
    return performance.now() - this.#unansweredSince > Math.min(patienceMs, CROWD_PATIENCE_MS_MAX)
  }

  /** Starts what the subscription has queued as far as it has slots. */
  #pump(id: string): void {
    const queue = this.#queues.get(id)
    if (!queue) return
    while (queue.head < queue.waiting.length) {
      const next = queue.waiting[queue.head]
      if (!next || this.#needsCheck(next.unit)) return
      if (!this.#options.slots.acquireFirst(id, next.subscription.record.maxInFlight)) {
        this.#starved ||= this.#options.slots.freeForFirst <= 0
        return
      }
      queue.head++
      if (queue.head === HEAD_MAX) queue.waiting.splice(0, queue.head)
      if (queue.head === HEAD_MAX) queue.head = 0
      this.#queued--
      this.#run(next)
      queue.movedAt = next.startedAt
    }
    this.#queues.delete(id)
  }

  /** The lost run's deliveries are another worker's; an old snapshot is checked before anything starts by it. */
  #needsCheck(unit: Unit): boolean {
    if (!this.#isOld(unit)) return false
    if (!this.#checking.has(unit)) {
      this.#checking.add(unit)
      void this.#check(unit)
    }
    return true
  }

  #isOld(unit: Unit): boolean {
    return unit.run.lost || performance.now() - unit.checkedAt >= FIRST_SNAPSHOT_AGE_MS_MAX
  }

  async #check(unit: Unit): Promise<void> {
    let slice = null
    try {
      slice = unit.run.lost ? null : await this.#options.snapshots.slice(unit.slice)
    } catch {
      // Redis is away: nothing may start by this snapshot. Parking says so in the log, and tries until it works.
    }
    this.#checking.delete(unit)
    const current = slice?.revision === unit.slice.revision
    if (slice) {
      unit.slice = slice
      // The cache may have answered with an older one. An answer that was long on its way is as new as can be had.
      const newest = performance.now() - FIRST_SNAPSHOT_AGE_MS_MAX / 2
      unit.checkedAt = Math.max(this.#options.snapshots.checkedAt(slice), newest)
    }
    if (!current) this.#requeue(unit, slice !== null)
    // Where nothing changed, only what this unit held up: there may be thousands of units, each with its check.
    for (const [id, queue] of [...this.#queues])
      if (!current || queue.waiting[queue.head]?.unit === unit) this.#pump(id)
  }

  /** The snapshot changed: what the unit has queued goes by the new one, or by the lane, which knows best. */
  #requeue(unit: Unit, snapshotKnown: boolean): void {
    for (const [id, queue] of this.#queues) {
      queue.waiting = queue.waiting.slice(queue.head).filter((delivery) => {
        if (delivery.unit !== unit) return true
        const subscription = unit.slice.byId.get(id)
        if (snapshotKnown && subscription && !this.#goesByLane(subscription)) {
          delivery.subscription = subscription
          return true
        }
        this.#queued--
        this.#park(delivery, { as: 'fresh' })
        return false
      })
      queue.head = 0
      if (queue.waiting.length === 0) this.#queues.delete(id)
    }
    this.#options.onRoom()
  }

  #run(delivery: Delivery): void {
    delivery.startedAt = performance.now()
    this.#running.append(delivery)
    const { unit, subscription } = delivery
    this.#options.attempts.attempt(subscription, unit.context, unit.context.id, (outcome) =>
      this.#ended(delivery, outcome),
    )
  }

  #ended(delivery: Delivery, outcome: Outcome): void {
    this.#running.remove(delivery)
    const { id, maxInFlight } = delivery.subscription.record
    const wasProven = this.#options.slots.isProven(id)
    this.#options.slots.release(id, maxInFlight, outcome.answeredAfterMs)
    const hasAnswered = !wasProven && this.#options.slots.isProven(id)
    if (hasAnswered || this.#running.size === 0) this.#unansweredSince = undefined
    if (delivery.detached) {
      delivery.detached.outcome = outcome
      delivery.detached.held.release()
      this.#settleDetached(delivery)
    } else {
      this.#finish(delivery, outcome)
    }
    this.#pump(id)
    this.roomChanged()
    this.#options.onRoom()
    if (this.#closing && this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Queues that wait for a slot of the worker rather than of their subscription, the longest waiting first. */
  #pumpOthers(): void {
    this.#starved = false
    for (const id of this.#queues.keys()) {
      if (this.#options.slots.freeForFirst <= 0) return
      this.#pump(id)
    }
  }

  #finish(delivery: Delivery, outcome: Outcome): void {
    const { unit, slot, subscription } = delivery
    const { jitter, maxRetrySeconds } = this.#options
    const policy = subscription.policy.healthyRetryPolicy
    const step = nextStep({
      result: outcome.result,
      protocol: subscription.record.protocol,
      attempts: 1,
      policy,
      jitter,
      random: Math.random,
      maxRetrySeconds,
    })
    const { statusCode, error } = resultState(outcome.result)
    if (step.step === 'delivered') {
      this.#options.metrics.delivered(subscription, unit.context)
      if (subscription.feedback) this.#options.status.delivered(finishedBy(delivery, outcome))
      unit.markDelivered(slot, statusCode)
      unit.close()
      return
    }
    unit.failures.push([slot, statusCode, error])
    const attempt = { message: unit.context, subscription, attempts: 1, result: outcome.result }
    logAttempt(this.#options.log, { ...attempt, decision: step.step, why: whyNext(step) })
    if (step.step === 'retry') {
      const state: RetryState = { kind: 'retry', attempts: 1, statusCode, error, why: whyNext(step) }
      this.#park(delivery, { as: 'retry', delayMs: step.delayMs, state })
    } else {
      const state: DeadState = { kind: 'dead', reason: step.because, attempts: 1, statusCode, error }
      this.#park(delivery, { as: 'dead', state }, () =>
        this.#options.status.failed(finishedBy(delivery, outcome)),
      )
    }
  }

  /** `parked`: called where it was not there before and the run is not lost. */
  #park(delivery: Delivery, park: ParkAs, parked?: () => void): void {
    const { unit, subscription, slot } = delivery
    if (subscription.record.status === 'paused') unit.markPaused(slot)
    this.#options.parking.park(unit.slice.shard, {
      run: unit.run,
      subscriptionId: subscription.record.id,
      delivery: unit.context.id,
      context: unit.context,
      park,
      standing: this.#options.slots.isProven(subscription.record.id) ? 'proven' : undefined,
      mark: () => unit.markSettled(slot),
      done: (outcome, lease) => {
        if (outcome === 'parked' || outcome === 'present') unit.parked.add(slot)
        if (outcome === 'parked') parked?.()
        if (delivery.detached) {
          delivery.detached.lease = lease
          this.#settleDetached(delivery)
        }
        unit.close()
      },
    })
  }

  /** Both the lease and the outcome are needed; without a lease (gone, stale, present) the attempt was for nothing. */
  #settleDetached({ detached, subscription, unit }: Delivery): void {
    if (!detached?.outcome || !detached.lease) return
    const claimed = {
      subscriptionId: subscription.record.id,
      delivery: unit.context.id,
      lease: detached.lease,
      standing: this.#options.slots.isProven(subscription.record.id) ? ('proven' as const) : undefined,
    }
    void this.#options.finishing.finish({
      claimed,
      subscription,
      attempts: 1,
      outcome: detached.outcome,
      message: unit.context,
    })
  }

  #arm(): void {
    if (this.#timer) return
    this.#lookDueAt = performance.now() + LOOK_MS
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#look()
      if (this.#running.size > 0 || this.#queued > 0) this.#arm()
    }, LOOK_MS)
  }

  /**
   * Detaches what runs too long and parks what waits behind it. Time that this process was late itself is not held
   * against an endpoint, and a queue that moves is not parked, however long: lanes cost more than waiting.
   */
  #look(): void {
    const now = performance.now()
    this.#options.slots.tellLag(now - this.#lookDueAt)
    const slowMs = this.#options.slots.slowMs
    const hungMs = slowMs + HUNG_MS - SLOW_MS
    for (let delivery = this.#running.first; delivery; delivery = delivery.next) {
      const ageMs = now - delivery.startedAt
      if (ageMs < slowMs) break
      if (this.#queues.has(delivery.subscription.record.id)) this.#parkQueue(delivery.subscription.record.id)
      if (ageMs >= hungMs && !delivery.detached) this.#detach(delivery)
    }
    const crowded = this.#isCrowded()
    // Attempts that take the freed capacity are checked the next time.
    for (const [id, { movedAt }] of [...this.#queues]) {
      this.#pump(id)
      const waitsInVain = now - movedAt > slowMs || (crowded && !this.#options.slots.isProven(id))
      if (this.#queues.has(id) && (waitsInVain || this.#options.slots.isSlow(id))) this.#parkQueue(id)
    }
  }

  #detach(delivery: Delivery): void {
    this.#options.slots.hang(delivery.subscription.record.id)
    const held = this.#options.bytes.hold([delivery.unit.context], false)
    delivery.detached = { lease: undefined, outcome: undefined, held }
    const ranMs = performance.now() - delivery.startedAt
    const leaseMs = Math.max(0, this.#options.attemptTimeoutMs - ranMs) + FIRST_LEASE_MARGIN_MS
    this.#park(delivery, { as: 'detached', leaseMs })
    this.#options.onRoom()
  }

  #parkQueue(id: string): void {
    const queue = this.#queues.get(id)
    const waiting = queue ? queue.waiting.slice(queue.head) : []
    this.#queues.delete(id)
    this.#queued -= waiting.length
    for (const delivery of waiting) this.#park(delivery, { as: 'fresh' })
    if (waiting.length > 0) this.#options.onRoom()
  }
}

/** Of a first attempt. */
function finishedBy({ subscription, unit }: Delivery, { result }: Outcome): FinishedDelivery {
  return { subscription, message: unit.context, delivery: unit.context.id, attempts: 1, result }
}
