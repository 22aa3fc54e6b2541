/**
 * Erases the entries of a customer from the outcome log. A stream's elements cannot be changed. So each stream is
 * copied without these entries, under the same ids, and the copy takes its place in one step. If the process dies, the
 * next one begins again. Readers notice nothing, because ids stay as they are.
 */
import type { Redis } from 'ioredis'
import { outcomeLogKey } from '../keys/keys.ts'
import { entriesIn, existingStreams, withoutEntries } from '../outcomes/outcome-bundles.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const SWAP = readScript('swap-log-1')
const COPIED_BUNDLES = 200

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
  if (!(await hasAny(redis, key, isOurs))) return 0
  const copy = `${key}:kept`
  await redis.unlink(copy)
  let erased = 0
  let last = ''
  for (;;) {
    const found = await read(redis, key, last)
    for (const [id, [, told, , bundle]] of found) {
      const kept = withoutEntries(bundle, isOurs)
      erased += entriesIn(bundle).length - entriesIn(kept).length
      last = id.toString()
      await redis.xadd(copy, last, 'n', told, 'p', kept)
    }
    if (found.length === 0 && (await runScript(redis, SWAP, { stream: key, last })) === 1) return erased
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
