/**
 * Queues with SQS's semantics. A message is
 *
 *   delayed ──time──▶ ready ──receive──▶ in flight ──ack──▶ gone
 *                       ▲                    │ time, visibility 0
 *                       └────────────────────┘
 *   ready ──receive, once too often──▶ moving ──append to the dead-letter queue, then forget──▶ gone
 *   ready ──redrive──▶ held ──redrive──▶ gone, or ready again
 *
 * and gone from anywhere when its retention is over, by purge, by DELETE. Scripts do each step; only the move spans two
 * shards: the item stays marked until it has been appended to the other queue under its own id, so a crash repeats the
 * append, which changes nothing, and loses nothing.
 *
 * In a FIFO queue (a name that ends in `.fifo`) a message is received only while none before it in its group is in
 * flight, moving or held. Its items stand in their groups by sequence number, and the groups in two sets by when their
 * first item is visible (queues/lua/include/queue.lua); nothing is `ready`, so nothing has to be made so. A message
 * with a known deduplication id is not stored; one that its sender has named by an id is known by that id alone.
 */
import { randomBytes } from 'node:crypto'
import { FantailError, isFifoName, type QueueMessage } from '@fantail/contracts'
import { queuesKey } from '../keys.ts'
import { listNames } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { shardBase, shardOf } from '../redis/shards.ts'
import { AttemptChangedError, OverLimitError, queueMissing } from './queue-errors.ts'
import { QueueHandles } from './queue-handles.ts'
import {
  formatHandle,
  formatSequence,
  type ItemReply,
  itemValues,
  type ReadItem,
  readItem,
  SECRET_AT,
  SECRET_BYTES,
  type StoredItem,
  secretDigest,
} from './queue-items.ts'
import type { ReceiveRefusal, ReceiveRequest, ReceiveTurn, SendItem, SentItem } from './queue-records.ts'
import { chunksOf, movedItem, storedItem } from './queue-sending.ts'

const SEND = readScript('send-messages-1')
const RECEIVE = readScript('receive-messages-1')
const RECEIVE_IN_ORDER = readScript('receive-in-order-1')
const SETTLE_MOVES = readScript('settle-moves-1')
const SWEEP = readScript('sweep-queue-1')

/**
 * A turn goes round again after moves, and where what it looked at was too old.
 * @limit Rounds of one receive that finds messages to move or too old. Past it: it answers with what it has.
 */
const RECEIVE_ROUNDS_MAX = 10
/** @limit Expired messages that one script of the sweep removes. Past it: a further script follows. */
const SWEEP_ITEMS_MAX = 500
/** @limit Broken-off moves that one script of the sweep finishes. Past it: a further script follows. */
const SWEEP_MOVES_MAX = 10
/** @limit Queues that the sweep lists at once. Past it: a further list follows. */
const SWEEP_QUEUES_MAX = 200

type ReceiveReply = [
  uid: Buffer,
  nextInMs: number,
  target: Buffer,
  messages: ItemReply[],
  moves: ItemReply[],
  full: number,
  refused?: Buffer,
]
/** One script call of a turn. */
interface ReceiveRound {
  again: boolean
  nextInMs: number
  overLimit: boolean
  refused: ReceiveRefusal | undefined
}

type SendReply = [id: Buffer, sequence: Buffer, stored: number][]

export class Queues extends QueueHandles {
  /**
   * One atomic write per 100 items or 4 MiB, with answers in their order; `not_found`. On a FIFO queue also
   * `validation_failed` if an item has no group, its own delay, or no deduplication id that the queue accepts.
   */
  async send(arn: string, items: SendItem[]): Promise<SentItem[]> {
    const sent: SentItem[] = []
    const fifo = isFifoName(arn)
    const stored = items.map((item) => storedItem(item, fifo))
    const how = {
      whenFull: items.some((item) => item.deadLetter !== undefined),
      byBody: stored.some((item) => item.deduplication === 'body'),
    }
    for (const chunk of chunksOf(stored)) {
      const reply = await this.#store(arn, chunk, how)
      if (reply === null) throw queueMissing()
      if (reply === 0) throw deduplicationMissing()
      sent.push(...reply.map(sentItem))
    }
    return sent
  }

  /**
   * Messages that are visible now, without waiting (QueueWaits waits); `not_found`, OverLimitError,
   * AttemptChangedError.
   */
  async receive(arn: string, request: ReceiveRequest): Promise<QueueMessage[]> {
    const { messages, overLimit } = await this.receiveTurn(arn, request)
    if (overLimit && messages.length === 0) throw new OverLimitError()
    return messages
  }

  /** Like `receive`, with the time of the next message. */
  async receiveTurn(arn: string, request: ReceiveRequest): Promise<ReceiveTurn> {
    const messages: QueueMessage[] = []
    for (let round = 1; ; round++) {
      let once: ReceiveRound
      try {
        once = await this.#receiveOnce(arn, request, messages, round)
      } catch (error) {
        // The received messages go to the caller. A failed move is repeated when its lease is over.
        if (messages.length === 0) throw error
        this.onProblem(error as Error)
        return { messages, nextVisibleInMs: 0, overLimit: false }
      }
      const { again, nextInMs, overLimit, refused } = once
      if (!again || messages.length >= request.maxMessages || round === RECEIVE_ROUNDS_MAX) {
        return {
          messages,
          nextVisibleInMs: nextInMs < 0 ? null : nextInMs,
          overLimit,
          ...(refused !== undefined && { refused }),
        }
      }
    }
  }

