/**
 * A crowd of unproven endpoints. With many first attempts queued, theirs wait only while some of these endpoints
 * answer. Otherwise they would fill the queue of first attempts, and every other message would wait with them.
 */
import { type AttemptSlots, SLOW_MS } from '../attempts/attempt-slots.ts'

/** @limit Waiting first attempts from which those of silent endpoints are parked at once. */
const CROWD_MIN = 1_000
/** @limit How long none of these endpoints may answer. Past it: their first attempts are parked. */
const CROWD_PATIENCE_MS = 100
/**
 * Parking too early only costs writes to a lane. Waiting stops dispatch.
 * @limit The same in a process that is late itself.
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
