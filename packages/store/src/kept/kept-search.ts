/**
 * Searches the messages that topics keep, the newest first. There is no index: a search reads rings, in pages that take
 * Redis about a millisecond, and ends after a bounded time. The answer says how far it came, and its cursor continues
 * there. Sealed messages are opened for it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { FantailError, type Message } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { keptOrderKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { contentIfReadable } from '../records/message-bodies.ts'
import type { BodySeals } from '../records/sealed-messages.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { NUMBER } from '../scripts/lua-numbers.ts'
import { bodiesOfKept } from './kept-jobs.ts'
import { afterSpan, firstPlace, readPlace, type SearchPlace, spanFrom, writePlace } from './kept-spans.ts'
import { type Ring, ringsOf } from './kept-upkeep.ts'

const SCAN = readScript('scan-kept-1')
const { KEPT_STEPS } = NUMBER

/**
 * Bytes of one page of a ring. Past it: the next page has the other messages. A page of 128 KiB or of 200 messages
 * takes Redis 0.6 to 1 ms. Bodies pass through Lua at 4 ns a byte, and each place takes 4.6 µs.
 */
const SCAN_BYTES_MAX = 131_072
/** Places of one page of a ring, for the same reason. */
const SCAN_PLACES_MAX = 200
/** The pause after a page is as long as the page took, up to this. Redis thus has time for other callers. */
const SCAN_PAUSE_MS_MAX = 5
/** @limit Time of one search by content. Past it: the answer has a cursor to continue. */
export const SEARCH_MS_MAX = 400
/** Rings that a search reads. Past it: `validation_failed`, because the search must choose fewer topics. */
const SEARCHED_RINGS_MAX = 5_000

export interface KeptSearchRequest<Found> {
  /** Whether the topic's messages are searched. */
  isWanted(topicArn: string): boolean
  /** Asked before messages of the topic are read. */
  mayRead(topicArn: string): Promise<boolean>
  /** Gives the find that a message makes. undefined: it does not fit. */
  find(message: Message): Found | undefined
  limit: number
  /** Only messages that were kept at this time or later, epoch ms. */
  since?: number | undefined
  /** Only messages that were kept at this time or earlier, epoch ms. */
  until?: number | undefined
  cursor?: string | undefined
  /** Ends the search early. */
  signal?: AbortSignal | undefined
}

interface KeptSearchResult<Found> {
  /** Newest first within a ring. Over several rings, newest first by spans of time. */
  found: Found[]
  /** Messages that this answer has looked at. */
  scanned: number
  scannedBytes: number
  /** Messages among them that cannot be decoded or opened. */
  unreadable: number
  /** Bytes of all rings that the search reads. */
  keptBytes: number
  /** Everything that was kept at this time or later is searched, epoch ms. null: everything is. */
  scannedTo: number | null
  nextCursor: string | null
}

export class KeptSearch {
  readonly #redis: Redis
  readonly #seals: BodySeals

  constructor(redis: Redis, seals: BodySeals) {
    this.#redis = redis
    this.#seals = seals
  }