  /** Removes what is too old and finishes what a crash left half done, in all queues; answers how many messages. */
  async sweep(): Promise<number> {
    await this.resumeDeletions()
    let removed = 0
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: string[] = await listNames(this.redis, {
        key: queuesKey,
        prefix: '',
        after,
        limit: SWEEP_QUEUES_MAX,
      })
      for (const arn of page) removed += await this.#sweepQueue(arn)
      after = page.length < SWEEP_QUEUES_MAX ? undefined : page.at(-1)
    }
    return removed
  }

  async #sweepQueue(arn: string): Promise<number> {
    for (let removed = 0; ; ) {
      const args = [SWEEP_ITEMS_MAX, SWEEP_MOVES_MAX]
      const reply = (await this.run(arn, SWEEP, args)) as [number, Buffer, ItemReply[]] | null
      if (reply === null) return removed
      removed += reply[0]
      await this.#move(arn, String(reply[1]), reply[2].map(readItem))
      if (reply[0] === 0 && reply[2].length === 0) return removed
    }
  }

  /** null where there is no such queue, 0 where it makes no deduplication ids from bodies. */
  async #store(
    arn: string,
    items: StoredItem[],
    { whenFull, byBody = false }: { whenFull: boolean; byBody?: boolean },
  ): Promise<SendReply | 0 | null> {
    const args = [whenFull ? '1' : '', byBody ? '1' : '', ...items.flatMap(itemValues)]
    const base = shardBase(shardOf(arn))
    const reply = (await runScript(this.acks.redis, SEND, [base], [arn, ...args])) as SendReply | 0 | null
    // Moves continue with the replicas there are: no caller waits for them, and the source still has the message.
    if (reply) await this.acks.confirm(base, whenFull ? false : undefined)
    return reply
  }

  /** Adds to `messages`; `again` where the turn looked at messages that could not be returned. */
  async #receiveOnce(
    arn: string,
    request: ReceiveRequest,
    messages: QueueMessage[],
    round: number,
  ): Promise<ReceiveRound> {
    const wanted = request.maxMessages - messages.length
    const secrets = newSecrets(wanted)
    const fifo = isFifoName(arn)
    const timeout = request.visibilityTimeoutSeconds
    const timeoutMs = timeout === undefined ? '' : Math.round(timeout * 1_000)
    const proofs = secrets.flatMap((secret) =>
      fifo ? [secret, secretDigest(secret)] : [secretDigest(secret)],
    )
    const args = [wanted, timeoutMs, this.inFlightMax, Buffer.concat(proofs)]
    const consumer = request.consumer === undefined ? '' : JSON.stringify(request.consumer)
    const reply = (await (fifo
      ? this.run(arn, RECEIVE_IN_ORDER, [...args, request.attemptId ?? '', round === 1 ? '1' : '', consumer])
      : this.run(arn, RECEIVE, [...args, consumer]))) as ReceiveReply | 0 | null
    if (reply === null) throw queueMissing()
    if (reply === 0) throw new AttemptChangedError()
    const [uid, nextInMs, target, received, moves, full, why] = reply
    for (const [i, item] of received.entries()) {
      put(messages, withHandle(item, String(uid), secrets[i]))
    }
    await this.#move(arn, String(target), moves.map(readItem))
    const again = moves.length > 0 || (messages.length === 0 && nextInMs === 0)
    const refused = why === undefined ? undefined : (String(why) as ReceiveRefusal)
    return { nextInMs, again, overLimit: full === 1, refused }
  }

  async #move(arn: string, target: string, moves: ReadItem[]): Promise<void> {
    if (moves.length === 0) return
    let moved = target !== ''
    for (const chunk of chunksOf(moves.map((item) => movedItem(item, arn)))) {
      moved = moved && (await this.#store(target, chunk, { whenFull: true })) !== null
    }
    const begun = moves.flatMap(({ message }) => [message.messageId, message.receiveCount])
    await this.run(arn, SETTLE_MOVES, [moved ? 'forget' : 'return', ...begun])
  }
}

/** One with a visibility timeout of 0 may come in two rounds: its newest handle counts. */
function put(messages: QueueMessage[], message: QueueMessage): void {
  const at = messages.findIndex(({ messageId }) => messageId === message.messageId)
  if (at < 0) messages.push(message)
  else messages[at] = message
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

function newSecrets(count: number): Buffer[] {
  const bytes = randomBytes(count * SECRET_BYTES)
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * SECRET_BYTES, (i + 1) * SECRET_BYTES))
}

/** Its secret is the one that the script answered, else the one that was made for it. */
function withHandle(reply: ItemReply, uid: string, given: Buffer | undefined): QueueMessage {
  const { message } = readItem(reply)
  const secret = reply[SECRET_AT] ?? given
  if (!secret) throw new Error('more messages were received than were asked for')
  return { ...message, receiptHandle: formatHandle(uid, message.messageId, secret) }
}
