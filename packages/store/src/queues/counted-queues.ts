/**
 * Queues whose use is counted for all callers: both APIs, deliveries and their dead letters. Moves by maxReceiveCount
 * or a redrive are no sends and are not counted (checklist 201).
 */
import { isFifoName, messageBytes, type QueueMessage } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { QueuesOptions } from './definitions/queue-definitions.ts'
import type {
  HandleResult,
  HandleRule,
  ReceiveRequest,
  ReceiveTurn,
  SendItem,
  SentItem,
} from './queue-records.ts'
import type { QueueWaits, WaitingReceive } from './queue-waits.ts'
import { Queues } from './queues.ts'

export interface QueueUse {
  /** Bytes of each message that was added. */
  sent(arn: string, sizes: number[]): void
  /** Not added: a FIFO queue had them already. */
  deduplicated(arn: string, messages: number): void
  received(arn: string, messages: number): void
  emptyReceive(arn: string): void
  deleted(arn: string, messages: number): void
}

export class CountedQueues extends Queues {
  readonly #use: QueueUse

  constructor(redis: Redis, use: QueueUse, options: QueuesOptions = {}) {
    super(redis, options)
    this.#use = use
  }

  override async send(arn: string, items: SendItem[]): Promise<SentItem[]> {
    const sent = await super.send(arn, items)
    const sizes = items.flatMap((item, i) =>
      sent[i]?.duplicate ? [] : [messageBytes(item.body, item.attributes)],
    )
    if (sizes.length > 0) this.#use.sent(arn, sizes)
    // A standard queue knows a message again only by an id that was given: the same append, made twice.
    if (sizes.length < items.length && isFifoName(arn))
      this.#use.deduplicated(arn, items.length - sizes.length)
    return sent
  }

  override async receive(arn: string, request: ReceiveRequest): Promise<QueueMessage[]> {
    const messages = await super.receive(arn, request)
    if (messages.length === 0) this.#use.emptyReceive(arn)
    return messages
  }

  override async receiveTurn(arn: string, request: ReceiveRequest): Promise<ReceiveTurn> {
    const turn = await super.receiveTurn(arn, request)
    if (turn.messages.length > 0) this.#use.received(arn, turn.messages.length)
    return turn
  }

  override async ack(arn: string, handles: string[], rule?: HandleRule): Promise<HandleResult[]> {
    const results = await super.ack(arn, handles, rule)
    const deleted = results.filter(({ ok }) => ok).length
    if (deleted > 0) this.#use.deleted(arn, deleted)
    return results
  }
}

/** Long polls of counted queues: one is one receive, however often it looked. */
export function countedWaits(
  waits: Pick<QueueWaits, 'receiveWaiting'>,
  use: Pick<QueueUse, 'emptyReceive'>,
): Pick<QueueWaits, 'receiveWaiting'> {
  return {
    async receiveWaiting(arn: string, request: WaitingReceive) {
      const messages = await waits.receiveWaiting(arn, request)
      // Without a wait it was a plain receive, which counted itself.
      if (messages.length === 0 && request.waitSeconds > 0) use.emptyReceive(arn)
      return messages
    },
  }
}
