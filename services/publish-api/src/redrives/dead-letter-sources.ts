/**
 * Finds the subscriptions and queues whose dead-letter queue is a given queue, and the dead-letter queue of a
 * subscription. The store's index may name too many sources, because deleting a topic, or an expired confirmation,
 * removes subscriptions without updating it. Each is therefore read. One that no longer exists is removed from the
 * index. One whose policy names another queue is only left out, because its change may be under way.
 */
import { parseArn, type SubscriptionRecord } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'

type Tools = Pick<ApiDeps, 'queues' | 'subscriptions'>

/** Their ARNs now: subscriptions, queues, and the topic whose own dead-letter queue this is. */
export async function deadLetterSources(deps: Tools, queueArn: string): Promise<string[]> {
  const [queue, named] = await Promise.all([deps.queues.get(queueArn), namedSources(deps, queueArn)])
  return [...(queue?.deadLettersOf === undefined ? [] : [queue.deadLettersOf]), ...named]
}

async function namedSources(deps: Tools, queueArn: string): Promise<string[]> {
  const sources = await deps.queues.sources(queueArn)
  const states = await Promise.all(sources.map((source) => stateOf(deps, source, queueArn)))
  const gone = sources.filter((_, index) => states[index] === 'gone')
  await Promise.all(gone.map((source) => deps.queues.removeSource(queueArn, source)))
  return sources.filter((_, index) => states[index] === 'source')
}

/** The index is always right for queues, so only subscriptions are read. */
async function stateOf(
  { subscriptions }: Tools,
  source: string,
  queueArn: string,
): Promise<'source' | 'other' | 'gone'> {
  const id = parseArn(source)?.subscriptionId
  if (id === undefined) return 'source'
  const record = await subscriptions.get(id)
  if (!record) return 'gone'
  return record.redrivePolicy?.deadLetterTargetArn === queueArn && !record.unsubscribed ? 'source' : 'other'
}

/**
 * The queue for the subscription's dead letters. It may not exist: a topic's own queue is made by the first letter, and
 * a named one may be deleted. undefined: failed messages are discarded.
 */
export async function letterQueueOf(
  { topicQueues }: Pick<ApiDeps, 'topicQueues'>,
  { deadLetters, redrivePolicy, topicArn }: SubscriptionRecord,
): Promise<string | undefined> {
  if (!deadLetters) return redrivePolicy?.deadLetterTargetArn
  return (await topicQueues.find(topicArn))?.queueArn
}

/** The queue that gets the subscription's next dead letter, which may make it. undefined: the letter is discarded. */
export async function nextLetterQueueOf(
  { topicQueues }: Pick<ApiDeps, 'topicQueues'>,
  { deadLetters, redrivePolicy, topicArn }: SubscriptionRecord,
): Promise<string | undefined> {
  if (!deadLetters) return redrivePolicy?.deadLetterTargetArn
  return (await topicQueues.find(topicArn))?.queueArn
}
