/**
 * The position of a listener in the outcome log: the last page of each stream that it has read, and perhaps a place
 * within the next page. As a text, the position is the `id:` of live events. It is therefore short and contains no
 * secrets.
 */

interface PageId {
  ms: number
  seq: number
}

export interface StreamPlace extends PageId {
  /** How many entries the stream has had, up to the end of the page. Trimmed entries count too. null: unknown. */
  entries: number | null
}

/**
 * A place within a page: the listener has seen all events up to this one. Events of an entry are in the order of their
 * ranks.
 */
export interface PlaceInPage extends PageId {
  stream: number
  entry: number
  rank: number
}

export interface LogPosition {
  /** The places in the streams, by the number of the stream. */
  streams: readonly StreamPlace[]
  within?: PlaceInPage | undefined
}

/** Characters of a `Last-Event-ID`. Past it: the request is refused. */
const POSITION_CHARS_MAX = 4_096
const PLACE = /^([0-9a-z]{1,10})\.([0-9a-z]{1,10})\.([0-9a-z]{0,11})$/
const WITHIN = /^([0-9a-z]{1,2})\.([0-9a-z]{1,10})\.([0-9a-z]{1,10})\.([0-9a-z]{1,6})\.([0-9a-z]{1,6})$/

export function formatPosition({ streams, within }: LogPosition): string {
  const places = streams.map(({ ms, seq, entries }) => `${packed(ms)}.${packed(seq)}.${packed(entries)}`)
  const text = places.join('_')
  if (!within) return text
  const { stream, ms, seq, entry, rank } = within
  return `${text}~${[stream, ms, seq, entry, rank].map(packed).join('.')}`
}

export function parsePosition(text: string): LogPosition | undefined {
  if (text.length > POSITION_CHARS_MAX) return undefined
  const [places = '', inPage, ...rest] = text.split('~')
  const streams = places.split('_').map(parsePlace)
  const within = inPage === undefined ? undefined : parseWithin(inPage)
  if (rest.length > 0 || (inPage !== undefined && !within)) return undefined
  return streams.every((place) => place !== undefined) ? { streams, within } : undefined
}

function parsePlace(text: string): StreamPlace | undefined {
  const [, ms, seq, entries] = PLACE.exec(text) ?? []
  if (ms === undefined || seq === undefined) return undefined
  return { ms: unpacked(ms), seq: unpacked(seq), entries: entries ? unpacked(entries) : null }
}

function parseWithin(text: string): PlaceInPage | undefined {
  const [, ...parts] = WITHIN.exec(text) ?? []
  const [stream, ms, seq, entry, rank] = parts.map(unpacked)
  if (stream === undefined || ms === undefined || seq === undefined) return undefined
  return entry === undefined || rank === undefined ? undefined : { stream, ms, seq, entry, rank }
}

const packed = (number: number | null) => (number === null ? '' : number.toString(36))
const unpacked = (text: string) => Number.parseInt(text, 36)

/** Negative if `a` is before `b`. */
export function comparePages(a: PageId, b: PageId): number {
  return a.ms - b.ms || a.seq - b.seq
}

/** Whether the event was seen already. */
export function wasSeen({ within }: LogPosition, event: PlaceInPage): boolean {
  if (!within || within.stream !== event.stream || comparePages(within, event) !== 0) return false
  return event.entry - within.entry < 0 || (event.entry === within.entry && event.rank <= within.rank)
}
