/**
 * Copies keys with their lifetimes, and compares each copy with its source. Small keys are copied whole (DUMP,
 * RESTORE). Large keys, and keys in a format that the target does not know, are copied element by element. Safe to
 * repeat, because a copy replaces the target's key.
 */
import type { Redis } from 'ioredis'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { copyElements, type KeyType, type Side, sameElements } from './key-elements.ts'

/**
 * Key that is copied whole. Past it: it is copied element by element. Making and reading a payload blocks both servers.
 */
const WHOLE_BYTES_MAX = 4_194_304
/** @limit memory (`fantail move`) Keys that are copied at the same time. Past it: the others wait. */
const TOGETHER_BYTES_MAX = 16_777_216
/** Bytes of the format's version and the checksum, at the end of a payload. */
const FOOTER_BYTES = 10
/**
 * Difference between the lifetimes of a key and its copy. Past it: the copy counts as wrong. Lifetimes are relative,
 * and it takes time to read and set them.
 */
const TTL_OFF_MS_MAX = 30_000

export interface CopyOptions extends Side {
  wholeBytesMax?: number
}

interface Copied {
  keys: number
  /** Bytes of memory that the copied keys take at the source. */
  bytes: number
  /** Keys that expired at the source before they were copied. */
  expired: number
}

interface Entry {
  key: Buffer
  type: KeyType | 'none'
  bytes: number
  ttlMs: number
}

/** The target's key differs from the source's after the copy. */
class CopyMismatchError extends Error {}

export async function copyKeys(options: CopyOptions, keys: Buffer[]): Promise<Copied> {
  const { from, wholeBytesMax = WHOLE_BYTES_MAX } = options
  const entries = await describe(from, keys)
  const present = entries.filter(({ type, ttlMs }) => type !== 'none' && ttlMs !== 0)
  const small = present.filter(({ bytes }) => bytes <= wholeBytesMax)
  for (const group of grouped(small)) await copyWhole(options, group)
  for (const entry of present) if (entry.bytes > wholeBytesMax) await copyByElements(options, entry)
  return {
    keys: present.length,
    bytes: present.reduce((sum, { bytes }) => sum + bytes, 0),
    expired: keys.length - present.length,
  }
}

/**
 * Keys whose contents, or presence, are not the same on both sides. A key that is about to expire may be missing on one
 * of them, because it may expire between two looks.
 */
export async function differingKeys({ from, to }: Side, keys: Buffer[]): Promise<Buffer[]> {
  const entries = await describe(from, keys)
  const copies = await describe(to, keys)
  const differing: Buffer[] = []
  for (const [i, entry] of entries.entries()) {
    const copy = copies[i] as Entry
    if (await isSame({ from, to }, entry, copy)) continue
    const isEnding = [entry, copy].some(({ ttlMs }) => ttlMs >= 0 && ttlMs < TTL_OFF_MS_MAX)
    if (!isEnding || (await isInBoth({ from, to }, entry.key))) differing.push(entry.key)
  }
  return differing
}

async function isSame(sides: Side, { key, type, ttlMs }: Entry, copy: Entry): Promise<boolean> {
  if (copy.type !== type || (copy.ttlMs === -1) !== (ttlMs === -1)) return false
  return type === 'none' || (await sameElements(sides, key, type))
}

/** Removes those of the target's keys that the source does not have. */
export async function removeKeys({ from, to }: Side, keys: Buffer[]): Promise<void> {
  const asked = batch(from)
  for (const key of keys) asked.exists(key)
  const found = (await replies(asked)) as number[]
  const sent = batch(to)
  for (const [i, key] of keys.entries()) if (found[i] === 0) sent.unlink(key)
  await replies(sent)
}

async function describe(from: Redis, keys: Buffer[]): Promise<Entry[]> {
  const asked = batch(from)
  for (const key of keys) asked.type(key).memory('USAGE', key).pttl(key)
  const found = await replies(asked)
  return keys.map((key, i) => {
    const [type, bytes, ttlMs] = found.slice(3 * i, 3 * i + 3) as [Entry['type'], number | null, number]
    return { key, type: bytes === null ? 'none' : type, bytes: bytes ?? 0, ttlMs }
  })
}

