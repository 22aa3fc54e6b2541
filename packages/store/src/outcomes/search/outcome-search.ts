/**
 * Searches the outcome log backwards, from the newest entry. Each call reads a limited part of the log and returns how
 * far it has read. A further call continues there. The log has no index, so it may take several calls to find a rare
 * state far back.
 */
import { formatMessageId } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { outcomeLogKey } from '../../keys/keys.ts'
import { badCursor, decodeCursor, encodeCursor } from '../../redis/pages.ts'
import { entriesIn, existingStreams } from '../outcome-bundles.ts'
import { readEntry } from '../outcome-entries.ts'
import { type FoundEntry, type FoundMessage, FoundMessages } from './found-messages.ts'
import { isNewer, LogReader, type StoredBundle } from './log-reader.ts'
import { matchEntry, type SearchFilter } from './match-entry.ts'

export interface SearchRequest extends SearchFilter {
  /** Messages in the answer. */
  limit: number
  /** Only entries that were stored at this time or later, epoch ms. */
  since?: number | undefined
  /** Only entries that were stored at this time or earlier, epoch ms. */
  until?: number | undefined
  cursor?: string | undefined
  /** Whether the caller may see messages of this topic. null: the topic is unknown. */
  isVisible: (topicArn: string | null) => boolean
}

interface SearchResult {
  /** In the order of their newest entries, newest first. A message may be on several bundles. */
  messages: FoundMessage[]
  /** The oldest time that was read, epoch ms. null: the log has no entries there. */
  scannedTo: number | null
  /** null: the search has read the whole log. */
  nextCursor: string | null
}

/** Bundles of the outcome log that one search reads. Past it: the answer has a cursor to continue. */
const SEARCHED_BUNDLES_MAX = 250
/** Subscriptions whose topics one search looks up. Past it: the answer has a cursor to continue. */
const SEARCHED_TOPICS_MAX = 1_000

/** The place of a bundle, and how many of its entries are done, from its end. */
interface Position {
  at: number
  sequence: number
  stream: number
  done: number
}

type FindTopic = (subscriptionId: string) => Promise<string | null>

export class OutcomeSearch {
  readonly #redis: Redis
  readonly #findTopic: FindTopic

  /** `findTopic` finds the topic of a subscription, also of a deleted one. */
  constructor(redis: Redis, findTopic: FindTopic) {
    this.#redis = redis
    this.#findTopic = findTopic
  }

  /** Throws `validation_failed` if the cursor is not valid. */
  async find(request: SearchRequest): Promise<SearchResult> {
    const from = request.cursor === undefined ? undefined : readPosition(request.cursor)
    const readers = await this.#readers(request, from)
    const search = new Search(request, this.#findTopic)
    let scannedTo: number | null = null
    for (let bundles = 0; ; bundles++) {
      const bundle = await newestHead(readers)
      if (!bundle) return { messages: search.found.list(), scannedTo, nextCursor: null }
      const start = from && isAt(bundle, from) ? from.done : 0
      const done = bundles < SEARCHED_BUNDLES_MAX ? await search.take(bundle, start) : start
      if (done !== undefined) {
        const nextCursor = writePosition({ ...bundle, done })
        return { messages: search.found.list(), scannedTo: scannedTo ?? bundle.at, nextCursor }
      }
      scannedTo = bundle.at
      readers.get(bundle.stream)?.pass()
    }
  }

  async #readers(
    { since, until }: SearchRequest,
    from: Position | undefined,
  ): Promise<Map<number, LogReader>> {
    const streams = await existingStreams(this.#redis)
    const oldest = since === undefined ? '-' : String(since)
    const newest = until === undefined ? '+' : String(until)
    return new Map(
      streams.map((stream) => {
        const range = { key: outcomeLogKey(stream), stream, oldest }
        return [stream, new LogReader(this.#redis, { ...range, newest: from ? idIn(stream, from) : newest })]
      }),
    )
  }
}

/** The state of one call. */
class Search {
  readonly found: FoundMessages
  readonly #request: SearchRequest
  readonly #findTopic: FindTopic
  readonly #topics = new Map<string, Promise<string | null>>()

  constructor(request: SearchRequest, findTopic: FindTopic) {
    this.found = new FoundMessages(request.limit)
    this.#request = request
    this.#findTopic = findTopic
  }

  /**
   * Adds the matching entries of a bundle, newest first. The first `done` entries are skipped. If the call has to end
   * within the bundle, it returns how many entries are done. Undefined: all are done.
   */
  async take({ entries, at }: StoredBundle, done: number): Promise<number | undefined> {
    const all = entriesIn(entries).reverse()
    for (let number = done; number < all.length; number++) {
      const { id, text } = all[number] as (typeof all)[number]
      const read = { dispatch: [], lanes: [] }
      readEntry({ messageId: formatMessageId(id), text }, read)
      for (const entry of matchEntry(read, this.#request, at)) {
        const topicArn = await this.#topicOf(entry)
        if (topicArn === undefined) return number
        if (this.#fits(topicArn) && !this.found.add({ ...entry, topicArn })) return number
      }
    }
    return undefined
  }

  #fits(arn: string | null): boolean {
    const { topicArn, isVisible } = this.#request
    return (topicArn === undefined || topicArn === arn) && isVisible(arn)
  }

  /** undefined: too many subscriptions were looked up. */
  async #topicOf({ topicArn, end }: FoundEntry): Promise<string | null | undefined> {
    const id = end?.subscriptionId ?? null
    if (topicArn !== null || id === null) return topicArn
    const known = this.#topics.get(id)
    if (known) return known
    if (this.#topics.size === SEARCHED_TOPICS_MAX) return undefined
    const topic = this.#findTopic(id)
    this.#topics.set(id, topic)
    return topic
  }
}

async function newestHead(readers: Map<number, LogReader>): Promise<StoredBundle | undefined> {
  const heads = await Promise.all([...readers.values()].map((reader) => reader.head()))
  return heads.reduce(
    (best, head) => (!best || (head && isNewer(head, best)) ? (head ?? best) : best),
    undefined,
  )
}

function isAt(bundle: StoredBundle, { at, sequence, stream }: Position): boolean {
  return bundle.at === at && bundle.sequence === sequence && bundle.stream === stream
}

/**
 * The id from which a stream continues. Among bundles with the same id, the bundle of the stream with the higher number
 * comes first.
 */
function idIn(stream: number, { at, sequence, stream: last }: Position): string {
  return `${stream > last ? '(' : ''}${at}-${sequence}`
}

function writePosition({ at, sequence, stream, done }: Position): string {
  return encodeCursor([at, sequence, stream, done].map(String))
}

function readPosition(cursor: string): Position {
  const numbers = decodeCursor(cursor, 4).map(Number)
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) throw badCursor()
  const [at = 0, sequence = 0, stream = 0, done = 0] = numbers
  return { at, sequence, stream, done }
}
