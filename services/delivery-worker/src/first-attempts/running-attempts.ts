/** Runs first attempts. If an attempt gets no answer for a second, it is detached: its job no longer waits for it. */
import { LinkedList } from '@fantail/delivery'
import { LEASE_MARGIN_MS } from '@fantail/store'
import type { AttemptMaker } from '../attempts/attempt-maker.ts'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import type { FirstAttempt } from '../attempts/first-attempt.ts'
import type { BodyBytes } from '../bodies/body-bytes.ts'
import { type AttemptSlots, HUNG_MS, SLOW_MS } from '../capacity/attempt-slots.ts'
import type { BusyTargets } from '../capacity/busy-targets.ts'
import type { CapacityAnnouncer } from '../capacity/freed-capacity.ts'
import type { JobSource } from '../endings/job-source.ts'
import type { EndpointCrowd } from './endpoint-crowd.ts'
import type { FirstQueues } from './first-queues.ts'

export interface RunningAttemptsOptions {
  slots: AttemptSlots
  bytes: Pick<BodyBytes, 'hold'>
  targets: Pick<BusyTargets, 'begin' | 'end'>
  attemptMaker: Pick<AttemptMaker, 'attempt'>
  crowd: EndpointCrowd
  waiting: Pick<FirstQueues, 'ended' | 'park'>
  source: Pick<JobSource, 'detach' | 'end'>
  freed: CapacityAnnouncer
  /** Deadline of one attempt. The lease of a detached attempt lasts longer. */
  attemptTimeoutMs: number
}

export class RunningAttempts {
  readonly #options: RunningAttemptsOptions
  /** The running attempts, in the order in which they were started. */
  readonly #running = new LinkedList<FirstAttempt>()
  readonly #idle: (() => void)[] = []

  constructor(options: RunningAttemptsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#running.size
  }

  /** Runs an attempt that has its slot. `now`: by performance.now(). */
  run(attempt: FirstAttempt, now: number): void {
    attempt.startedAt = now
    this.#running.append(attempt)
    const { unit, subscription } = attempt
    this.#options.targets.begin(unit.context)
    this.#options.attemptMaker.attempt(subscription, unit.context, unit.context.id, (outcome) =>
      this.#ended(attempt, outcome),
    )
  }

  /** Detaches attempts that take too long, and parks the attempts that wait behind them. */
  detachSlow(now: number): void {
    const { slots, waiting } = this.#options
    const slowMs = slots.slowMs
    const hungMs = slowMs + HUNG_MS - SLOW_MS
    for (let attempt = this.#running.first; attempt; attempt = attempt.next) {
      const ageMs = now - attempt.startedAt
      if (ageMs < slowMs) break
      const ownMs = ageMs - slots.redisMs(attempt.subscription.record)
      if (ownMs < slowMs) continue
      waiting.park(attempt.subscription.record.id)
      if (ownMs >= hungMs && !attempt.detached) this.#detach(attempt, ageMs)
    }
  }

  /** Resolves when no attempt is running. Called only when no further attempt is started. */
  async whenNone(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #ended(attempt: FirstAttempt, outcome: Outcome): void {
    this.#running.remove(attempt)
    this.#options.targets.end(attempt.unit.context)
    const { slots, crowd, source, waiting, freed } = this.#options
    const { record } = attempt.subscription
    const { id, maxInFlight } = record
    const hasProven = slots.release(id, maxInFlight, outcome.answeredAfterMs, slots.redisMs(record))
    if (hasProven || this.#running.size === 0) crowd.answered()
    const now = performance.now()
    attempt.endedAt = now
    source.end(attempt, outcome)
    waiting.ended(id, now)
    freed.announce(attempt.subscription)
    if (this.#running.size === 0 && this.#idle.length > 0)
      for (const resolve of this.#idle.splice(0)) resolve()
  }

  #detach(attempt: FirstAttempt, ranMs: number): void {
    const { slots, bytes, source, freed, attemptTimeoutMs } = this.#options
    slots.hang(attempt.subscription.record.id)
    const bodies = bytes.hold([attempt.unit.context], false)
    source.detach(attempt, bodies, Math.max(0, attemptTimeoutMs - ranMs) + LEASE_MARGIN_MS)
    freed.announce()
  }
}
