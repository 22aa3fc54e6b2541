/** Checks before every publish: the topic exists, Redis and quotas have room, and the messages fit the topic. */
import { MESSAGE_BYTES_MAX, messageBytes, type Problem } from '@fantail/contracts'
import type { KnownTopic } from '../caches/topic-cache.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { notFound } from '../http/error-answers.ts'
import type { GivenMessage, GivenMessages } from './read-messages.ts'

type Tools = Pick<ApiDeps, 'quotaWatch' | 'storageGuard' | 'topicCache'>

/**
 * Returns the topic. Throws or rejects with `not_found`, `quota_exceeded`, or with the storage guard's error. Returns a
 * promise only if it must wait.
 */
export function admit(
  { quotaWatch, storageGuard, topicCache }: Tools,
  topicArn: string,
): KnownTopic | Promise<KnownTopic> {
  quotaWatch.admit(topicArn)
  const topic = topicCache.known(topicArn)
  const waiting = storageGuard.admit(topic?.uid)
  if (topic) return waiting ? waiting.then(() => topic) : topic
  // Both run at the same time. If Redis does not answer, the caller then waits for one time-out and not for two.
  return Promise.all([topicCache.find(topicArn), waiting]).then(([found]) => {
    if (!found) throw notFound('topic')
    return found
  })
}

/**
 * Rules of a publish that depend on the topic: its size limit, and the members that FIFO topics require and standard
 * topics refuse (checklist 130, 131). Returns every problem, by the path of its member. Nearly every publish has none,
 * which costs one check per message.
 */
export function topicProblems(topic: KnownTopic, { batch, messages }: GivenMessages): Problem[] {
  const small = topic.messageBytesMax < MESSAGE_BYTES_MAX
  return messages.flatMap((message, index) => {
    if (!topic.record.fifo && message.deduplicationId === undefined && !small) return []
    const path = batch ? `messages[${index}].` : ''
    return messageProblems(topic, message).map((problem) => ({ ...problem, path: path + problem.path }))
  })
}

function messageProblems({ record, messageBytesMax }: KnownTopic, message: GivenMessage): Problem[] {
  const problems: Problem[] = []
  if (messageBytes(message.message, message.attributes) > messageBytesMax) {
    const limit = `and its attributes must have at most ${messageBytesMax} bytes together, as the topic has it`
    problems.push({ path: 'message', message: limit })
  }
  if (record.fifo) {
    if (message.groupId === undefined) {
      problems.push({ path: 'groupId', message: 'is required by a FIFO topic' })
    }
    if (message.deduplicationId === undefined && !record.contentBasedDeduplication) {
      const required = 'is required by a FIFO topic without contentBasedDeduplication'
      problems.push({ path: 'deduplicationId', message: required })
    }
  } else if (message.deduplicationId !== undefined) {
    problems.push({ path: 'deduplicationId', message: 'is for FIFO topics only' })
  }
  return problems
}
