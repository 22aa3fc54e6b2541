/**
 * Makes first attempts straight from the dispatch job.
 *
 * A delivery here is in one of these states:
 *
 * - *queued*: its message is being signed, or its subscription or the worker has no slot
 * - *running*
 * - *detached*: still running after a second; it is parked under a lease, and settled when it ends
 * - out: delivered, or parked in its lane
 *
 * A slow delivery is parked, so a job never waits longer than about a second for one endpoint.
 *
 * start ─▶ SignatureWaits ─▶ FirstQueues ─▶ RunningAttempts ─▶ JobSource ─▶ delivered, or parked
 */
import type { EnvelopeSigning } from '@fantail/delivery'
import type { AttemptMaker } from '../attempts/attempt-maker.ts'
import type { CredentialGate } from '../attempts/credential-gate.ts'
import { FirstAttempt } from '../attempts/first-attempt.ts'
import type { BodyBytes } from '../bodies/body-bytes.ts'
import type { AttemptSlots } from '../capacity/attempt-slots.ts'
import type { BusyTargets } from '../capacity/busy-targets.ts'
import { JobSource, type JobSourceOptions } from '../endings/job-source.ts'
import type { Unit } from '../runs/unit.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { EndpointCrowd } from './endpoint-crowd.ts'
import { FirstQueues, type FirstQueuesOptions } from './first-queues.ts'
import { RunningAttempts, type RunningAttemptsOptions } from './running-attempts.ts'
import { SignatureWaits } from './signature-waits.ts'

/** Interval of the checks of running and queued deliveries. A run is checkpointed only if it is older than this. */
const SLOW_CHECK_MS = 25

export interface FirstAttemptsOptions
  extends JobSourceOptions,
    Pick<RunningAttemptsOptions, 'attemptTimeoutMs' | 'freed'>,
    Pick<FirstQueuesOptions, 'snapshots'> {
  slots: AttemptSlots
  attemptMaker: Pick<AttemptMaker, 'attempt' | 'goInBatches'>
  bytes: Pick<BodyBytes, 'hold' | 'hasCapacity'>
  credentials: Pick<CredentialGate, 'isBlocked'>
  targets: Pick<BusyTargets, 'isBusy' | 'begin' | 'end'>
  signing: Pick<EnvelopeSigning, 'prepare' | 'down'>
  /** Epoch ms by Redis's clock. */
  now(): number
}

/** First attempts of a unit with the signatures that they wait for. */
type Unsigned = Map<FirstAttempt, Promise<void>>

export class FirstAttempts {
  readonly #options: FirstAttemptsOptions
  readonly #signatures: SignatureWaits<FirstAttempt>
  readonly #queues: FirstQueues
  readonly #running: RunningAttempts
  readonly #source: JobSource
  #timer: NodeJS.Timeout | undefined
  #checkDueAt = 0
  #closing = false

