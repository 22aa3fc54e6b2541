/** Makes attempts at queues of this Fantail. An attempt appends one message, or several messages of a FIFO group. */
import { queueBody } from '../envelope/envelope.ts'
import type { Target } from '../envelope/target.ts'
import type { QueueAppend, QueueAppends } from '../queues/queue-appends.ts'
import type { Attempt, AttemptDone, Attempter, Sent } from './attempter.ts'

export interface QueueAttempterOptions {
  appends: Pick<QueueAppends, 'append'>
  /**
   * The id of a delivery in the queue. If the same delivery is appended again, the queue recognizes the id and changes
   * nothing.
   */
  itemIdOf(subscriptionId: string, delivery: Buffer): string
}

export class QueueAttempter implements Attempter {
  readonly #options: QueueAttempterOptions

  constructor(options: QueueAttempterOptions) {
    this.#options = options
  }

  contentOf({ envelope }: Sent, target: Target): string {
    return queueBody(envelope, target, target.url).body
  }

  /** A queue has no connection to open. */
  openAhead(): void {}

  attempt(attempt: Attempt, done: AttemptDone): void {
    const { appends } = this.#options
    const appending = appends.append(attempt.target.url, this.#itemsOf(attempt))
    void appending.then(({ result, along, copy }) => done(result, along, copy))
  }

  /** The creator of the connection to Redis closes it. */
  async close(): Promise<void> {}

  /** Renders each message only when it is needed. */
  *#itemsOf(attempt: Attempt): Generator<QueueAppend> {
    yield this.#itemOf(attempt.target, attempt)
    for (const sent of attempt.followers ?? []) yield this.#itemOf(attempt.target, sent)
  }

  #itemOf(target: Target, { envelope, delivery }: Sent): QueueAppend {
    const body = queueBody(envelope, target, target.url, delivery)
    const { subscriptionId } = target
    const id = delivery && this.#options.itemIdOf(subscriptionId, delivery)
    return { message: envelope.message, item: id === undefined ? body : { id, ...body } }
  }
}
