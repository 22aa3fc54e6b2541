/**
 * The dead-letter queue that a request of the native API names. It must exist, or the request must ask to create it.
 */
import { FantailError, type RedrivePolicy } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'

interface NamedQueue {
  redrivePolicy: RedrivePolicy | null | undefined
  /** The queue is created if it does not exist. */
  createQueue: boolean | undefined
}

/**
 * Throws `validation_failed` if there is no such queue. SNS accepts a missing queue and discards its letters, so this
 * is not checked over the AWS protocols.
 */
export async function provideDeadLetterQueue(
  { queues, log }: Pick<ApiDeps, 'queues' | 'log'>,
  { redrivePolicy, createQueue }: NamedQueue,
): Promise<void> {
  if (!redrivePolicy) return
  const { deadLetterTargetArn: queueArn } = redrivePolicy
  if ((await queues.get(queueArn)) !== null) return
  if (!createQueue) {
    const message = 'names no queue; `"createQueue": true` beside it makes the queue'
    throw FantailError.invalid('redrivePolicy.deadLetterTargetArn', message)
  }
  const { created } = await queues.create(queueArn, {})
  if (created) log.info({ queueArn }, 'queue.created')
}
