/**
 * The archives of topics. An archive has every message that its topic accepts, for up to a year, in blocks outside of
 * Redis. The topic's ring is its tail: it loses a message only when a block has it.
 *
 * kept in the ring ──open──▶ chosen for a block ──put──▶ stored ──index──▶ in the index, and free to leave the ring
 *
 * Each step may be repeated, by any process. The choice is noted in Redis, and the ring does not change between its two
 * scores. A block that is written again therefore has the same messages and the same name. One script adds it to the
 * index, so a message is always in the ring or in the index.
 *
 * A block leaves the index before its object is deleted. Its name stays in a list until then.
 */
import type { Redis } from 'ioredis'
import { archiveKey, archivesKey, removedBlocksKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { sideBySide } from '../redis/side-by-side.ts'
import {
  type ArchivedTopic,
  type BlockStore,
  blockName,
  blockOf,
  entryOf,
  packBlock,
  publishedWithin,
} from './archive-blocks.ts'
import { ArchivePages } from './archive-pages.ts'

const OPEN = readScript('open-block-1')
const INDEX = readScript('index-block-1')
const DROP = readScript('drop-blocks-1')

/** Bytes of the messages of one block, before compression. Past it: the next block has the others. */
const BLOCK_BYTES_MAX = 1_048_576
/** Places of a ring for one block. Past it: the next block has the others. */
const BLOCK_PLACES_MAX = 1_000
/** How long messages wait for a full block. After it: the block is written as it is. */
const BLOCK_AGE_MS = 10_000
/**
 * Bytes below which a block waits longer while Redis has memory. A quiet topic would else fill Redis with its list of
 * blocks.
 */
const SMALL_BLOCK_BYTES = 262_144
/** How long such messages wait. After it: the block is written as it is. */
const SMALL_BLOCK_AGE_MS = 600_000
/** Blocks of one topic that one script takes out of the archive. Past it: the next script takes the others. */
const DROPPED_BLOCKS_MAX = 1_000
/** Objects of a topic that are deleted at a time. Past it: the others follow. */
const REMOVED_AT_ONCE = 16
/** Time for which a sweep deletes blocks of a topic. After it: the next sweep continues. */
const SWEEP_MS_MAX = 10_000

export interface ArchiveFigures {
  /** When the archive began, ms. */
  since: number
  /** Messages and compressed bytes in blocks. */
  messages: number
  bytes: number
  /** Messages that were lost because memory was short or their texts were missing. */
  dropped: number
}

interface ArchivesOptions {
  /** Called with the number of messages that a block lacks because the ring has no texts of them. */
  onLost?: (topic: ArchivedTopic, messages: number) => void
}

export class Archives {
  readonly #redis: Redis
  readonly #blocks: BlockStore
  readonly #pages: ArchivePages
  readonly #onLost: ArchivesOptions['onLost']

  constructor(redis: Redis, blocks: BlockStore, { onLost }: ArchivesOptions = {}) {
    this.#redis = redis
    this.#blocks = blocks
    this.#onLost = onLost
    this.#pages = new ArchivePages(redis, blocks)
  }

  /**
   * Writes the next block, if there is enough for one. Returns its number of messages, 0 if there is none. `isCalm`:
   * Redis has memory for messages that wait longer.
   */
  async writeBlock(
    topic: ArchivedTopic,
    { ageMs = BLOCK_AGE_MS, isCalm = false }: { ageMs?: number; isCalm?: boolean } = {},
  ): Promise<number> {
    const place = { base: shardBase(shardOf(topic.arn)), ...topic }
    const chosen = await runScript(this.#redis, OPEN, {
      ...place,
      placesMax: BLOCK_PLACES_MAX,
      bytesMax: BLOCK_BYTES_MAX,
      ageMs,
      smallBytes: SMALL_BLOCK_BYTES,
      smallAgeMs: isCalm ? SMALL_BLOCK_AGE_MS : ageMs,
    })
    if (chosen === null) return 0
    const [from = 0, to = 0] = (chosen as Buffer[]).map(Number)
    const { messages, lost } = await this.#pages.all(topic, { after: from, last: to })
    const data = await packBlock(messages)
    const block = { from, messages: messages.length, bytes: data.length, ...publishedWithin(messages) }
    const name = blockName(topic, { from, to })
    await this.#blocks.put(name, data)
    const counted = { messages: block.messages, bytes: block.bytes, lost }
    const args = { ...place, from: String(from), to: String(to), entry: entryOf(block), ...counted }
    const sealed = await runScript(this.#redis, INDEX, args)
    if (sealed === -1) await this.#blocks.remove(name)
    if (sealed !== 1) return 0
    if (lost > 0) this.#onLost?.(topic, lost)
    return messages.length
  }

  /**
   * Deletes blocks that are too old or exceed the bytes of the archive, and all of an ended archive. Returns how many.
   * Rejects at the end if a block could not be deleted. The next sweep tries it again.
   */
  async sweep(topic: ArchivedTopic): Promise<number> {
    const base = shardBase(shardOf(topic.arn))
    const args = { base, ...topic, blocksMax: DROPPED_BLOCKS_MAX }
    const until = performance.now() + SWEEP_MS_MAX
    for (let deleted = 0; ; ) {
      const found = (await runScript(this.#redis, DROP, args)) as Buffer[]
      if (found.length === 0) return deleted
      deleted += await this.#remove(topic, found)
      if (performance.now() > until) return deleted
    }
  }

  /** Deletes objects, and then their names. `found`: entries and scores. Rejects at the end if one has failed. */
  async #remove(topic: ArchivedTopic, found: Buffer[]): Promise<number> {
    const entries = found.flatMap((entry, i) =>
      i % 2 === 0 ? [[String(entry), Number(found[i + 1])] as const] : [],
    )
    const problems: unknown[] = []
    await sideBySide(entries, REMOVED_AT_ONCE, async ([entry, score]) => {
      try {
        await this.#blocks.remove(blockName(topic, blockOf(entry, score)))
        await this.#redis.zrem(removedBlocksKey(shardBase(shardOf(topic.arn)), topic.uid), entry)
      } catch (problem) {
        problems.push(problem)
      }
    })
    if (problems.length > 0) throw problems[0]
    return entries.length
  }
}

/** All archives, also ended ones that still have blocks. In one round trip. */
export async function archivedTopics(redis: Redis): Promise<ArchivedTopic[]> {
  const pipeline = batch(redis)
  for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.smembers(archivesKey(shardBase(shard)))
  const names = ((await replies(pipeline)) as string[][]).flat()
  return names.map((name) => {
    const [uid = '', arn = ''] = name.split(' ')
    return { uid, arn }
  })
}

/** null: the topic has no archive. */
export async function archiveFigures(
  redis: Redis,
  { arn, uid }: ArchivedTopic,
): Promise<ArchiveFigures | null> {
  const key = archiveKey(shardBase(shardOf(arn)), uid)
  const [since, messages, bytes, dropped] = await redis.hmget(key, 's', 'm', 'b', 'x')
  if (!since) return null
  const counts = { messages: Number(messages ?? 0), bytes: Number(bytes ?? 0), dropped: Number(dropped ?? 0) }
  return { since: Number(since), ...counts }
}
