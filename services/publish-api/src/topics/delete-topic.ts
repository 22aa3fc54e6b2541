/** Deletes a topic, for both APIs. */
import type { ApiDeps } from '../deps/api-deps.ts'

/**
 * Deletes the topic, if it exists. The queue that the topic made for its dead letters is deleted with it, if it is
 * empty. After a crash between the two, the sweep of queues deletes it.
 */
export async function deleteTopic(
  {
    topics,
    topicCache,
    topicQueues,
    queues,
    log,
  }: Pick<ApiDeps, 'topics' | 'topicCache' | 'topicQueues' | 'queues' | 'log'>,
  topicArn: string,
  requestId: string,
): Promise<void> {
  await topics.delete(topicArn)
  topicCache.forget(topicArn)
  log.info({ requestId, topicArn }, 'topic.deleted')
  const own = await topicQueues.find(topicArn)
  if (own?.exists) await queues.delete(own.queueArn, { emptyAndOf: topicArn })
}
