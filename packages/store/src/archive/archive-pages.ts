/** Reads archives in the order of keeping: blocks, and behind them what the ring has and no block has yet. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { bodiesIn } from '../kept/kept-jobs.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import {
  type ArchivedMessage,
  type ArchivedTopic,
  BlockError,
  type BlockStore,
  blockName,
  blockOf,
  unpackBlock,
} from './archive-blocks.ts'

const READ = readScript('read-archived-1')

/** Places of a ring that one script reads, which takes Redis about a millisecond. Past it: the next page has them. */
const ARCHIVE_PAGE_PLACES_MAX = 200
/** Bytes of such a page, for the same reason. Past it: the next page has the other places. */
const ARCHIVE_PAGE_BYTES_MAX = 131_072
/** Blocks that one script passes because they are of another time. Past it: the next script looks on. */
const BLOCKS_PASSED_MAX = 1_000
/** Unpacked blocks that a process remembers. Past it: the least recently used one is read again. */
const BLOCKS_REMEMBERED_MAX = 8

export interface ArchiveRange {
  /** The page begins behind this score. */
  after: number
  /** The last score. */
  last: number
  /** Blocks without a message that was published in this time are passed, ms. */
  since?: number | undefined
  until?: number | undefined
}

export interface ArchivePage {
  messages: ArchivedMessage[]
  /** Messages of the ring whose texts are missing. */
  lost: number
  /** The next page begins behind this score. */
  to: number
  /** The range has nothing behind `to`. */
  isEnd: boolean
}

type Reply = null | [kind: Buffer, ...values: Buffer[]]

export class ArchivePages {
  readonly #redis: Redis
  readonly #blocks: Pick<BlockStore, 'get'>
  readonly #unpacked = new LRUCache<string, ArchivedMessage[]>({ max: BLOCKS_REMEMBERED_MAX })

  constructor(redis: Redis, blocks: Pick<BlockStore, 'get'>) {
    this.#redis = redis
    this.#blocks = blocks
  }

  /** The next messages of a range. A page may be empty and still not be the end. Throws a BlockError. */
  async next(topic: ArchivedTopic, range: ArchiveRange): Promise<ArchivePage> {
    for (let missing: string | undefined; ; ) {
      const reply = await this.#read(topic, range)
      if (!reply) return emptyPage(range.after, true)
      const [kind, ...values] = reply
      const [score, entry] = values
      if (String(kind) === 'passed') return emptyPage(Math.min(Number(score), range.last), false)
      if (String(kind) === 'ring')
        return values.length === 0 ? emptyPage(range.after, true) : ringPage(values, range)
      const name = blockName(topic, blockOf(String(entry), Number(score)))
      const messages = await this.#unpack(name)
      if (messages) return pageOf({ messages, lost: 0 }, range, Number(score))
      // A block that was too old may have left the archive after the script. It is then not named again.
      if (name === missing) throw new BlockError(`the archive lacks the block ${name}`)
      missing = name
    }
  }

  /** All messages of a range, and the number of those whose texts are missing. */
  async all(topic: ArchivedTopic, range: ArchiveRange): Promise<Pick<ArchivePage, 'messages' | 'lost'>> {
    const all = { messages: [] as ArchivedMessage[], lost: 0 }
    for (let after = range.after; ; ) {
      const page = await this.next(topic, { ...range, after })
      all.messages.push(...page.messages)
      all.lost += page.lost
      if (page.isEnd) return all
      after = page.to
      // Redis has time for others between the pages.
      await delay(0)
    }
  }

  async #read({ arn, uid }: ArchivedTopic, { after, last, since, until }: ArchiveRange): Promise<Reply> {
    return (await runScript(this.#redis, READ, {
      base: shardBase(shardOf(arn)),
      arn,
      uid,
      after,
      last,
      since: since ?? 0,
      before: until ?? Number.MAX_SAFE_INTEGER,
      blocksMax: BLOCKS_PASSED_MAX,
      placesMax: ARCHIVE_PAGE_PLACES_MAX,
      bytesMax: ARCHIVE_PAGE_BYTES_MAX,
    })) as Reply
  }

  /** undefined: there is no such object. */
  async #unpack(name: string): Promise<ArchivedMessage[] | undefined> {
    const known = this.#unpacked.get(name)
    if (known) return known
    const data = await this.#blocks.get(name)
    if (data === null) return undefined
    const messages = await unpackBlock(data).catch((error: unknown) => {
      throw new BlockError(`the block ${name} of the archive is damaged`, { cause: error })
    })
    this.#unpacked.set(name, messages)
    return messages
  }
}

type Found = Pick<ArchivePage, 'messages' | 'lost'>

function emptyPage(to: number, isEnd: boolean): ArchivePage {
  return { messages: [], lost: 0, to, isEnd }
}

function ringPage(values: Buffer[], range: ArchiveRange): ArchivePage {
  const all = placesOf(values)
  const messages = all.filter(({ body }) => body !== '')
  return pageOf({ messages, lost: all.length - messages.length }, range, Number(values.at(-3)))
}

function pageOf({ messages, lost }: Found, { after, last }: ArchiveRange, end: number): ArchivePage {
  const within = messages.filter(({ score }) => score > after && score <= last)
  return { messages: within, lost, to: Math.min(end, last), isEnd: end >= last }
}

/** Messages of a ring's places. Each place has a score, ids and a body. A job has the score of its last message. */
function placesOf(values: Buffer[]): ArchivedMessage[] {
  const messages: ArchivedMessage[] = []
  for (let i = 0; i + 2 < values.length; i += 3) {
    const [score, ids, body] = values.slice(i, i + 3) as [Buffer, Buffer, Buffer]
    const bodies = ids.length === 0 ? [String(body)] : bodiesIn(body, ids)
    const first = Number(score) - bodies.length + 1
    messages.push(...bodies.map((text, n) => ({ score: first + n, body: text })))
  }
  return messages
}
