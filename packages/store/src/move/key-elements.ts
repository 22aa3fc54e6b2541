/**
 * Copies one key element by element. This is needed for a key that is too large to be copied whole. It is also needed
 * if the target does not know the payload's format, or stores the key in another order. Each type can be read in
 * chunks, written and compared.
 */
import type { Redis } from 'ioredis'

const CHUNK = 500

export type KeyType = 'string' | 'hash' | 'set' | 'zset' | 'list' | 'stream'

interface Elements {
  /** Reads the key in chunks. Only `write` and `isThere` know the form of a chunk. */
  chunks(redis: Redis, key: Buffer): AsyncGenerator<Buffer[][]>
  write(redis: Redis, key: Buffer, chunk: Buffer[][]): Promise<unknown>
  /** Whether the key holds every element of the chunk. `at`: the chunk's position, for types with an order. */
  isThere(redis: Redis, key: Buffer, chunk: Buffer[][], at: number): Promise<boolean>
  length(redis: Redis, key: Buffer): Promise<number>
}

type Scan = (cursor: string) => Promise<[Buffer, Buffer[]]>

async function* scanned(scan: Scan, width: number): AsyncGenerator<Buffer[][]> {
  for (let cursor = '0'; ; ) {
    const [next, flat] = await scan(cursor)
    yield Array.from({ length: flat.length / width }, (_, i) => flat.slice(i * width, (i + 1) * width))
    cursor = String(next)
    if (cursor === '0') return
  }
}

/** Scores are compared as numbers, because two servers may write a score differently. */
function scoreOf(text: Buffer | string | number | null | undefined): number {
  return Number(String(text).replace('inf', 'Infinity'))
}

const first = (chunk: Buffer[][]) => chunk.map(([element]) => element as Buffer)
const second = (chunk: Buffer[][]) => chunk.map(([, value]) => value as Buffer)
const same = (found: (Buffer | null)[], expected: Buffer[]) =>
  found.length === expected.length && expected.every((value, i) => found[i]?.equals(value) === true)

async function* rangesOf(redis: Redis, key: Buffer): AsyncGenerator<Buffer[][]> {
  for (let at = 0; ; at += CHUNK) {
    const found = await redis.lrangeBuffer(key, at, at + CHUNK - 1)
    if (found.length > 0) yield found.map((element) => [element])
    if (found.length < CHUNK) return
  }
}

/** Each entry: its id, then its fields and values. */
async function* entriesOf(redis: Redis, key: Buffer): AsyncGenerator<Buffer[][]> {
  for (let from = '-'; ; ) {
    const found = await redis.xrangeBuffer(key, from, '+', 'COUNT', CHUNK)
    if (found.length > 0) yield found.map(([id, fields]) => [id, ...fields])
    if (found.length < CHUNK) return
    from = `(${found.at(-1)?.[0]}`
  }
}

const ELEMENTS: Record<KeyType, Elements> = {
  string: {
    async *chunks(redis, key) {
      const value = await redis.getBuffer(key)
      if (value) yield [[value]]
    },
    write: (redis, key, chunk) => redis.set(key, chunk[0]?.[0] ?? ''),
    isThere: async (redis, key, chunk) => same([await redis.getBuffer(key)], first(chunk)),
    length: (redis, key) => redis.strlen(key),
  },
  hash: {
    chunks: (redis, key) => scanned((cursor) => redis.hscanBuffer(key, cursor, 'COUNT', CHUNK), 2),
    write: (redis, key, chunk) => redis.hset(key, ...chunk.flat()),
    isThere: async (redis, key, chunk) => same(await redis.hmgetBuffer(key, ...first(chunk)), second(chunk)),
    length: (redis, key) => redis.hlen(key),
  },
  set: {
    chunks: (redis, key) => scanned((cursor) => redis.sscanBuffer(key, cursor, 'COUNT', CHUNK), 1),
    write: (redis, key, chunk) => redis.sadd(key, ...chunk.flat()),
    isThere: async (redis, key, chunk) =>
      (await redis.smismember(key, ...chunk.flat())).every((found) => found === 1),
    length: (redis, key) => redis.scard(key),
  },
  zset: {
    chunks: (redis, key) => scanned((cursor) => redis.zscanBuffer(key, cursor, 'COUNT', CHUNK), 2),
    write: (redis, key, chunk) =>
      redis.zadd(key, ...chunk.flatMap(([member, score]) => [score, member] as Buffer[])),
    isThere: async (redis, key, chunk) => {
      const scores = await redis.zmscore(key, ...first(chunk))
      return second(chunk).every((score, i) => scoreOf(scores[i]) === scoreOf(score))
    },
    length: (redis, key) => redis.zcard(key),
  },
  list: {
    chunks: rangesOf,
    write: (redis, key, chunk) => redis.rpush(key, ...chunk.flat()),
    isThere: async (redis, key, chunk, at) =>
      same(await redis.lrangeBuffer(key, at, at + chunk.length - 1), first(chunk)),
    length: (redis, key) => redis.llen(key),
  },
  stream: {
    chunks: entriesOf,
    write: (redis, key, chunk) =>
      Promise.all(chunk.map(([id, ...fields]) => redis.xadd(key, id as Buffer, ...fields))),
    isThere: async (redis, key, chunk) => {
      const [from, to] = [chunk[0]?.[0], chunk.at(-1)?.[0]] as [Buffer, Buffer]
      const found = await redis.xrangeBuffer(key, String(from), String(to))
      return same(
        found.flatMap(([id, fields]) => [id, ...fields]),
        chunk.flat(),
      )
    },
    length: (redis, key) => redis.xlen(key),
  },
}

/** Reads the elements of a key in chunks. */
export function elementsOf(redis: Redis, key: Buffer, type: KeyType): AsyncGenerator<Buffer[][]> {
  return ELEMENTS[type].chunks(redis, key)
}

export interface Side {
  from: Redis
  to: Redis
}

/** Replaces the target's key by the source's, without a lifetime. */
export async function copyElements({ from, to }: Side, key: Buffer, type: KeyType): Promise<void> {
  await to.unlink(key)
  for await (const chunk of ELEMENTS[type].chunks(from, key))
    if (chunk.length > 0) await ELEMENTS[type].write(to, key, chunk)
  if (type === 'stream') await copyLastId({ from, to }, key)
}

export async function sameElements({ from, to }: Side, key: Buffer, type: KeyType): Promise<boolean> {
  const { chunks, isThere, length } = ELEMENTS[type]
  const [expected, found] = await Promise.all([length(from, key), length(to, key)])
  if (expected !== found) return false
  let at = 0
  for await (const chunk of chunks(from, key)) {
    if (chunk.length > 0 && !(await isThere(to, key, chunk, at))) return false
    at += chunk.length
  }
  return true
}

/** The next entry's id must also come after entries that were trimmed. */
async function copyLastId({ from, to }: Side, key: Buffer): Promise<void> {
  const info = (await from.xinfo('STREAM', key)) as unknown[]
  const at = info.findIndex((name) => String(name) === 'last-generated-id')
  await to.call('XSETID', key, String(info[at + 1]))
}
