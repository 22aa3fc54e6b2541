/** Recent arrivals, and how often each message came to each path. */

interface Arrival {
  at: string
  method: string
  /** With its query, which tells subscriptions apart. */
  path: string
  /** null for a request that carries none: not from Fantail. */
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
  /** By path and message, the longest unseen first. */
  private readonly attempts = new Map<string, number>()

  /** The attempt that a request with this path and message is. */
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
