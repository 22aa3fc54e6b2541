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
  type Block,
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
    const { after, last } = range
    const reply = await this.#read(topic, range)
    if (!reply) return { messages: [], to: after, isEnd: true }
    const [kind, ...values] = reply
    const [score, entry] = values
    switch (String(kind)) {
      case 'passed':
        return { messages: [], to: Math.min(Number(score), last), isEnd: false }
      case 'block':
        return pageOf(await this.#unpack(topic, blockOf(String(entry), Number(score))), range, Number(score))
      default:
        if (values.length === 0) return { messages: [], to: after, isEnd: true }
        return pageOf(placesOf(values), range, Number(values.at(-3)))
    }
  }

  /** All messages of a range. */
  async all(topic: ArchivedTopic, range: ArchiveRange): Promise<ArchivedMessage[]> {
    const messages: ArchivedMessage[] = []
    for (let after = range.after; ; ) {
      const page = await this.next(topic, { ...range, after })
      messages.push(...page.messages)
      if (page.isEnd) return messages
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

  async #unpack(topic: ArchivedTopic, block: Block): Promise<ArchivedMessage[]> {
    const name = blockName(topic, block)
    const known = this.#unpacked.get(name)
    if (known) return known
    const data = await this.#blocks.get(name)
    if (data === null) throw new BlockError(`the archive lacks the block ${name}`)
    const messages = await unpackBlock(data).catch((error: unknown) => {
      throw new BlockError(`the block ${name} of the archive is damaged`, { cause: error })
    })
    this.#unpacked.set(name, messages)
    return messages
  }
}

function pageOf(found: ArchivedMessage[], { after, last }: ArchiveRange, end: number): ArchivePage {
  const messages = found.filter(({ score }) => score > after && score <= last)
  return { messages, to: Math.min(end, last), isEnd: end >= last }
}

/** Messages of a ring's places. Each place has a score, ids and a body. A job has the score of its last message. */
function placesOf(values: Buffer[]): ArchivedMessage[] {
  const messages: ArchivedMessage[] = []
  for (let i = 0; i + 2 < values.length; i += 3) {
    const [score, ids, body] = values.slice(i, i + 3) as [Buffer, Buffer, Buffer]
    const bodies = ids.length === 0 ? [body] : bodiesIn(body, ids)
    const first = Number(score) - bodies.length + 1
    messages.push(...bodies.map((text, n) => ({ score: first + n, body: String(text) })))
  }
  return messages.filter(({ body }) => body !== '')
}
