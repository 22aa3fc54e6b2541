/**
 * Messages that consumers of the test have received while the time moves. A consumer handles them in real time. If the
 * time moved on at once, their visibility timeouts would end meanwhile. So they count as under way until they are
 * deleted, or until the consumer has had some time.
 */
import type { QueueUse } from '@fantail/store'

/** How long the time waits for consumers of the test to delete received messages. Past it: the time moves on. */
const CONSUMERS_MS_MAX = 1_000

export class GivenMessages {
  /** By queue: the number of messages that were received and not deleted. undefined: the time does not move. */
  #given: Map<string, number> | undefined
  #latestAt = Number.NEGATIVE_INFINITY
  #receives = 0

  begin(): void {
    this.#given = new Map()
  }

  end(): void {
    this.#given = undefined
  }

  /** The number of receives that returned messages. */
  get receives(): number {
    return this.#receives
  }

  get count(): number {
    if (performance.now() - this.#latestAt > CONSUMERS_MS_MAX) return 0
    return [...(this.#given ?? new Map<string, number>()).values()].reduce((sum, count) => sum + count, 0)
  }

  /** Counts what the given one counts. */
  watching(use: QueueUse): QueueUse {
    return {
      sent: (arn, sizes) => use.sent(arn, sizes),
      deduplicated: (arn, messages) => use.deduplicated(arn, messages),
      emptyReceive: (arn) => use.emptyReceive(arn),
      received: (arn, messages) => {
        use.received(arn, messages)
        this.#add(arn, messages)
        this.#receives++
        this.#latestAt = performance.now()
      },
      deleted: (arn, messages) => {
        use.deleted(arn, messages)
        this.#add(arn, -messages)
      },
    }
  }

  /** Messages that were given out before are not waited for, so their deletion must not count either. */
  #add(arn: string, messages: number): void {
    const count = Math.max(0, (this.#given?.get(arn) ?? 0) + messages)
    this.#given?.set(arn, count)
  }
}
