/** Compares the times at which requests came, by the stack's clock, with the times that a test expects. */
import type { RecordedRequest } from '../receiving/recorded-request.ts'

export interface ExpectedTimes {
  /**
   * When each request came, in seconds of the stack's time since the message of the first request was published. A
   * request without a message id counts from its own time.
   */
  atSeconds?: readonly number[]
  /** By how much a time may differ. Default: 1. */
  toleranceSeconds?: number
}

const ARRIVAL_TOLERANCE_S = 1

/** Seconds since the publication of the first request's message. */
export function secondsOf(requests: readonly RecordedRequest[]): number[] {
  const [first] = requests
  if (!first) return []
  const from = publishedAt(first.messageId) ?? first.time.getTime()
  return requests.map(({ time }) => (time.getTime() - from) / 1_000)
}

export function areInTime(
  requests: readonly RecordedRequest[],
  { atSeconds, toleranceSeconds = ARRIVAL_TOLERANCE_S }: ExpectedTimes,
): boolean {
  if (atSeconds === undefined) return true
  const seconds = secondsOf(requests)
  const isNear = (wanted: number, i: number) =>
    Math.abs((seconds[i] ?? Number.NaN) - wanted) <= toleranceSeconds
  return seconds.length === atSeconds.length && atSeconds.every(isNear)
}

/** The id of a message is a UUIDv7, which begins with the ms of its publication. */
function publishedAt(messageId: string | undefined): number | undefined {
  const ms = Number.parseInt((messageId ?? '').replaceAll('-', '').slice(0, 12), 16)
  return Number.isNaN(ms) ? undefined : ms
}
