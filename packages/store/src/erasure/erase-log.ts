/**
 * Erases the entries of a customer from the outcome log. A stream's elements cannot be changed. So each stream is
 * copied without these entries, under the same ids, and the copy takes its place in one step. Each run has its own
 * copy. If another run has replaced the log meanwhile, the copy is dropped, because it has what the other run erased.
 * If the process dies, its copy expires, and the next one begins again. Readers notice nothing, because ids stay as
 * they are.
 */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { outcomeLogKey } from '../keys/keys.ts'
import { entriesIn, existingStreams, withoutEntries } from '../outcomes/outcome-bundles.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const SWAP = readScript('swap-log-1')
const COPIED_BUNDLES = 200
/** How long a copy is kept after its last page. */
const COPY_MS = 60_000
/** How long the log remembers which copy took its place: longer than any run lasts. */
const SWAPPED_MS = 86_400_000

/** Topic of a dispatch entry (`d`), or subscription of another one. */
const OWNER = /^\["([dlr])",(?:"([^"]*)"|null)/

export type IsErased = (kind: 'topic' | 'subscription', name: string) => boolean

/** Returns how many entries it has erased. */
export async function eraseFromLog(redis: Redis, isErased: IsErased): Promise<number> {
  let erased = 0
  for (const stream of await existingStreams(redis)) erased += await eraseFromStream(redis, stream, isErased)
  return erased
}

type Bundles = [id: Buffer, fields: [Buffer, Buffer, Buffer, Buffer]][]

async function eraseFromStream(redis: Redis, stream: number, isErased: IsErased): Promise<number> {
  const key = outcomeLogKey(stream)
  const isOurs = (text: string) => {
    const [, tag, name] = OWNER.exec(text) ?? []
    return name !== undefined && isErased(tag === 'd' ? 'topic' : 'subscription', name)
  }
  while (await hasAny(redis, key, isOurs)) {
    const erased = await replace(redis, key, isOurs)
    if (erased !== null) return erased
  }
  return 0
}

/** Returns how many entries it has erased. null: another run has replaced the log meanwhile, so nothing changed. */
async function replace(redis: Redis, key: string, isOurs: (text: string) => boolean): Promise<number | null> {
  const copy = randomUUID()
  const kept = `${key}:kept:${copy}`
  const before = (await redis.get(`${key}:swapped`)) ?? ''
  let [erased, copied, last] = [0, 0, '']
  try {
    for (;;) {
      const found = await read(redis, key, last)
      const adds = batch(redis)
      for (const [id, [, total, , bundle]] of found) {
        const rest = withoutEntries(bundle, isOurs)
        erased += entriesIn(bundle).length - entriesIn(rest).length
        last = id.toString()
        adds.xadd(kept, last, 'n', total, 'p', rest)
      }
      copied += found.length
      await replies(adds.pexpire(kept, COPY_MS))
      if (found.length > 0) continue
      const args = { stream: key, copy, before, last, copied, memoryMs: SWAPPED_MS }
      const outcome = String(await runScript(redis, SWAP, args))
      if (outcome === 'done') return erased
      if (outcome === 'again') return null
    }
  } finally {
    await redis.unlink(kept)
  }
}

async function hasAny(redis: Redis, key: string, isOurs: (text: string) => boolean): Promise<boolean> {
  for (let last = ''; ; ) {
    const found = await read(redis, key, last)
    if (found.length === 0) return false
    if (found.some(([, [, , , bundle]]) => entriesIn(bundle).some(({ text }) => isOurs(text)))) return true
    last = found.at(-1)?.[0].toString() ?? ''
  }
}

/** The bundles after this id; '' from the start. */
async function read(redis: Redis, key: string, last: string): Promise<Bundles> {
  const from = last === '' ? '-' : `(${last}`
  return (await redis.xrangeBuffer(key, from, '+', 'COUNT', COPIED_BUNDLES)) as unknown as Bundles
}
