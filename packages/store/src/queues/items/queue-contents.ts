/** Reads and removes messages of a queue without receiving them. */
import { FantailError, type QueueMessage, type RedriveFilter } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { queueAgesKey, queueKey } from '../../keys/keys.ts'
import type { BodySeals } from '../../records/sealed-messages.ts'
import { decodeCursor, encodeCursor, type Page } from '../../redis/pages.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { queueMissing } from './queue-errors.ts'
import { type ItemReply, lookAtItem, readItems } from './queue-items.ts'
import { atQueue, type DeadLetterCounts, type PeekRequest } from './queue-records.ts'
import { filterJson } from './redrive-counts.ts'

const PEEK = readScript('peek-messages-1')
const READ_MESSAGE = readScript('read-message-1')
const REMOVE_MESSAGE = readScript('remove-message-1')
const DEAD_LETTER_COUNTS = readScript('read-dead-letter-counts-1')
const PURGE = readScript('purge-queue-1')
const PURGE_LETTERS = readScript('purge-dead-letters-1')

/** Messages that one script looks at for a listing. Past it: a further round follows. */
const PEEK_SCAN_ITEMS_MAX = 1_000
/** Rounds of one listing. Past it: the page is short and has a cursor. */
const PEEK_ROUNDS_MAX = 10
/**
 * Bodies of one listing. Past it: the page is short and has a cursor. Reading and writing 4 MiB kept the event loop of
 * the API busy for 57 ms.
 */
const PEEK_BYTES_MAX = 1_048_576
/** Messages that one script purges. Past it: a further script follows. */
const PURGE_ITEMS_MAX = 500

export class QueueContents {
  readonly #redis: Redis
  readonly #seals: BodySeals | undefined

  constructor(redis: Redis, seals: BodySeals | undefined) {
    this.#redis = redis
    this.#seals = seals
  }

  /**
   * Messages in order of retention, without those that cannot be decoded. Changes nothing. Throws `not_found`.
   */
  async peek(arn: string, request: PeekRequest): Promise<Page<QueueMessage>> {
    let { fromScore, fromId } = readQueueCursor(request.cursor)
    const filter = { filterJson: filterJson(request) }
    const items: QueueMessage[] = []
    let bytes = 0
    for (let round = 0; round < PEEK_ROUNDS_MAX && items.length < request.limit; round++) {
      const bounds = { limit: request.limit - items.length, lookedAtMax: PEEK_SCAN_ITEMS_MAX }
      const args = { ...atQueue(arn), fromScore, fromId, ...bounds, ...filter }
      const reply = (await runScript(this.#redis, PEEK, args)) as [Buffer, Buffer, ItemReply[]] | null
      if (reply === null) throw queueMissing()
      const { items: read } = readItems(reply[2], this.#seals)
      items.push(...read.map((item) => item.message))
      bytes += read.reduce((sum, item) => sum + item.payload.length, 0)
      fromScore = String(reply[0])
      fromId = String(reply[1])
      if (fromScore === '' || bytes >= PEEK_BYTES_MAX) break
    }
    return { items, nextCursor: fromScore === '' ? null : encodeCursor([fromScore, fromId]) }
  }

  async message(arn: string, id: string): Promise<QueueMessage | null> {
    const reply = (await runScript(this.#redis, READ_MESSAGE, { ...atQueue(arn), id })) as ItemReply | null
    return reply === null ? null : lookAtItem(reply, this.#seals).message
  }

  /** Whether the queue has each of these messages, in any state. */
  async has(arn: string, ids: string[]): Promise<boolean[]> {
    const uid = ids.length > 0 && (await this.#redis.hget(queueKey(arn), 'uid'))
    if (!uid) return ids.map(() => false)
    const ages = await this.#redis.zmscore(queueAgesKey(arn, uid), ids)
    return ages.map((age) => age !== null)
  }

  /** Returns false if there is no such message. */
  async deleteMessage(arn: string, id: string): Promise<boolean> {
    return (await runScript(this.#redis, REMOVE_MESSAGE, { ...atQueue(arn), id })) === 1
  }

  /** Numbers of dead letters, from counters, so a long queue costs no more. Throws `not_found`. */
  async deadLetterCounts(arn: string): Promise<DeadLetterCounts> {
    const reply = (await runScript(this.#redis, DEAD_LETTER_COUNTS, atQueue(arn))) as Buffer[] | null
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

  /** Removes all messages that were sent before the call, in any state. Throws `not_found`. */
  async purge(arn: string): Promise<number> {
    let before = ''
    for (let removed = 0; ; ) {
      const args = { ...atQueue(arn), before, itemsMax: PURGE_ITEMS_MAX }
      const reply = (await runScript(this.#redis, PURGE, args)) as [Buffer, number] | null
      if (reply === null) throw queueMissing()
      before = String(reply[0])
      removed += reply[1]
      if (reply[1] < PURGE_ITEMS_MAX) return removed
    }
  }

  /** Removes the matching dead letters that came before the call. Throws `not_found`. */
  async purgeDeadLetters(arn: string, filter: RedriveFilter): Promise<number> {
    let [newest, fromScore, fromId] = ['', '', '']
    let removed = 0
    do {
      const cursor = { newest, fromScore, fromId, lookedAtMax: PURGE_ITEMS_MAX }
      const args = { ...atQueue(arn), ...cursor, filterJson: filterJson(filter) }
      const reply = (await runScript(this.#redis, PURGE_LETTERS, args)) as
        | [Buffer, Buffer, Buffer, number]
        | null
      if (reply === null) throw queueMissing()
      newest = String(reply[0])
      fromScore = String(reply[1])
      fromId = String(reply[2])
      removed += reply[3]
    } while (fromScore !== '')
    return removed
  }

  /** When the queue was last purged, by Redis's clock. null: never, or there is no such queue. */
  async lastPurgedAt(arn: string): Promise<number | null> {
    const at = await this.#redis.hget(queueKey(arn), 'purged')
    return at === null ? null : Number(at)
  }
}

/** The place after which a list of a queue's messages continues. Throws `validation_failed`. */
export function readQueueCursor(cursor: string | undefined): { fromScore: string; fromId: string } {
  const [fromScore = '', fromId = ''] = cursor === undefined ? [] : decodeCursor(cursor, 2)
  if (cursor !== undefined && !Number.isFinite(Number(fromScore || 'none'))) {
    throw FantailError.invalid('cursor', 'is not one that a list answered')
  }
  return { fromScore, fromId }
}
