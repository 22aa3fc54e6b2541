/**
 * Writes all data of a Redis as text and reads it back. Each key has a line, and the lines are sorted by key. A byte is
 * written as one of the characters U+0000 to U+00FF. Redis's own dump format is not used, because an older Redis cannot
 * load it.
 */
import type { Redis } from 'ioredis'

/**
 * The contents of a list, set, sorted set or hash. In a sorted set each member is followed by its score, in a hash each
 * field by its value.
 */
type Values = string[]
type Entry = [id: string, fields: string[]]
type Stored = [key: string, ttlMs: number | null, type: string, values: Values | Entry[]]

const textOf = (bytes: Buffer | string) => (Buffer.isBuffer(bytes) ? bytes.toString('latin1') : bytes)
const bytesOf = (text: string) => Buffer.from(text, 'latin1')

export async function dumpLines(redis: Redis): Promise<string[]> {
  const keys = (await redis.keysBuffer('*')).map(textOf).toSorted()
  const lines: string[] = []
  for (const key of keys) lines.push(JSON.stringify(await read(redis, key)))
  return lines
}

async function read(redis: Redis, key: string): Promise<Stored> {
  const name = bytesOf(key)
  const [type, ttl] = await Promise.all([redis.type(name), redis.pttl(name)])
  return [key, ttl < 0 ? null : ttl, type, await valuesOf(redis, name, type)]
}

async function valuesOf(redis: Redis, name: Buffer, type: string): Promise<Values | Entry[]> {
  switch (type) {
    case 'string':
      return [textOf((await redis.getBuffer(name)) ?? '')]
    case 'list':
      return (await redis.lrangeBuffer(name, 0, -1)).map(textOf)
    case 'set':
      return (await scan(redis, 'SSCAN', name)).toSorted()
    case 'hash':
      return inOrder(await scan(redis, 'HSCAN', name))
    case 'zset':
      return inOrder(await scan(redis, 'ZSCAN', name))
    case 'stream':
      return (await redis.xrangeBuffer(name, '-', '+')).map(([id, fields]) => [
        textOf(id),
        fields.map(textOf),
      ])
    default:
      throw new Error(`a key of type ${type} cannot be stored: ${textOf(name)}`)
  }
}

/** Their replies are lists of bytes in both protocols, those of HGETALL and ZRANGE are not. */
async function scan(redis: Redis, command: 'SSCAN' | 'HSCAN' | 'ZSCAN', name: Buffer): Promise<Values> {
  const values: Values = []
  let cursor = '0'
  do {
    const [next, page] = (await redis.callBuffer(command, name, cursor)) as [Buffer, Buffer[]]
    values.push(...page.map(textOf))
    cursor = textOf(next)
  } while (cursor !== '0')
  return values
}

/** Pairs of a member and what follows it, by member. */
function inOrder(values: Values): Values {
  const pairs = values.flatMap((member, i) => (i % 2 === 0 ? [[member, values[i + 1] ?? '']] : []))
  return pairs.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)).flat()
}

export async function loadLines(redis: Redis, lines: string[]): Promise<void> {
  for (const line of lines) await write(redis, JSON.parse(line) as Stored)
}

async function write(redis: Redis, [key, ttlMs, type, values]: Stored): Promise<void> {
  const name = bytesOf(key)
  if (type === 'stream') {
    for (const [id, fields] of values as Entry[]) await redis.call('XADD', name, id, ...fields.map(bytesOf))
  } else {
    await redis.call(COMMANDS[type] ?? type, name, ...wordsOf(type, values as Values))
  }
  if (ttlMs !== null) await redis.pexpire(name, ttlMs)
}

const COMMANDS: Record<string, string> = {
  string: 'SET',
  hash: 'HSET',
  list: 'RPUSH',
  set: 'SADD',
  zset: 'ZADD',
}

function wordsOf(type: string, values: Values): Buffer[] {
  const words = values.map(bytesOf)
  if (type !== 'zset') return words
  return words.flatMap((word, i) => (i % 2 === 0 ? [words[i + 1] ?? word, word] : []))
}
