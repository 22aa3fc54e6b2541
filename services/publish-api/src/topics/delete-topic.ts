/** Deleting a topic, over either API. */
import type { ApiDeps } from '../deps.ts'

/**
 * Also when already gone. The queue that the topic has made for its dead letters goes with it if it is empty. What a
 * crash leaves between the two is made good by the sweep of queues.
 */
export async function deleteTopic(
  { topics, topicCache, topicQueues, queues, log }: ApiDeps,
  topicArn: string,
  requestId: string,
): Promise<void> {
  await topics.delete(topicArn)
  topicCache.forget(topicArn)
  log.info({ requestId, topicArn }, 'topic.deleted')
  const own = await topicQueues.find(topicArn)
  if (own?.exists) await queues.delete(own.queueArn, { emptyAndOf: topicArn })
}
