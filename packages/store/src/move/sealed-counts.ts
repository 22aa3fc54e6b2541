/**
 * Counts the sealed texts of messages, by the master key that has sealed them. They are in hashes and lists of many
 * kinds, so all of these are read. A text that moves meanwhile may be missed, or counted twice.
 */
import type { Redis } from 'ioredis'
import { mastersOf } from '../redis/connections/cluster.ts'
import { elementsOf } from './key-elements.ts'
import { keysOf } from './waiting-work.ts'

/** The members of messages, items of queues and recorded answers that have a sealed text. */
const SEALED = /"(?:sealed|z)":"([A-Za-z0-9+/]{8})/g
/** Keys that are read at the same time. */
const KEYS_AT_ONCE = 100

/** `keyIdOf`: the id of the key that has sealed a text which begins so. Undefined: it is no sealed text. */
export async function countSealedTexts(
  redis: Redis,
  keyIdOf: (start: string) => string | undefined,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const count = async (master: Redis, key: Buffer) => {
    for await (const start of sealedIn(master, key)) {
      const id = keyIdOf(start)
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  }
  for (const master of mastersOf(redis)) {
    for await (const keys of keysOf(master)) {
      for (let at = 0; at < keys.length; at += KEYS_AT_ONCE)
        await Promise.all(keys.slice(at, at + KEYS_AT_ONCE).map((key) => count(master, key)))
    }
  }
  return counts
}

async function* sealedIn(master: Redis, key: Buffer): AsyncGenerator<string> {
  const type = await master.type(key)
  if (type !== 'hash' && type !== 'list') return
  for await (const chunk of elementsOf(master, key, type)) {
    for (const part of chunk.flat())
      for (const [, start = ''] of part.toString('latin1').matchAll(SEALED)) yield start
  }
}
