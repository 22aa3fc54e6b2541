/** Publishes notices as ordinary messages of their topics, so that everything after that is ordinary delivery. */
import { BATCH_MESSAGES_MAX, FantailError } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { admit } from '../messages/admit.ts'
import { logPublished } from '../messages/log-published.ts'
import { makeMessages } from '../messages/make-messages.ts'
import { bytesOf, MessageStore, type PublishTools } from '../messages/message-store.ts'
import type { GivenMessage } from '../messages/read-messages.ts'

export type NoticeTools = PublishTools & Pick<ApiDeps, 'live' | 'log'>

/**
 * Refusals of this topic alone. Its notices are lost and logged, so that they do not repeat the notices of other
 * topics. After any other failure the next round tells everything again.
 */
const OF_TOPIC: ReadonlySet<string> = new Set(['not_found', 'quota_exceeded', 'rate_limited'])

export async function publishNotices(
  deps: NoticeTools,
  topicArn: string,
  { notices, publicUrl }: { notices: GivenMessage[]; publicUrl: string },
): Promise<void> {
  try {
    for (let at = 0; at < notices.length; at += BATCH_MESSAGES_MAX)
      await publish(deps, topicArn, { notices: notices.slice(at, at + BATCH_MESSAGES_MAX), publicUrl })
  } catch (error) {
    if (!(error instanceof FantailError && OF_TOPIC.has(error.code))) throw error
    deps.log.warn({ topicArn, notices: notices.length, err: error }, 'notices.lost')
  }
}

async function publish(
  deps: NoticeTools,
  topicArn: string,
  { notices, publicUrl }: { notices: GivenMessage[]; publicUrl: string },
): Promise<void> {
  const startedAt = performance.now()
  const topic = await admit(deps, topicArn)
  const messages = makeMessages(deps, notices, { topic, publicUrl })
  const bytes = bytesOf(messages)
  const receipts = await new MessageStore(deps).store(topic, messages, bytes)
  logPublished(deps, { requestId: 'notices', topicArn, receipts, bytes, replayed: false, startedAt })
}
