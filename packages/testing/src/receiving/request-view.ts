/** The requests of a receiver, or of one of its paths. */
import { type WaitOptions, waitUntil } from '../waiting/wait-until.ts'
import type { RecordedRequest } from './recorded-request.ts'

export interface RequestLog {
  readonly requests: readonly RecordedRequest[]
  /** Further text for the errors of waits, and their timeout. */
  readonly explain: () => Promise<string>
  readonly timeoutMs: number | undefined
}

export abstract class RequestView {
  /** Where the requests go. */
  abstract readonly url: string
  readonly #log: RequestLog

  constructor(log: RequestLog) {
    this.#log = log
  }

  /** The requests so far, oldest first. */
  get requests(): RecordedRequest[] {
    return this.#log.requests.filter((request) => this.isOwn(request))
  }

  /** Resolves with all requests when there are at least `count`. */
  async waitForRequests(
    count: number,
    { timeoutMs = this.#log.timeoutMs }: WaitOptions = {},
  ): Promise<RecordedRequest[]> {
    if (!Number.isSafeInteger(count) || count < 1)
      throw new TypeError(`count must be 1 or more, not ${count}`)
    const what = () => `${count} requests to ${this.url}, ${this.requests.length} came`
    return waitUntil(() => (this.requests.length >= count ? this.requests : undefined), {
      what,
      timeoutMs,
      explain: this.#log.explain,
    })
  }

  protected abstract isOwn(request: RecordedRequest): boolean
}
