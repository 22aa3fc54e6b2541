/**
 * The use of queues, counted for all callers: both APIs, deliveries and their dead letters. Moves by maxReceiveCount or
 * a redrive are no sends and are not counted (checklist 201).
 */
export interface QueueUse {
  /** Bytes of each message that was added. */
  sent(arn: string, sizes: number[]): void
  /** Not added: a FIFO queue had them already. */
  deduplicated(arn: string, messages: number): void
  received(arn: string, messages: number): void
  emptyReceive(arn: string): void
  deleted(arn: string, messages: number): void
}
