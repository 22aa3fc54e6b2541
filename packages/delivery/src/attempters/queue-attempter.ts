/** Attempts at queues of this service: each is an append, of a run of a FIFO group or of one message. */
import { queueBody } from '../envelope/envelope.ts'
import type { Target } from '../envelope/target.ts'
import type { QueueAppend, QueueAppends } from '../queues/queue-appends.ts'
import type { Attempt, AttemptDone, Attempter, Sent } from './attempter.ts'

export interface QueueAttempterOptions {
  appends: Pick<QueueAppends, 'append'>
  /** Names an item by its delivery, so that an append that is repeated changes nothing. */
  itemIdOf(subscriptionId: string, delivery: Buffer): string
}

export class QueueAttempter implements Attempter {
  readonly #options: QueueAttempterOptions

  constructor(options: QueueAttempterOptions) {
    this.#options = options
  }

  /** Nothing takes long on the way to a queue. */
  openAhead(): void {}

  attempt(attempt: Attempt, done: AttemptDone): void {
    const { appends } = this.#options
    const appending = appends.append(attempt.target.url, this.#itemsOf(attempt))
    void appending.then(({ result, along, copy }) => done(result, along, copy))
  }

  /** The connection to Redis is its creator's. */
  async close(): Promise<void> {}

  /** Renders each message when its turn comes. */
  *#itemsOf(attempt: Attempt): Generator<QueueAppend> {
    yield this.#itemOf(attempt.target, attempt)
    for (const sent of attempt.run ?? []) yield this.#itemOf(attempt.target, sent)
  }

  #itemOf(target: Target, { envelope, delivery }: Sent): QueueAppend {
    const body = queueBody(envelope, target, target.url)
    const { subscriptionId } = target
    const id = delivery && this.#options.itemIdOf(subscriptionId, delivery)
    return { message: envelope.message, item: id === undefined ? body : { id, ...body } }
  }
}
