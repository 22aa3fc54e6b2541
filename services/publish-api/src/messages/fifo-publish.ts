/** Publishing to a FIFO topic (checklist 130 to 134). */
import { createHash } from 'node:crypto'
import type { Message, TopicRecord } from '@fantail/contracts'

/**
 * Messages in the form for the topic's log. Each has the deduplication id that identifies it for five minutes: the
 * given one, or the SHA-256 of its text. The caller has checked that the id is given or the topic derives it.
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
