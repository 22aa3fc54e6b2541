/**
 * Queues with SQS's semantics for standard queues. A message is
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
 */
import { randomBytes } from 'node:crypto'
import { FantailError, isFifoName, type QueueMessage } from '@fantail/contracts'
import { queueKey, queuesKey } from './keys.ts'
import { decodeCursor, encodeCursor, listNames, type Page } from './pages.ts'
import { QueueDefinitions } from './queue-definitions.ts'
import { AttemptChangedError, OverLimitError, queueMissing } from './queue-errors.ts'
import {
  formatHandle,
  formatSequence,
  type ItemReply,
  itemValues,
  NONCE_AT,
  NONCE_BYTES,
  parseHandle,
  type ReadItem,
  readItem,
  type StoredItem,
} from './queue-items.ts'
import type {
  DeadLetterCounts,
  HandleResult,
  PeekRequest,
  ReceiveRefusal,
  ReceiveRequest,
  ReceiveTurn,
  SendItem,
  SentItem,
  VisibilityChange,
} from './queue-records.ts'
import { chunksOf, movedItem, storedItem } from './queue-sending.ts'
import { readScript } from './scripts.ts'

const SEND = readScript('send-messages-1')
const RECEIVE = readScript('receive-messages-1')
const RECEIVE_IN_ORDER = readScript('receive-in-order-1')
const SETTLE_MOVES = readScript('settle-moves-1')
const ACK = readScript('ack-messages-1')
const CHANGE_VISIBILITY = readScript('change-visibility-1')
const PEEK = readScript('peek-messages-1')
const READ_MESSAGE = readScript('read-message-1')
const REMOVE_MESSAGE = readScript('remove-message-1')
const DEAD_LETTER_COUNTS = readScript('read-dead-letter-counts-1')
const PURGE = readScript('purge-queue-1')
const SWEEP = readScript('sweep-queue-1')

/** A turn goes round again after moves, and where what it looked at was too old. */
const RECEIVE_ROUNDS_MAX = 10
const SCAN_ITEMS_MAX = 1_000
const PEEK_ROUNDS_MAX = 10
const PEEK_BYTES_MAX = 2_097_152
const SWEEP_ITEMS_MAX = 500
const SWEEP_MOVES_MAX = 10
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

export class Queues extends QueueDefinitions {
  /** Removes what was sent before the call, available or not; `not_found`. */
  async purge(arn: string): Promise<number> {
    let before = ''
    for (let removed = 0; ; ) {
      const reply = (await this.run(arn, PURGE, [before, SWEEP_ITEMS_MAX])) as [Buffer, number] | null
      if (reply === null) throw queueMissing()
      before = String(reply[0])
      removed += reply[1]
      if (reply[1] < SWEEP_ITEMS_MAX) return removed
    }
  }

  /** When the queue was last purged, by Redis's clock; null: never, or there is no such queue. */
  async lastPurgedAt(arn: string): Promise<number | null> {
    const at = await this.redis.hget(queueKey(arn), 'purged')
    return at === null ? null : Number(at)
  }

  /**
   * One atomic write per 100 items or 4 MiB; answers in their order; `not_found`. On a FIFO queue also
   * `validation_failed`, where an item has no group, a delay of its own, or no deduplication id that the queue takes.
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

  /** What is visible now, without waiting (QueueWaits waits); `not_found`, OverLimitError, AttemptChangedError. */
  async receive(arn: string, request: ReceiveRequest): Promise<QueueMessage[]> {
    const { messages, overLimit } = await this.receiveTurn(arn, request)
    if (overLimit && messages.length === 0) throw new OverLimitError()
    return messages
  }