  constructor(options: FirstAttemptsOptions) {
    this.#options = options
    const crowd = new EndpointCrowd(options.slots)
    this.#source = new JobSource(options)
    this.#signatures = new SignatureWaits({
      signed: (attempts) => this.#leaveSignatures(attempts, (attempt) => this.#queues.offer(attempt)),
      failed: (attempts) => this.#leaveSignatures(attempts, (attempt) => this.#source.parkFresh(attempt)),
    })
    this.#queues = new FirstQueues({
      ...options,
      crowd,
      signatures: this.#signatures,
      goesByLane: (subscription) => this.#goesByLane(subscription),
      run: (attempt, now) => this.#running.run(attempt, now),
      park: (attempt) => this.#source.parkFresh(attempt),
    })
    this.#running = new RunningAttempts({ ...options, crowd, waiting: this.#queues, source: this.#source })
  }

  get queued(): number {
    return this.#queues.size
  }

  get running(): number {
    return this.#running.size
  }

  /** Makes, queues or parks the first attempt of every matching subscription that is not settled yet. */
  start(unit: Unit): void {
    const ageMs = this.#options.now() - unit.context.message.publishedAt
    const isTooOld = ageMs > unit.slice.topic.retentionSeconds * 1_000
    // If several starts of the job did not end, its deliveries go to their lanes. Lanes have leases, which last longer
    // than the run of a job. A direct message waits in its lane if its target is busy.
    const goesByLane = isTooOld || unit.run.isIsolating || this.#options.targets.isBusy(unit.context)
    const queuedAt = performance.now()
    let unsigned: Unsigned | undefined
    for (const subscription of unit.matched) {
      if (unit.settled.has(subscription.record.bit)) continue
      unit.open++
      const attempt = new FirstAttempt(unit, subscription, queuedAt)
      if (goesByLane || this.#goesByLane(subscription)) this.#source.parkFresh(attempt)
      else if (subscription.signature === undefined) this.#queues.offer(attempt)
      else unsigned = this.#offerSigned(attempt, unsigned)
    }
    // These attempts wait for their signatures without slots, because a slow signature says nothing about the endpoint.
    if (unsigned) this.#signatures.hold([...unsigned.keys()], new Set(unsigned.values()))
    this.#arm()
  }

  capacityFreed(): void {
    this.#queues.capacityFreed()
  }

  /** Parks all queued attempts. Resolves when no attempt is running. Called once, when the worker stops. */
  async stop(): Promise<void> {
    this.#closing = true
    this.#queues.parkAll()
    this.#leaveSignatures(this.#signatures.release(), (attempt) => this.#source.parkFresh(attempt))
    await this.#running.whenNone()
    clearTimeout(this.#timer)
  }

  #goesByLane(subscription: CompiledSubscription): boolean {
    const { slots, bytes, attemptMaker, credentials } = this.#options
    const { record, goesByLane } = subscription
    const { id } = record
    if (goesByLane || attemptMaker.goInBatches(subscription) || credentials.isBlocked(subscription))
      return true
    // Hanging attempts use all bytes of their half. The delivery waits in its lane until there is capacity again.
    if (!slots.isProven(id) && !bytes.hasCapacity(false)) return true
    return this.#closing || slots.isSlow(id)
  }

  /**
   * Adds an attempt to `unsigned` if it must wait for its signature. While no key can be loaded, all such attempts go
   * through their lanes.
   */
  #offerSigned(attempt: FirstAttempt, unsigned: Unsigned | undefined): Unsigned | undefined {
    const { subscription, unit } = attempt
    const { down } = this.#options.signing
    const envelope = unit.context.envelopeFor(subscription.signature)
    const signed = this.#options.signing.prepare(envelope, subscription.target)
    if (signed && !down) return (unsigned ?? new Map()).set(attempt, signed)
    if (!signed) this.#queues.offer(attempt)
    else {
      this.#source.parkFresh(attempt)
      // This signature is not used. It was only requested so that the process tries again to load the key. The lane
      // requests its own signature.
      signed.catch(() => undefined)
    }
    return unsigned
  }

  #leaveSignatures(attempts: FirstAttempt[], goOn: (attempt: FirstAttempt) => void): void {
    const now = performance.now()
    for (const attempt of attempts) {
      attempt.queuedAt = now
      goOn(attempt)
    }
    this.#arm()
    this.#options.freed.announce()
  }

  #arm(): void {
    if (this.#timer) return
    this.#checkDueAt = performance.now() + SLOW_CHECK_MS
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#check()
      if (this.#running.size > 0 || this.#queues.size > 0) this.#arm()
    }, SLOW_CHECK_MS)
  }

  /**
   * Checks running and queued attempts. If this process was late itself, that time does not count against an endpoint.
   */
  #check(): void {
    const now = performance.now()
    this.#options.slots.reportLag(now - this.#checkDueAt)
    this.#running.detachSlow(now)
    this.#queues.parkStuck(now)
  }
}