function grouped(entries: Entry[]): Entry[][] {
  const groups: Entry[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const entry of entries) {
    bytes += entry.bytes
    if (bytes > TOGETHER_BYTES_MAX) {
      groups.push([])
      bytes = entry.bytes
    }
    groups.at(-1)?.push(entry)
  }
  return groups
}

async function copyWhole(options: CopyOptions, entries: Entry[]): Promise<void> {
  const { from, to } = options
  const payloads = await dumps(from, entries)
  const sent = batch(to)
  const copied: { entry: Entry; payload: Buffer }[] = []
  for (const [i, entry] of entries.entries()) {
    const payload = payloads[i]
    if (!payload) continue
    copied.push({ entry, payload })
    sent.restore(entry.key, Math.max(0, entry.ttlMs), payload, 'REPLACE')
  }
  const results = (await sent.exec()) ?? []
  const unknown = copied.filter((_, i) => results[i]?.[0] && isUnknownFormat(results[i]?.[0]))
  const failure = results.find(([error]) => error && !isUnknownFormat(error))?.[0]
  if (failure) throw failure
  for (const { entry } of unknown) await copyByElements(options, entry)
  await verify(
    options,
    copied.filter((copy) => !unknown.includes(copy)),
  )
}

/** Compares payloads if both servers store the key in the same form, else contents. */
async function verify(options: CopyOptions, copied: { entry: Entry; payload: Buffer }[]): Promise<void> {
  const there = await dumps(
    options.to,
    copied.map(({ entry }) => entry),
  )
  await verifyTtls(
    options.to,
    copied.map(({ entry }) => entry),
  )
  for (const [i, { entry, payload }] of copied.entries()) {
    const found = there[i]
    if (found && contentOf(found).equals(contentOf(payload))) continue
    await verifyElements(options, entry)
  }
}

async function copyByElements(options: CopyOptions, entry: Entry): Promise<void> {
  const { key, type, ttlMs } = entry
  if (type === 'none') return
  await copyElements(options, key, type)
  if (ttlMs > 0) await options.to.pexpire(key, ttlMs)
  await verifyTtls(options.to, [entry])
  await verifyElements(options, entry)
}

async function verifyElements(options: CopyOptions, { key, type, ttlMs }: Entry): Promise<void> {
  if (type === 'none' || (await sameElements(options, key, type))) return
  // The key may have expired meanwhile, at the source or the target.
  if (ttlMs > 0 && !(await isInBoth(options, key))) return
  throw new CopyMismatchError(`${key.toString('latin1')} differs from the source's`)
}

async function isInBoth({ from, to }: Side, key: Buffer): Promise<boolean> {
  const [there, here] = await Promise.all([from.exists(key), to.exists(key)])
  return there + here === 2
}

async function verifyTtls(to: Redis, entries: Entry[]): Promise<void> {
  const asked = batch(to)
  for (const { key } of entries) asked.pttl(key)
  const found = (await replies(asked)) as number[]
  for (const [i, { key, ttlMs }] of entries.entries()) {
    const ttl = found[i] ?? -2
    const isRight = ttlMs === -1 ? ttl === -1 : ttl === -2 || Math.abs(ttl - ttlMs) < TTL_OFF_MS_MAX
    if (!isRight) throw new CopyMismatchError(`${key.toString('latin1')} lives for ${ttl} ms, not ${ttlMs}`)
  }
}

async function dumps(redis: Redis, entries: Entry[]): Promise<(Buffer | null)[]> {
  const asked = batch(redis)
  for (const { key } of entries) asked.dumpBuffer(key)
  return (await replies(asked)) as (Buffer | null)[]
}

const contentOf = (payload: Buffer) => payload.subarray(0, -FOOTER_BYTES)

function isUnknownFormat(error: Error | null | undefined): boolean {
  return /Bad data format|DUMP payload version/.test(error?.message ?? '')
}
