/**
 * Counts the sealed texts of messages, by the master key that has sealed them. In Redis they are in hashes and lists of
 * many kinds, so all of these are read. A text that moves meanwhile may be missed, or counted twice.
 */
import type { Redis } from 'ioredis'
import type { BlockStore } from '../archive/archive-blocks.ts'
import { ArchivePages } from '../archive/archive-pages.ts'
import { archivedTopics } from '../archive/archives.ts'
import { mastersOf } from '../redis/connections/cluster.ts'
import { elementsOf } from './key-elements.ts'
import { keysOf } from './waiting-work.ts'

/** The members of messages, items of queues and recorded answers that have a sealed text. */
const SEALED = /"(?:sealed|z)":"([A-Za-z0-9+/]{8})/g
/** Keys that are read at the same time. */
const KEYS_AT_ONCE = 100

/** The id of the key that has sealed a text which begins so. Undefined: it is no sealed text. */
type KeyIdOf = (start: string) => string | undefined

export async function countSealedTexts(redis: Redis, keyIdOf: KeyIdOf): Promise<Map<string, number>> {
  const counts = new SealedCounts(keyIdOf)
  for (const master of mastersOf(redis)) {
    for await (const keys of keysOf(master)) {
      for (let at = 0; at < keys.length; at += KEYS_AT_ONCE)
        await Promise.all(keys.slice(at, at + KEYS_AT_ONCE).map((key) => addKey(master, key, counts)))
    }
  }
  return counts.byKey
}

/** In all archives, with the messages that no block has yet. */
export async function countArchivedTexts(
  redis: Redis,
  blocks: Pick<BlockStore, 'get'>,
  keyIdOf: KeyIdOf,
): Promise<Map<string, number>> {
  const counts = new SealedCounts(keyIdOf)
  const pages = new ArchivePages(redis, blocks)
  for (const topic of await archivedTopics(redis)) {
    for (let after = 0; ; ) {
      const page = await pages.next(topic, { after, last: Number.MAX_SAFE_INTEGER })
      for (const { body } of page.messages) counts.add(body)
      if (page.isEnd) break
      after = page.to
    }
  }
  return counts.byKey
}

class SealedCounts {
  readonly byKey = new Map<string, number>()
  readonly #keyIdOf: KeyIdOf

  constructor(keyIdOf: KeyIdOf) {
    this.#keyIdOf = keyIdOf
  }

  add(text: string): void {
    for (const [, start = ''] of text.matchAll(SEALED)) {
      const id = this.#keyIdOf(start)
      if (id !== undefined) this.byKey.set(id, (this.byKey.get(id) ?? 0) + 1)
    }
  }
}

async function addKey(master: Redis, key: Buffer, counts: SealedCounts): Promise<void> {
  const type = await master.type(key)
  if (type !== 'hash' && type !== 'list') return
  for await (const chunk of elementsOf(master, key, type))
    for (const part of chunk.flat()) counts.add(part.toString('latin1'))
}
