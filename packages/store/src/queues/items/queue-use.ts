/**
 * Counts the use of queues by all callers: both APIs, deliveries and their dead letters. Moves by maxReceiveCount or a
 * redrive do not count as sends (checklist 201).
 */
export interface QueueUse {
  /** Bytes of each message that was added. */
  sent(arn: string, sizes: number[]): void
  /** Messages that were not added, because a FIFO queue had them already. */
  deduplicated(arn: string, messages: number): void
  received(arn: string, messages: number): void
  emptyReceive(arn: string): void
  deleted(arn: string, messages: number): void
}
