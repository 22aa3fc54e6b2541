/** Reads the outcome log bundle by bundle, from a position on. */
import { formatMessageId } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { outcomeLogKey } from '../keys/keys.ts'
import { entriesIn, lengthOf } from '../outcomes/outcome-bundles.ts'
import { readStreamId } from '../records/stream-ids.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import type { LogPosition, StreamPlace } from './log-position.ts'

/** Bundles of a stream of the outcome log that one read for listeners returns. Past it: the next read has them. */
const FOLLOWED_BUNDLES_MAX = 100

export interface LogBundle {
  stream: number
  place: StreamPlace & { entries: number }
  bytes: Buffer
  /** The entries in them. They are read at each call. */
  entries(): { messageId: string; text: string }[]
  /** Entries between the position and this bundle that the log no longer has. null: their number is not known. */
  missing: number | null
}

type Element = [id: Buffer, fields: Buffer[]]

export class OutcomeReader {
  readonly #redis: Redis
  readonly #queues: number

  /** `queues`: the number of dispatch queues. Each has a stream. */
  constructor(redis: Redis, { queues }: { queues: number }) {
    this.#redis = redis
    this.#queues = queues
  }

  /** The position after the last bundle that the log has now. */
  async newest(): Promise<LogPosition> {
    const looks = batch(this.#redis)
    for (const key of this.#keys()) looks.xrevrangeBuffer(key, '+', '-', 'COUNT', 1)
    const newest = (await replies(looks)) as Element[][]
    return { streams: newest.map(([element]) => (element ? placeOf(element) : NOWHERE)) }
  }

  /**
   * The position before the first entry that was stored at this time or later. `isComplete`: the log still has all
   * entries since this time.
   */
  async since(ms: number): Promise<{ position: LogPosition; isComplete: boolean }> {
    const looks = batch(this.#redis)
    for (const key of this.#keys()) looks.xrangeBuffer(key, '-', '+', 'COUNT', 1)
    const oldest = ((await replies(looks)) as Element[][]).flatMap(([element]) => (element ? [element] : []))
    const place = { ms: Math.max(0, ms - 1), seq: LAST_SEQ, entries: null }
    const isCut = (element: Element) =>
      placeOf(element).ms > ms && placeOf(element).entries > lengthOf(bytesOf(element))
    return { position: { streams: this.#keys().map(() => place) }, isComplete: !oldest.some(isCut) }
  }

  /**
   * Adapts a position to the number of streams. If the position does not have a stream, its earliest time is used for
   * that stream.
   */
  fit({ streams, within }: LogPosition): LogPosition {
    const earliest = Math.min(...streams.map(({ ms }) => ms))
    const places = this.#keys().map((_, n) => streams[n] ?? { ms: earliest, seq: 0, entries: null })
    return { streams: places, within }
  }

  /** The bundles after the position: a list for each stream, in order. `isFull`: there may be more bundles already. */
  async read({ streams }: LogPosition): Promise<{ bundles: LogBundle[]; isFull: boolean }> {
    const looks = batch(this.#redis)
    this.#keys().forEach((key, n) => {
      const { ms, seq } = streams[n] ?? NOWHERE
      looks.xrangeBuffer(key, `(${ms}-${seq}`, '+', 'COUNT', FOLLOWED_BUNDLES_MAX)
    })
    const found = (await replies(looks)) as Element[][]
    const bundles = found.flatMap((elements, n) => bundlesOf(elements, n, streams[n] ?? NOWHERE))
    return { bundles, isFull: found.some(({ length }) => length === FOLLOWED_BUNDLES_MAX) }
  }

  #keys(): string[] {
    return Array.from({ length: this.#queues }, (_, n) => outcomeLogKey(n))
  }
}

/** The place before the first bundle. */
const NOWHERE: StreamPlace = { ms: 0, seq: 0, entries: 0 }
/** Redis numbers the elements of a millisecond. No number gets as high as this. */
const LAST_SEQ = 999_999_999

function placeOf([id, [, entries]]: Element): StreamPlace & { entries: number } {
  const [ms, seq] = readStreamId(id)
  return { ms, seq, entries: Number(entries) || 0 }
}

const bytesOf = ([, [, , , bundle]]: Element): Buffer => bundle ?? Buffer.alloc(0)

function bundlesOf(elements: Element[], stream: number, from: StreamPlace): LogBundle[] {
  let before = from.entries
  return elements.map((element) => {
    const place = placeOf(element)
    const bytes = bytesOf(element)
    const missing = before === null ? null : Math.max(0, place.entries - lengthOf(bytes) - before)
    before = place.entries
    const entries = () => entriesIn(bytes).map(({ id, text }) => ({ messageId: formatMessageId(id), text }))
    return { stream, place, bytes, entries, missing }
  })
}
