/** The dead-letter queue that a request of the native API names: it is there, or the request has it made. */
import { FantailError, type RedrivePolicy } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'

interface NamedQueue {
  redrivePolicy: RedrivePolicy | null | undefined
  /** The caller asked for the queue to be made if there is none. */
  createQueue: boolean | undefined
}

/**
 * `validation_failed` if there is no such queue. SNS takes a missing one and discards what should go there, so this is
 * not asked over the AWS protocols.
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
