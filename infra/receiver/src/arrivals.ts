/** Recent arrivals, and the number of arrivals of each message at each path. */

interface Arrival {
  at: string
  method: string
  /** With its query, which distinguishes subscriptions. */
  path: string
  /** null if the request has none, so it is not from Fantail. */
  messageId: string | null
  /** 1 for the first request with this path and message. */
  attempt: number
  /** null: never answered. */
  status: number | null
  headers: Record<string, string | string[] | undefined>
  body: string
}

const SHOWN_MAX = 100
const COUNTED_MAX = 10_000

export class Arrivals {
  private readonly latest: Arrival[] = []
  /** By path and message. The pair that has not been seen for the longest time comes first. */
  private readonly attempts = new Map<string, number>()

  /** The number of the attempt that this request is. */
  count(path: string, messageId: string | null): number {
    const key = `${path} ${messageId}`
    const attempt = (this.attempts.get(key) ?? 0) + 1
    this.attempts.delete(key)
    this.attempts.set(key, attempt)
    const [oldest] = this.attempts.keys()
    if (this.attempts.size > COUNTED_MAX && oldest !== undefined) this.attempts.delete(oldest)
    return attempt
  }

  add(arrival: Arrival): void {
    this.latest.unshift(arrival)
    this.latest.length = Math.min(this.latest.length, SHOWN_MAX)
  }

  /** Newest first. */
  list(): Arrival[] {
    return this.latest
  }
}