  /** As `receive`, with the time of the next message. */
  async receiveTurn(arn: string, request: ReceiveRequest): Promise<ReceiveTurn> {
    const messages: QueueMessage[] = []
    for (let round = 1; ; round++) {
      let once: ReceiveRound
      try {
        once = await this.#receiveOnce(arn, request, messages, round)
      } catch (error) {
        // What has been received is the caller's; a failed move is taken up again when its lease is over.
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

  /**
   * Deletes by handle, in order; `not_found`. A handle whose time is over still deletes; one of an earlier receive does
   * not, and is answered as done all the same, as is one of a message that is gone. On a FIFO queue both are refused while
   * the message is there.
   */
  async ack(arn: string, handles: string[]): Promise<HandleResult[]> {
    return this.#byHandle(handles, async (parts) => {
      const results = (await this.run(arn, ACK, parts)) as number[] | null
      return results?.map((result) => ACK_RESULTS[result] ?? INVALID_HANDLE)
    })
  }

  /** Hides each for its time; in order; `not_found`. */
  async changeVisibility(arn: string, changes: VisibilityChange[]): Promise<HandleResult[]> {
    const handles = changes.map(({ handle }) => handle)
    return this.#byHandle(handles, async (parts, places) => {
      const times = places.map((place) => Math.round((changes[place]?.seconds ?? 0) * 1_000))
      const args = times.flatMap((ms, i) => [ms, ...parts.slice(3 * i, 3 * i + 3)])
      const results = await this.run(arn, CHANGE_VISIBILITY, args)
      return (results as Buffer[] | null)?.map((result) => visibilityResult(String(result)))
    })
  }

  /** In order of retention; changes nothing; `not_found`. */
  async peek(arn: string, request: PeekRequest): Promise<Page<QueueMessage>> {
    let cursor = request.cursor === undefined ? ['', ''] : decodeCursor(request.cursor, 2)
    if (request.cursor !== undefined && !Number.isFinite(Number(cursor[0] || 'none'))) {
      throw FantailError.invalid('cursor', 'is not one that a list answered')
    }
    const { subscription = '', statusCode = '', since = '', until = '' } = request
    const items: QueueMessage[] = []
    let bytes = 0
    for (let round = 0; round < PEEK_ROUNDS_MAX && items.length < request.limit; round++) {
      const filter = [subscription, statusCode, since, until, '']
      const args = [...cursor, request.limit - items.length, SCAN_ITEMS_MAX, ...filter]
      const reply = (await this.run(arn, PEEK, args)) as [Buffer, Buffer, ItemReply[]] | null
      if (reply === null) throw queueMissing()
      const read = reply[2].map(readItem)
      items.push(...read.map((item) => item.message))
      bytes += read.reduce((sum, item) => sum + item.payload.length, 0)
      cursor = [String(reply[0]), String(reply[1])]
      if (cursor[0] === '' || bytes > PEEK_BYTES_MAX) break
    }
    return { items, nextCursor: cursor[0] === '' ? null : encodeCursor(cursor) }
  }

  async message(arn: string, id: string): Promise<QueueMessage | null> {
    const reply = (await this.run(arn, READ_MESSAGE, [id])) as ItemReply | null
    return reply === null ? null : readItem(reply).message
  }

  /** False where there is no such message. */
  async deleteMessage(arn: string, id: string): Promise<boolean> {
    return (await this.run(arn, REMOVE_MESSAGE, [id])) === 1
  }

  /** From counters, whatever the queue holds; `not_found`. */
  async deadLetterCounts(arn: string): Promise<DeadLetterCounts> {
    const reply = (await this.run(arn, DEAD_LETTER_COUNTS)) as Buffer[] | null
    if (reply === null) throw queueMissing()
    const counts: DeadLetterCounts = { byReason: {}, byStatusCode: {}, bySubscription: {} }
    for (let i = 0; i < reply.length; i += 2) {
      const field = String(reply[i])
      const name = field.slice(2)
      const count = Number(reply[i + 1])
      if (field.startsWith('r:')) counts.byReason[name] = count
      else if (field.startsWith('k:')) counts.byStatusCode[name || 'none'] = count
      else counts.bySubscription[name] = count
    }
    return counts
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
    return (await this.run(arn, SEND, args)) as SendReply | 0 | null
  }

  /** Adds to `messages`; `again` where the turn looked at messages that could not be returned. */
  async #receiveOnce(
    arn: string,
    request: ReceiveRequest,
    messages: QueueMessage[],
    round: number,
  ): Promise<ReceiveRound> {
    const wanted = request.maxMessages - messages.length
    const nonces = randomBytes(wanted * NONCE_BYTES)
    const timeout = request.visibilityTimeoutSeconds
    const timeoutMs = timeout === undefined ? '' : Math.round(timeout * 1_000)
    const args = [wanted, timeoutMs, this.inFlightMax, nonces]
    const consumer = request.consumer === undefined ? '' : JSON.stringify(request.consumer)
    const reply = (await (isFifoName(arn)
      ? this.run(arn, RECEIVE_IN_ORDER, [...args, request.attemptId ?? '', round === 1 ? '1' : '', consumer])
      : this.run(arn, RECEIVE, [...args, consumer]))) as ReceiveReply | 0 | null
    if (reply === null) throw queueMissing()
    if (reply === 0) throw new AttemptChangedError()
    const [uid, nextInMs, target, received, moves, full, why] = reply
    for (const [i, item] of received.entries()) {
      const nonce = nonces.subarray(i * NONCE_BYTES, (i + 1) * NONCE_BYTES)
      put(messages, withHandle(item, String(uid), nonce))
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
    const ids = moves.map((item) => item.message.messageId)
    await this.run(arn, SETTLE_MOVES, [moved ? 'forget' : 'return', ...ids])
  }

  /** Keeps what cannot be a handle of ours away from the script; its place in the results stays. */
  async #byHandle(
    handles: string[],
    run: (parts: (string | Buffer)[], places: number[]) => Promise<HandleResult[] | undefined>,
  ): Promise<HandleResult[]> {
    const parsed = handles.map(parseHandle)
    const places = parsed.flatMap((parts, place) => (parts === undefined ? [] : [place]))
    const results = await run(parsed.filter((parts) => parts !== undefined).flat(), places)
    if (results === undefined) throw queueMissing()
    let next = 0
    return parsed.map((parts) => {
      const result = parts === undefined ? undefined : results[next++]
      return result ?? INVALID_HANDLE
    })
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

/** Its nonce is the one that the script answered, else the one that it was given for it. */
function withHandle(reply: ItemReply, uid: string, given: Buffer): QueueMessage {
  const { message } = readItem(reply)
  const nonce = reply[NONCE_AT] ?? given
  return { ...message, receiptHandle: formatHandle(uid, message.messageId, nonce) }
}

const INVALID_HANDLE: HandleResult = { ok: false, error: 'invalid_receipt_handle' }
const EXPIRED_HANDLE: HandleResult = { ok: false, error: 'expired_receipt_handle' }
/** As ack-messages answers. */
const ACK_RESULTS: HandleResult[] = [INVALID_HANDLE, { ok: true }, EXPIRED_HANDLE]

function visibilityResult(result: string): HandleResult {
  switch (result) {
    case 'ok':
      return { ok: true }
    case 'invalid':
      return INVALID_HANDLE
    case 'expired':
      return EXPIRED_HANDLE
    case 'limit':
      return { ok: false, error: 'visibility_limit_exceeded' }
    default:
      return { ok: false, error: 'message_not_available' }
  }
}
