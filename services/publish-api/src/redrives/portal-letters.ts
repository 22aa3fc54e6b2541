/** Finds the queue with the dead letters of a subscription. */
import type { SubscriptionRecord } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'

/** The queue with the subscription's dead letters. undefined: failed messages are discarded, or none has failed yet. */
export async function letterQueueOf(
  { topicQueues }: Pick<ApiDeps, 'topicQueues'>,
  record: SubscriptionRecord,
): Promise<string | undefined> {
  if (!record.deadLetters) return record.redrivePolicy?.deadLetterTargetArn
  return (await topicQueues.find(record.topicArn))?.queueArn
}
