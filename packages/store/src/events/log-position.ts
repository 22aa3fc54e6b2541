/**
 * The position of a listener in the outcome log: the last bundle of each stream that it has read, and perhaps a place
 * within the next bundle. As a text, the position is the `id:` of live events. It is therefore short and contains no
 * secrets.
 */

interface BundleId {
  ms: number
  seq: number
}

export interface StreamPlace extends BundleId {
  /** How many entries the stream has had, up to the end of the bundle. Trimmed entries count too. null: unknown. */
  entries: number | null
}

/**
 * A place within a bundle: the listener has seen all events up to this one. Events of an entry are in the order of
 * their ranks.
 */
export interface PlaceInBundle extends BundleId {
  stream: number
  entry: number
  rank: number
}

export interface LogPosition {
  /** The places in the streams, by the number of the stream. */
  streams: readonly StreamPlace[]
  within?: PlaceInBundle | undefined
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
  const [places = '', inBundle, ...rest] = text.split('~')
  const streams = places.split('_').map(parsePlace)
  const within = inBundle === undefined ? undefined : parseWithin(inBundle)
  if (rest.length > 0 || (inBundle !== undefined && !within)) return undefined
  return streams.every((place) => place !== undefined) ? { streams, within } : undefined
}

function parsePlace(text: string): StreamPlace | undefined {
  const [, ms, seq, entries] = PLACE.exec(text) ?? []
  if (ms === undefined || seq === undefined) return undefined
  return { ms: unpacked(ms), seq: unpacked(seq), entries: entries ? unpacked(entries) : null }
}

function parseWithin(text: string): PlaceInBundle | undefined {
  const [, ...parts] = WITHIN.exec(text) ?? []
  const [stream, ms, seq, entry, rank] = parts.map(unpacked)
  if (stream === undefined || ms === undefined || seq === undefined) return undefined
  return entry === undefined || rank === undefined ? undefined : { stream, ms, seq, entry, rank }
}

const packed = (number: number | null) => (number === null ? '' : number.toString(36))
const unpacked = (text: string) => Number.parseInt(text, 36)

/** Negative if `a` is before `b`. */
export function compareBundles(a: BundleId, b: BundleId): number {
  return a.ms - b.ms || a.seq - b.seq
}

/** Whether the event was seen already. */
export function wasSeen({ within }: LogPosition, event: PlaceInBundle): boolean {
  if (!within || within.stream !== event.stream || compareBundles(within, event) !== 0) return false
  return event.entry - within.entry < 0 || (event.entry === within.entry && event.rank <= within.rank)
}
