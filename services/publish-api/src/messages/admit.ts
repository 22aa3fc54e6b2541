/** The check before every publish: the topic exists, and Redis has capacity for the message. */

import type { KnownTopic } from '../caches/topic-cache.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { notFound } from '../http/error-answers.ts'

type Tools = Pick<ApiDeps, 'storageGuard' | 'topicCache'>

/**
 * Returns the topic. Throws or rejects with `not_found`, or with the storage guard's error. Returns a promise only if
 * it must wait.
 */
export function admit(
  { storageGuard, topicCache }: Tools,
  topicArn: string,
): KnownTopic | Promise<KnownTopic> {
  const topic = topicCache.known(topicArn)
  const waiting = storageGuard.admit(topic?.uid)
  if (topic) return waiting ? waiting.then(() => topic) : topic
  // Both run at the same time. If Redis does not answer, the caller then waits for one time-out and not for two.
  return Promise.all([topicCache.find(topicArn), waiting]).then(([found]) => {
    if (!found) throw notFound('topic')
    return found
  })
}
