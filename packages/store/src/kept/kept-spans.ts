/**
 * Where a search of kept messages is. It goes back span by span: it reads all that the rings have of one span of time,
 * then what is older. Spans become longer while they have little. Reading message by message in the order of all rings
 * would take a script for each message.
 */
import { badCursor, decodeCursor, encodeCursor } from '../redis/pages.ts'
import { NUMBER } from '../scripts/lua-numbers.ts'

const { KEPT_STEPS } = NUMBER

/** The first span of a search over several rings. */
const SPAN_MS_FIRST = 60_000
/** Shortest span. Past it: a span with very many bytes is not divided further. */
const SPAN_MS_MIN = 1_000
/** Longer than any ring keeps messages. */
const SPAN_MS_ALL = 1_000_000_000_000
/** Bytes in a span. Below the first: the next span is longer. Above the second: it is shorter. */
const SPAN_BYTES_FEW = 1_048_576
const SPAN_BYTES_MANY = 8_388_608

/** All but `spanMs`, `uid` and `done` are scores of rings. */
export interface SearchPlace {
  /** Everything from this score on is searched in all rings. */
  below: number
  /** The end of the present span. */
  from: number
  spanMs: number
  /** Rings are searched in the order of their uids, and this one now. '': none yet in this span. */
  uid: string
  /** In this ring everything from this score on is searched. */
  at: number
  /** So many messages of the place below `at` are searched too. */
  done: number
}

/** `until`: epoch ms. */
export function firstPlace(until: number | undefined, rings: number): SearchPlace {
  const below = until === undefined ? Number.MAX_SAFE_INTEGER : (until + 1) * KEPT_STEPS
  return { below, from: 0, spanMs: rings === 1 ? SPAN_MS_ALL : SPAN_MS_FIRST, uid: '', at: below, done: 0 }
}

/** The span that ends with the newest message. It does not reach below `oldest`. */
export function spanFrom({ spanMs }: SearchPlace, newest: number, oldest: number): SearchPlace {
  const below = newest + 1
  const from = Math.max(oldest, below - spanMs * KEPT_STEPS, 0)
  return { below, from, spanMs, uid: '', at: below, done: 0 }
}

/** The place after a span that had so many bytes. */
export function afterSpan({ from, spanMs, ...place }: SearchPlace, bytes: number): SearchPlace {
  return { ...place, below: from, from, spanMs: nextSpanMs(spanMs, bytes), uid: '' }
}

function nextSpanMs(spanMs: number, bytes: number): number {
  if (bytes < SPAN_BYTES_FEW) return Math.min(SPAN_MS_ALL, 4 * spanMs)
  return bytes > SPAN_BYTES_MANY ? Math.max(SPAN_MS_MIN, Math.ceil(spanMs / 2)) : spanMs
}

export function writePlace({ below, from, spanMs, uid, at, done }: SearchPlace): string {
  return encodeCursor([uid, ...[below, from, spanMs, at, done].map(String)])
}

/** Throws `validation_failed` if the cursor is not one that a search answered. */
export function readPlace(cursor: string): SearchPlace {
  const [uid = '', ...texts] = decodeCursor(cursor, 6)
  const numbers = texts.map(Number)
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) throw badCursor()
  const [below = 0, from = 0, spanMs = 0, at = 0, done = 0] = numbers
  return { below, from, spanMs, uid, at, done }
}
