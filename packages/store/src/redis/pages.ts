/** Pages of a list: opaque cursors, and names of all shards merged in order. */
import { FantailError } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { batch } from './batch.ts'
import { isUnreadable, type OnUnreadable } from './unreadable.ts'

export interface Page<T> {
  items: T[]
  /** Opaque; null at the end of the list. A page may be short, or even empty, and still have a next cursor. */
  nextCursor: string | null
}

/** A cursor that contains `parts`. decodeCursor returns them. */
export function encodeCursor(parts: string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** The `count` parts of a cursor. Throws `validation_failed` at path `cursor` for any other text. */
export function decodeCursor(cursor: string, count: number): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parts) && parts.length === count && parts.every((part) => typeof part === 'string')) {
      return parts
    }
  } catch {
    // The cursor is not JSON, so it is refused below like any other invalid cursor.
  }
  throw badCursor()
}

export function badCursor(): FantailError {
  return FantailError.invalid('cursor', 'is not one that this list answered')
}

/** Reads all pages of a list, for a sweep. */
export async function readToEnd(read: (cursor?: string) => Promise<Page<unknown>>): Promise<void> {
  for (let cursor: string | undefined; ; ) {
    const { nextCursor } = await read(cursor)
    if (nextCursor === null) return
    cursor = nextCursor
  }
}

/** All items of a list, page by page. `more`: what the next page needs besides the query. */
export async function* allItems<T>(list: (more: { cursor?: string }) => Promise<Page<T>>): AsyncGenerator<T> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list(cursor === undefined ? {} : { cursor })
    yield* page.items
    cursor = page.nextCursor
  }
}

interface NamesRequest {
  /** The shard's sorted set, with all scores 0. */
  key: (base: string) => string
  prefix: string
  /** Names after this one; '' from the start. */
  after: string
  limit: number
  /** Called for a shard whose names cannot be read. The names of the other shards are listed. */
  onUnreadable?: OnUnreadable
}

/**
 * The first `limit` names of all shards in byte order. A page's bounds are names and not positions. A name that stays
 * is therefore on exactly one page, even if other names are added or removed meanwhile.
 */
export async function listNames(redis: Redis, request: NamesRequest): Promise<string[]> {
  const { key, prefix, limit, onUnreadable } = request
  // Shards fill evenly, so a small share of each is usually enough. If not, the loop asks again.
  const perShard = Math.max(8, Math.ceil(limit / 12))
  const names: string[] = []
  let after = request.after
  for (;;) {
    const min = after !== '' && after >= prefix ? `(${after}` : prefix === '' ? '-' : `[${prefix}`
    const max = prefix === '' ? '+' : `[${prefix}\xff`
    const pipeline = batch(redis)
    for (let shard = 0; shard < SHARD_COUNT; shard++) {
      pipeline.zrangebylex(key(shardBase(shard)), min, max, 'LIMIT', 0, perShard)
    }
    const keyOf = (shard: number) => key(shardBase(shard))
    const found = ((await readableReplies(pipeline, { keyOf, onUnreadable })) as string[][]).map(
      (part = []) => part,
    )
    // A shard whose list was cut off may have more names after its last one. Only names up to the smallest of these
    // last names are certain.
    const cutOff = found.filter((part) => part.length === perShard).map((part) => part.at(-1) ?? '')
    const certain = cutOff.sort(compareText)[0]
    const merged = found.flat().filter((name) => certain === undefined || name <= certain)
    names.push(...merged.sort(compareText))
    if (names.length >= limit || certain === undefined) return names.slice(0, limit)
    after = certain
  }
}

/** Compares ASCII names in the order of Redis. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

interface Pipeline {
  exec(): Promise<[Error | null, unknown][] | null>
}

/**
 * A pipeline's replies. undefined: the data of this key cannot be read, and was reported. Throws the first other error
 * among them. Without `onUnreadable` nobody is told: the sweep of indexes reports unreadable ones.
 */
export async function readableReplies(
  pipeline: Pipeline,
  { keyOf, onUnreadable }: { keyOf(index: number): string; onUnreadable?: OnUnreadable | undefined },
): Promise<unknown[]> {
  const results = (await pipeline.exec()) ?? []
  return results.map(([error, reply], index) => {
    if (error === null) return reply
    if (!isUnreadable(error)) throw error
    onUnreadable?.(error, keyOf(index))
    return undefined
  })
}

/** A pipeline's replies; throws the first error among them. */
export async function replies(pipeline: Pipeline): Promise<unknown[]> {
  const results = (await pipeline.exec()) ?? []
  return results.map(([error, reply]) => {
    if (error) throw error
    return reply
  })
}
