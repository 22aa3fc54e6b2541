/** The check before every publish: the topic exists, and Redis has capacity for the message. */
import type { ApiDeps } from '../deps.ts'
import { notFound } from '../http/error-answers.ts'
import type { KnownTopic } from '../topics/topic-cache.ts'

type Tools = Pick<ApiDeps, 'storageGuard' | 'topicCache'>

/**
 * The topic; throws or rejects with `not_found`, or with what the storage guard says. A promise only if it must be
 * awaited.
 */
export function admit(
  { storageGuard, topicCache }: Tools,
  topicArn: string,
): KnownTopic | Promise<KnownTopic> {
  const topic = topicCache.known(topicArn)
  const waiting = storageGuard.admit(topic?.uid)
  if (topic) return waiting ? waiting.then(() => topic) : topic
  // Side by side, so that a Redis that does not answer keeps the caller waiting for one timeout and not for two.
  return Promise.all([topicCache.find(topicArn), waiting]).then(([found]) => {
    if (!found) throw notFound('topic')
    return found
  })
}