  /** Throws `validation_failed` if the cursor is not valid, or if too many topics keep messages. */
  async search<Found>(request: KeptSearchRequest<Found>): Promise<KeptSearchResult<Found>> {
    const { until, since = 0, cursor } = request
    const rings = await this.#rings(request)
    const run = new Run(request, rings, this.#seals)
    const oldest = since * KEPT_STEPS
    let place = cursor === undefined ? firstPlace(until, rings.length) : readPlace(cursor)
    for (;;) {
      const heads = await this.#heads(rings, place.below)
      const newest = heads.reduce((most, head) => Math.max(most, head), -1)
      if (newest < oldest) return run.result(null, null)
      if (place.uid === '') place = spanFrom(place, newest, oldest)
      const { from } = place
      const inSpan = rings.filter((_, i) => (heads[i] ?? -1) >= from)
      const end = await this.#searchSpan(inSpan, place, run)
      // If only one ring has messages in the span, nothing else is left down to its own place.
      if (end) return run.result(end, inSpan.length === 1 ? end.at : end.below)
      place = afterSpan(place, run.spanBytes())
      if (run.isOver()) return run.result(place, place.below)
    }
  }

  async #rings<Found>({ isWanted }: KeptSearchRequest<Found>): Promise<Ring[]> {
    const rings = (await ringsOf(this.#redis)).filter(({ arn }) => isWanted(arn))
    if (rings.length > SEARCHED_RINGS_MAX) {
      const message = `must choose fewer topics: ${rings.length} keep messages, and a search reads ${SEARCHED_RINGS_MAX}`
      throw FantailError.invalid('topicPrefix', message)
    }
    return rings.sort((a, b) => (a.uid < b.uid ? -1 : 1))
  }

  /** The highest score below `below` in each ring. -1: there is none. */
  async #heads(rings: Ring[], below: number): Promise<number[]> {
    if (rings.length === 0) return []
    const pipeline = batch(this.#redis)
    for (const { shard, uid } of rings) {
      const key = keptOrderKey(shardBase(shard), uid)
      pipeline.zrevrangebyscore(key, `(${below}`, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
    }
    const found = (await replies(pipeline)) as string[][]
    return found.map(([, score]) => (score === undefined ? -1 : Number(score)))
  }

  /** Returns the place at which the search has to end. undefined: the span is searched. */
  async #searchSpan<Found>(
    rings: Ring[],
    place: SearchPlace,
    run: Run<Found>,
  ): Promise<SearchPlace | undefined> {
    for (const [n, ring] of rings.entries()) {
      if (ring.uid < place.uid || !(await run.request.mayRead(ring.arn))) continue
      const from = ring.uid === place.uid ? place : { ...place, uid: ring.uid, at: place.below, done: 0 }
      const end = await this.#searchRing(ring, from, run)
      if (end) return end
      const next = rings[n + 1]
      if (next && run.isOver()) return { ...place, uid: next.uid, at: place.below, done: 0 }
    }
    return undefined
  }

  async #searchRing<Found>(ring: Ring, from: SearchPlace, run: Run<Found>): Promise<SearchPlace | undefined> {
    let place = from
    for (;;) {
      const began = performance.now()
      const { entries, hasMore } = await this.#page(ring, place)
      for (const { score, bodies } of entries) {
        const done = run.take(bodies, place.done)
        if (done !== undefined) return { ...place, at: score + 1, done }
        place = { ...place, at: score, done: 0 }
      }
      if (!hasMore) return undefined
      if (run.isOver()) return place
      await delay(Math.min(SCAN_PAUSE_MS_MAX, performance.now() - began))
    }
  }

  async #page({ arn, uid, shard }: Ring, { at: below, from }: SearchPlace): Promise<Page> {
    const bounds = { below, from, placesMax: SCAN_PLACES_MAX, bytesMax: SCAN_BYTES_MAX }
    const reply = await runScript(this.#redis, SCAN, { base: shardBase(shard), arn, uid, ...bounds })
    if (reply === null) return { entries: [], hasMore: false }
    const [more, ...values] = reply as [number, ...Buffer[]]
    const entries = Array.from({ length: values.length / 3 }, (_, n) => {
      const [score, isJob, data] = values.slice(3 * n, 3 * n + 3) as [Buffer, Buffer, Buffer]
      return { score: Number(score), bodies: bodiesIn(data, isJob.length > 0) }
    })
    return { entries, hasMore: more === 1 }
  }
}

interface Page {
  entries: { score: number; bodies: Body[] }[]
  hasMore: boolean
}

type Body = Buffer | string

/** Bodies of a place of a ring, the newest first. None: they are gone. */
function bodiesIn(data: Buffer, isJob: boolean): Body[] {
  if (isJob) return bodiesOfKept(data).reverse()
  return data.length > 0 ? [data] : []
}

/** The state of one call. */
class Run<Found> {
  readonly request: KeptSearchRequest<Found>
  readonly #seals: BodySeals
  readonly #keptBytes: number
  readonly #found: Found[] = []
  readonly #endsAt = performance.now() + SEARCH_MS_MAX
  #scanned = 0
  #bytes = 0
  #bytesBefore = 0
  #unreadable = 0

  constructor(request: KeptSearchRequest<Found>, rings: Ring[], seals: BodySeals) {
    this.request = request
    this.#seals = seals
    this.#keptBytes = rings.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /**
   * Looks at the bodies of a place, without the first `done`. If the answer is full, it returns how many are done.
   * Undefined: all are.
   */
  take(bodies: Body[], done: number): number | undefined {
    for (const [n, body] of bodies.entries()) {
      if (n < done) continue
      if (this.#found.length === this.request.limit) return n
      this.#look(body)
    }
    return undefined
  }

  #look(body: Body): void {
    this.#scanned++
    this.#bytes += body.length
    const message = contentIfReadable(body, this.#seals)
    if (!message) {
      this.#unreadable++
      return
    }
    const found = this.request.find(message)
    if (found !== undefined) this.#found.push(found)
  }

  isOver(): boolean {
    return performance.now() >= this.#endsAt || this.request.signal?.aborted === true
  }

  /** The bytes that were looked at since the last call. */
  spanBytes(): number {
    const bytes = this.#bytes - this.#bytesBefore
    this.#bytesBefore = this.#bytes
    return bytes
  }

  /** `score`: everything from it on is searched. null: everything is. */
  result(end: SearchPlace | null, score: number | null): KeptSearchResult<Found> {
    return {
      found: this.#found,
      scanned: this.#scanned,
      scannedBytes: this.#bytes,
      unreadable: this.#unreadable,
      keptBytes: this.#keptBytes,
      scannedTo: score === null ? null : Math.floor(score / KEPT_STEPS),
      nextCursor: end && writePlace(end),
    }
  }
}
