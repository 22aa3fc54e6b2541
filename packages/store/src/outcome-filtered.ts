/**
 * Slices of a topic in which every subscription's filter kept a message back. A topic of 100,000 subscriptions has 200
 * slices, and most messages are for few of them: one entry tells of all the others, as runs of slices whose slots are the
 * same. Where slots have holes the runs are short, and a text that grows too long is split, so that an entry stays small
 * whatever the topic: the log is bounded by their number.
 */
import type { DispatchEntry } from './outcome-entries.ts'
import type { SliceRef } from './plans.ts'
import { sliceShard } from './shards.ts'

export interface FilteredEntry {
  messageId: string
  /** Its 16 bytes. */
  id: Buffer
  topicArn: string
  sizeBytes: number
  /** Of one topic, in the order of its slices; `slots` by slotsText. */
  slices: (Pick<SliceRef, 'sliceId'> & { slots: SlotsText })[]
}

/** The first so many slots; or a bitmap of them, in base64. */
export type SlotsText = number | string

type Run = [first: number, last: number, slots: SlotsText]
export type FilteredFields = ['f', topicArn: string, sizeBytes: number, topicUid: string, runs: Run[]]

/** About what an entry of one slice takes. */
const RUNS_CHARS_MAX = 400
const NOTHING = Buffer.alloc(0)

export function slotsText(bitmap: Buffer): SlotsText {
  let count = 0
  while (((bitmap[count >> 3] ?? 0) & (1 << (count & 7))) !== 0) count++
  const isPrefix = bitmap.equals(firstSlots(count, bitmap.length))
  return isPrefix ? count : bitmap.toString('base64')
}

/** The texts of the entry's parts. */
export function filteredTexts({ topicArn, sizeBytes, slices }: FilteredEntry): string[] {
  const texts: string[] = []
  let runs: Run[] = []
  let chars = 0
  let uid = ''
  const end = () => {
    const fields: FilteredFields = ['f', topicArn, sizeBytes, uid, runs]
    if (runs.length > 0) texts.push(JSON.stringify(fields))
    runs = []
    chars = 0
  }
  for (const { sliceId, slots } of slices) {
    const dot = sliceId.lastIndexOf('.')
    const number = Number(sliceId.slice(dot + 1))
    uid = sliceId.slice(0, dot)
    const run = runs.at(-1)
    if (run && run[1] === number - 1 && run[2] === slots) {
      run[1] = number
      continue
    }
    if (chars > RUNS_CHARS_MAX) end()
    runs.push([number, number, slots])
    chars += 12 + String(slots).length
  }
  end()
  return texts
}

/** An entry of its own for each slice. */
export function readFiltered(messageId: string, fields: FilteredFields): DispatchEntry[] {
  const [, topicArn, sizeBytes, uid, runs] = fields
  return runs.flatMap(([first, last, slots]) =>
    Array.from({ length: last - first + 1 }, (_, i) => ({
      messageId,
      topicArn,
      sizeBytes,
      slice: { sliceId: `${uid}.${first + i}`, shard: sliceShard(topicArn, first + i) },
      delivered: NOTHING,
      parked: NOTHING,
      filtered: typeof slots === 'number' ? firstSlots(slots) : Buffer.from(slots, 'base64'),
      failures: [],
    })),
  )
}

function firstSlots(count: number, bytes = (count + 7) >> 3): Buffer {
  const bitmap = Buffer.alloc(bytes)
  for (let slot = 0; slot < count; slot++) bitmap[slot >> 3] = (bitmap[slot >> 3] ?? 0) | (1 << (slot & 7))
  return bitmap
}
