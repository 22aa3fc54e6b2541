/**
 * Where accepted messages go: those of a standard topic with others into one dispatch job, those of a FIFO topic into its
 * log. Each is one atomic write.
 */
import type { Message } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'
import type { KnownTopic } from '../topic-cache.ts'
import { appendToFifoLog } from './fifo.ts'
import { PublishCounts } from './publish-counts.ts'

/** What a message weighs in a job beside its text and attributes. */
const OVERHEAD_BYTES = 256

export interface Receipt {
  messageId: string
  /** Of FIFO topics. */
  sequenceNumber?: string
}

export class MessageStore {
  readonly #deps: ApiDeps
  readonly #counts: PublishCounts

  constructor(deps: ApiDeps) {
    this.#deps = deps
    this.#counts = new PublishCounts(deps.metrics)
  }

  /** Resolves when all of them are stored; `bytes` are those of texts and attributes together. */
  async store(topic: KnownTopic, messages: Message[], bytes: number): Promise<Receipt[]> {
    if (topic.record.fifo) {
      const receipts = await appendToFifoLog(this.#deps, topic.record, messages)
      this.count(topic, messages.length, bytes)
      return receipts
    }
    await this.#deps.publisher.publish(messages, weightOf(topic, messages, bytes))
    this.count(topic, messages.length, bytes)
    return messages.map(({ messageId }) => ({ messageId }))
  }

  count({ record }: KnownTopic, messages: number, bytes: number): void {
    this.#counts.add(record.arn, messages, bytes)
  }
}

export function weightOf(
  { fanOut }: KnownTopic,
  messages: Message[],
  bytes: number,
): { bytes: number; fanOut: number } {
  return { bytes: bytes + messages.length * OVERHEAD_BYTES, fanOut }
}
