/**
 * Bundles of the outcome log: many entries in one element of a stream. One element for each entry would cost Redis more
 * than the delivery itself.
 */
import { parseMessageId } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { outcomeLogKey } from '../keys/keys.ts'
import { DISPATCH_QUEUES_MAX } from '../keys/slots.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import type { LaneEntry } from './outcome-entries.ts'

/** Bytes of an entry before its text. */
const HEAD_BYTES = 20
/**
 * A bundle of the outcome log. Past it: a further bundle follows; a larger entry is a bundle of its own. A bundle is as
 * large as a node of a stream is by default.
 */
const BUNDLE_BYTES_MAX = 4_096

/** The stream of a message. All its entries are in one stream. */
export function streamOf(messageId: string, queues: number): number {
  return (idBytes(messageId)[15] ?? 0) % queues
}

const idBytes = (messageId: string): Buffer => parseMessageId(messageId) ?? Buffer.alloc(16)

/** An entry in its form within a bundle: length of its text (4 bytes, big-endian), message id (16), text. */
export function pack(streams: Buffer[][], text: string, messageId: string, id = idBytes(messageId)): void {
  const entry = Buffer.allocUnsafe(HEAD_BYTES + Buffer.byteLength(text))
  entry.writeUInt32BE(entry.length - HEAD_BYTES, 0)
  entry.set(id, 4)
  entry.write(text, HEAD_BYTES)
  streams[(id[15] ?? 0) % streams.length]?.push(entry)
}

interface Bundle {
  /** How many it has. */
  entries: number
  bundle: Buffer
}

/** Combines entries into bundles. */
export function bundlesOf(entries: readonly Buffer[]): Bundle[] {
  const bundles: Bundle[] = []
  let bytes = 0
  let from = 0
  for (let to = 1; to <= entries.length; to++) {
    bytes += entries[to - 1]?.length ?? 0
    if (to < entries.length && bytes + (entries[to]?.length ?? 0) <= BUNDLE_BYTES_MAX) continue
    bundles.push({ entries: to - from, bundle: Buffer.concat(entries.slice(from, to)) })
    from = to
    bytes = 0
  }
  return bundles
}

/** The texts of a message's entries in a bundle. */
export function textsIn(bundle: Buffer, id: Buffer): string[] {
  const texts: string[] = []
  if (!bundle.includes(id)) return texts
  for (let at = 0, end = 0; at < bundle.length; at = end) {
    end = at + HEAD_BYTES + bundle.readUInt32BE(at)
    if (bundle.compare(id, 0, id.length, at + 4, at + HEAD_BYTES) === 0)
      texts.push(bundle.toString('utf8', at + HEAD_BYTES, end))
  }
  return texts
}

/** All entries of a bundle, in the order in which they were stored. */
export function entriesIn(bundle: Buffer): { id: Buffer; text: string }[] {
  const entries: { id: Buffer; text: string }[] = []
  for (let at = 0, end = 0; at < bundle.length; at = end) {
    end = at + HEAD_BYTES + bundle.readUInt32BE(at)
    entries.push({
      id: bundle.subarray(at + 4, at + HEAD_BYTES),
      text: bundle.toString('utf8', at + HEAD_BYTES, end),
    })
  }
  return entries
}

/** The bundle without the entries whose texts are dropped. */
export function withoutEntries(bundle: Buffer, isDropped: (text: string) => boolean): Buffer {
  const kept: Buffer[] = []
  for (let at = 0, end = 0; at < bundle.length; at = end) {
    end = at + HEAD_BYTES + bundle.readUInt32BE(at)
    if (!isDropped(bundle.toString('utf8', at + HEAD_BYTES, end))) kept.push(bundle.subarray(at, end))
  }
  return Buffer.concat(kept)
}

export function lengthOf(bundle: Buffer): number {
  let count = 0
  for (let at = 0; at < bundle.length; at += HEAD_BYTES + bundle.readUInt32BE(at)) count++
  return count
}

/** The beginnings of a bundle's texts, with no other characters than ASCII as they stand. */
export function beginningsIn(bundle: Buffer, charsMax: number): string[] {
  const texts: string[] = []
  for (let at = 0, end = 0; at < bundle.length; at = end) {
    end = at + HEAD_BYTES + bundle.readUInt32BE(at)
    texts.push(bundle.toString('latin1', at + HEAD_BYTES, Math.min(end, at + HEAD_BYTES + charsMax)))
  }
  return texts
}

/**
 * If a dead letter was removed because its queue was full, its delivery has two entries: the end of the delivery, and
 * the removal of its letter. Their order is not fixed, because two workers may write them.
 */
const REMOVED = 'deadLetterQuota'

/**
 * Joins both into one entry. The entry of the removal is used, and the other entry adds the values that it does not
 * have.
 */
export function withRemovedLetters(lanes: LaneEntry[]): LaneEntry[] {
  const removed = lanes.filter(({ reason }) => reason === REMOVED)
  if (removed.length === 0) return lanes
  const removals = new Map(removed.map((entry) => [nameOf(entry), entry]))
  const others = lanes.filter(({ reason }) => reason !== REMOVED)
  const merged = others.map((entry) => {
    const removal = entry.outcome === 'deadLettered' ? removals.get(nameOf(entry)) : undefined
    return removal ? goneOf(entry, removal) : entry
  })
  const known = new Set(others.map(nameOf))
  return [...merged, ...removed.filter((entry) => !known.has(nameOf(entry)))]
}

function goneOf(entry: LaneEntry, { outcome, reason, storedAt }: LaneEntry): LaneEntry {
  return { ...entry, outcome, reason, ...(storedAt !== undefined && { storedAt }) }
}

function nameOf({ subscriptionId, generation }: LaneEntry): string {
  return `${subscriptionId} ${generation}`
}

/** Numbers of all existing streams of the outcome log. FANTAIL_QUEUES may have had another value before. */
export async function existingStreams(redis: Redis): Promise<number[]> {
  const looks = batch(redis)
  for (let number = 0; number < DISPATCH_QUEUES_MAX; number++) looks.exists(outcomeLogKey(number))
  return (await replies(looks)).flatMap((exists, number) => (exists === 1 ? [number] : []))
}
