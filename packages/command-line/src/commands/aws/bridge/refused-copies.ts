/**
 * Copies that Fantail refuses permanently go to a queue at AWS of their own. They would otherwise be tried for 14 days,
 * and in a FIFO topic hold up their group, until SQS drops them. The queue is made for the first of them.
 */
import type { MessageSource, QueueMessage } from '@fantail/consumer'
import { ApiRefusal } from '../../../output/exit-codes.ts'
import type { AwsTopic } from '../aws-topic.ts'
import { createAwsQueue, refusedQueueName } from '../bridge-queue.ts'

/**
 * The message is wrong, too large, or was copied with another text. All other refusals pass when something at
 * Fantail is repaired, such as a key.
 */
const REFUSED_FOR_GOOD = [400, 409, 413, 422]

export function isRefusedForGood(error: unknown): boolean {
  return error instanceof ApiRefusal && REFUSED_FOR_GOOD.includes(error.status)
}

export class RefusedCopies {
  readonly name: string
  readonly #topic: AwsTopic
  readonly #source: MessageSource
  #queueUrl: Promise<string> | undefined

  constructor(topic: AwsTopic, source: MessageSource, bridgeQueue: string) {
    this.name = refusedQueueName(topic, bridgeQueue)
    this.#topic = topic
    this.#source = source
  }

  /** The message may be deleted from the queue of the bridge when this resolves. */
  async keep(message: QueueMessage): Promise<void> {
    if (!this.#source.copyTo) throw new TypeError(`${this.#source.name} copies no messages`)
    this.#queueUrl ??= createAwsQueue(this.#topic, this.name)
    try {
      await this.#source.copyTo(await this.#queueUrl, message)
    } catch (error) {
      // The queue may have been deleted. The next attempt makes it again.
      this.#queueUrl = undefined
      throw error
    }
  }
}
