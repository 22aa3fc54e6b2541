/** Adding messages to a queue. */
import { FantailError, messageBytes } from '@fantail/contracts'
import { shardBase, shardOf } from '../keys/shards.ts'
import type { BodySeals } from '../records/sealed-messages.ts'
import type { ReplicaAcks } from '../redis/replica-acks.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { queueMissing } from './items/queue-errors.ts'
import { formatSequence, itemValues, type StoredItem } from './items/queue-items.ts'
import { atQueue, type QueueUse, type SendItem, type SentItem } from './items/queue-records.ts'
import { kindOf } from './kinds/queue-kind.ts'
import { chunksOf, storedItem } from './kinds/queue-sending.ts'

const SEND = readScript('send-messages-1')

type SendReply = [id: Buffer, sequence: Buffer, stored: number][]

export class QueueSender {
  readonly #acks: ReplicaAcks
  readonly #use: QueueUse | undefined
  readonly #seals: BodySeals | undefined

  constructor(acks: ReplicaAcks, use: QueueUse | undefined, seals: BodySeals | undefined) {
    this.#acks = acks
    this.#use = use
    this.#seals = seals
  }

  /**
   * Sends items, in one atomic write per 100 items or 4 MiB. Results have the same order. Throws `not_found`. On a FIFO
   * queue it also throws `validation_failed` if an item has no group, its own delay, or no deduplication id that the
   * queue accepts. Throws a SealKeyError if an item must be sealed and there is no key.
   */
  async send(arn: string, items: SendItem[]): Promise<SentItem[]> {
    const sent: SentItem[] = []
    const stored = items.map((item) => storedItem(item, arn, this.#seals))
    const how = {
      whenFull: items.some((item) => item.deadLetter !== undefined),
      byBody: stored.some((item) => item.deduplication === 'body'),
    }
    for (const chunk of chunksOf(stored)) {
      const reply = await this.store(arn, chunk, how)
      if (reply === null) throw queueMissing()
      if (reply === 0) throw deduplicationMissing()
      sent.push(...reply.map(sentItem))
    }
    if (this.#use) countSent(this.#use, arn, items, sent)
    return sent
  }

  /**
   * Stores items without counting them as sent: a redrive policy moves messages that were sent before. null: there is
   * no such queue. 0: the queue makes no deduplication ids from bodies.
   */
  async store(
    arn: string,
    items: StoredItem[],
    { whenFull, byBody = false }: { whenFull: boolean; byBody?: boolean },
  ): Promise<SendReply | 0 | null> {
    const values = items.flatMap(itemValues)
    const args = { ...atQueue(arn), runsWhenFull: whenFull, isByBody: byBody, items: values }
    const reply = (await runScript(this.#acks.redis, SEND, args)) as SendReply | 0 | null
    // Moves continue without missing replicas, because no caller waits for them and the source still has the message.
    if (reply) await this.#acks.confirm(shardBase(shardOf(arn)), whenFull ? false : undefined)
    return reply
  }
}

function countSent(use: QueueUse, arn: string, items: SendItem[], sent: SentItem[]): void {
  const sizes = items.flatMap((item, i) =>
    sent[i]?.duplicate ? [] : [messageBytes(item.body, item.attributes)],
  )
  if (sizes.length > 0) use.sent(arn, sizes)
  // A queue that does not deduplicate recognises a message only by a given id, when the same append is repeated.
  if (sizes.length < items.length && kindOf(arn).deduplicates)
    use.deduplicated(arn, items.length - sizes.length)
}

function deduplicationMissing(): FantailError {
  return FantailError.invalid('deduplicationId', 'is needed: the queue makes none from the body')
}

function sentItem([id, sequence, stored]: SendReply[number]): SentItem {
  return {
    messageId: String(id),
    ...(sequence.length > 0 && { sequenceNumber: formatSequence(String(sequence)) }),
    ...(stored === 0 && { duplicate: true as const }),
  }
}
