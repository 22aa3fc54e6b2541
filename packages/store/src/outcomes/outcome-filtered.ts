/**
 * Makes entries for slices whose filters all rejected a message. A topic of 100,000 subscriptions has 200 slices, and
 * most messages match in only few of them. One entry covers all other slices: it lists runs of slices that have the
 * same bits. If bits have gaps, the runs are short, and the entry grows. The log is limited by its number of entries,
 * so each entry must stay small. An entry that grows too long is split.
 */
import { sliceShard } from '../keys/shards.ts'
import type { DispatchEntry } from './dispatch-entry.ts'

export interface FilteredEntry {
  messageId: string
  /** The 16 bytes of the message id. */
  id: Buffer
  topicArn: string
  topicUid: string
  sizeBytes: number
  /** The runs that `bitRuns` makes. */
  runs: readonly BitRun[]
  /** Numbers of slices within these runs that the entry does not cover, in order. */
  except: readonly number[]
}

/** A number n stands for the first n bits. A text is a bitmap in base64. */
export type BitsText = number | string

/** Numbers of slices, and how many subscriptions each of them had lost. Absent: none. */
export type BitRun = readonly [first: number, last: number, bits: BitsText, departures?: number]

interface FilteredSlice {
  number: number
  bits: BitsText
  departures: number
}
export type FilteredFields = ['f', topicArn: string, sizeBytes: number, topicUid: string, runs: BitRun[]]

/**
 * Text of one entry about slices whose filters rejected a message. Past it: a further entry follows. About the size of
 * an entry of one slice.
 */
const RUNS_CHARS_MAX = 400
const NOTHING = Buffer.alloc(0)

export function bitsText(bitmap: Buffer): BitsText {
  let count = 0
  while (((bitmap[count >> 3] ?? 0) & (1 << (count & 7))) !== 0) count++
  const isPrefix = bitmap.equals(firstBits(count, bitmap.length))
  return isPrefix ? count : bitmap.toString('base64')
}

/** Combines slices of a topic, in the order of their numbers, into runs with the same bits and departures. */
export function bitRuns(slices: Iterable<FilteredSlice>): BitRun[] {
  const runs: [number, number, BitsText, number?][] = []
  for (const { number, bits, departures } of slices) {
    const run = runs.at(-1)
    const isNext = run?.[1] === number - 1 && run[2] === bits && (run[3] ?? 0) === departures
    if (isNext) run[1] = number
    else runs.push(departures === 0 ? [number, number, bits] : [number, number, bits, departures])
  }
  return runs
}

/** The texts of the entry's parts. */
export function filteredTexts({ topicArn, topicUid, sizeBytes, runs, except }: FilteredEntry): string[] {
  const texts: string[] = []
  let part: BitRun[] = []
  let chars = 0
  const end = () => {
    const fields: FilteredFields = ['f', topicArn, sizeBytes, topicUid, part]
    if (part.length > 0) texts.push(JSON.stringify(fields))
    part = []
    chars = 0
  }
  for (const run of except.length > 0 ? without(runs, except) : runs) {
    if (chars > RUNS_CHARS_MAX) end()
    part.push(run)
    chars += 12 + String(run[2]).length + String(run[3] ?? '').length
  }
  end()
  return texts
}

function without(runs: readonly BitRun[], except: readonly number[]): BitRun[] {
  let next = 0
  return runs.flatMap(([first, last, ...bits]) => {
    const parts: BitRun[] = []
    let from = first
    for (; next < except.length && (except[next] as number) <= last; next++) {
      const number = except[next] as number
      if (number < from) continue
      if (number > from) parts.push([from, number - 1, ...bits])
      from = number + 1
    }
    if (from <= last) parts.push([from, last, ...bits])
    return parts
  })
}

/** One entry for each slice. */
export function readFiltered(messageId: string, fields: FilteredFields): DispatchEntry[] {
  const [, topicArn, sizeBytes, uid, runs] = fields
  return runs.flatMap(([first, last, bits, departures]) =>
    Array.from({ length: last - first + 1 }, (_, i) => ({
      messageId,
      topicArn,
      sizeBytes,
      slice: {
        sliceId: `${uid}.${first + i}`,
        shard: sliceShard(topicArn, first + i),
        ...(departures !== undefined && { departures }),
      },
      delivered: NOTHING,
      parked: NOTHING,
      filtered: typeof bits === 'number' ? firstBits(bits) : Buffer.from(bits, 'base64'),
      otherCodes: [],
      failures: [],
    })),
  )
}

function firstBits(count: number, bytes = (count + 7) >> 3): Buffer {
  const bitmap = Buffer.alloc(bytes)
  for (let bit = 0; bit < count; bit++) bitmap[bit >> 3] = (bitmap[bit >> 3] ?? 0) | (1 << (bit & 7))
  return bitmap
}
