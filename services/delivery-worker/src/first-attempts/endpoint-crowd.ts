/**
 * Watches the unproven endpoints as one group. If many first attempts are queued, those of unproven endpoints stay in
 * the queue only while at least some of these endpoints answer. Otherwise they would fill the queue, and all other
 * messages would wait too.
 */
import { type AttemptSlots, SLOW_MS } from '../capacity/attempt-slots.ts'

/**
 * Number of waiting first attempts. Past it: if no unproven endpoint answers, first attempts of unproven endpoints are
 * parked.
 */
const CROWD_MIN = 1_000
/** How long none of the unproven endpoints may answer. Past it: their first attempts are parked. */
const CROWD_PATIENCE_MS = 100
/**
 * The same time in a process whose own timers are late. If an attempt is parked too early, that only costs writes to a
 * lane. If it waits too long, dispatch stops.
 */
const CROWD_PATIENCE_MS_MAX = 1_000

export class EndpointCrowd {
  readonly #slots: Pick<AttemptSlots, 'slowMs'>
  /** Since when first attempts of these endpoints are queued without any answer, by performance.now(). */
  #unansweredSince: number | undefined

  constructor(slots: Pick<AttemptSlots, 'slowMs'>) {
    this.#slots = slots
  }

  /** Called when a first attempt of an unproven endpoint is queued. */
  join(queuedAt: number): void {
    this.#unansweredSince ??= queuedAt
  }

  /** Called when one of these endpoints has answered, or when none of their attempts is running. */
  answered(): void {
    this.#unansweredSince = undefined
  }

  /** `queued`: how many first attempts wait, for all endpoints together. */
  isSilent(queued: number): boolean {
    if (this.#unansweredSince === undefined || queued < CROWD_MIN) return false
    const patienceMs = CROWD_PATIENCE_MS + this.#slots.slowMs - SLOW_MS
    return performance.now() - this.#unansweredSince > Math.min(patienceMs, CROWD_PATIENCE_MS_MAX)
  }
}
