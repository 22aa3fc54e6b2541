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
 * Parking too early costs a lane's writes. Waiting stops dispatch.
 * @limit The same in a process that is late itself.
 */
const CROWD_PATIENCE_MS_MAX = 1_000

export class EndpointCrowd {
  readonly #slots: Pick<AttemptSlots, 'slowMs'>
  /** Since when something of theirs is queued and none has answered (performance.now()). */
  #unansweredSince: number | undefined

  constructor(slots: Pick<AttemptSlots, 'slowMs'>) {
    this.#slots = slots
  }

  /** A first attempt of an unproven endpoint waits since then. */
  join(queuedAt: number): void {
    this.#unansweredSince ??= queuedAt
  }

  /** One of them has answered, or no attempt runs that could be answered. */
  answered(): void {
    this.#unansweredSince = undefined
  }

  /** `queued`: how many first attempts wait, for all endpoints. */
  isSilent(queued: number): boolean {
    if (this.#unansweredSince === undefined || queued < CROWD_MIN) return false
    const patienceMs = CROWD_PATIENCE_MS + this.#slots.slowMs - SLOW_MS
    return performance.now() - this.#unansweredSince > Math.min(patienceMs, CROWD_PATIENCE_MS_MAX)
  }
}
