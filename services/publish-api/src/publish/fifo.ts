/** Publishing to a FIFO topic (sns-semantics §4.4). */
import { createHash } from 'node:crypto'
import { FantailError, type Message, type TopicRecord } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'
import type { Receipt } from './message-store.ts'

/** What a message is known by for five minutes: the id given, else the SHA-256 of its text where the topic has that. */
export function deduplicationIdOf(
  topic: Pick<TopicRecord, 'contentBasedDeduplication'>,
  { deduplicationId, message }: Pick<Message, 'deduplicationId' | 'message'>,
): string | undefined {
  if (deduplicationId !== undefined) return deduplicationId
  return topic.contentBasedDeduplication ? createHash('sha256').update(message).digest('hex') : undefined
}

/** Messages that have a group and can be given a deduplication id; a repeated one is answered with its first receipt. */
export async function appendToFifoLog(
  _deps: ApiDeps,
  _topic: TopicRecord,
  _messages: Message[],
): Promise<Receipt[]> {
  throw new FantailError('not_supported', 'FIFO topics are not served by this version')
}
