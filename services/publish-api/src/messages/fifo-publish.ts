/** Publishing to a FIFO topic (checklist 130 to 134). */
import { createHash } from 'node:crypto'
import type { Message, TopicRecord } from '@fantail/contracts'

/**
 * Messages as the topic's log takes them: each with the id it is known by for five minutes, the one given, else the
 * SHA-256 of its text. Whoever asks has seen to it that either the id is given or the topic makes it so.
 */
export function withDeduplicationIds(
  { contentBasedDeduplication }: Pick<TopicRecord, 'contentBasedDeduplication'>,
  messages: Message[],
): Message[] {
  if (!contentBasedDeduplication) return messages
  return messages.map((message) =>
    message.deduplicationId === undefined
      ? { ...message, deduplicationId: createHash('sha256').update(message.message).digest('hex') }
      : message,
  )
}
